"""Other names of a page, and answers that are no copy of it."""

from __future__ import annotations

import pytest

from recrawl.see.canonical_address import trusted_canonical
from recrawl.see.login import is_login_redirect


@pytest.mark.parametrize(
    ("url", "canonical", "trusted"),
    [
        ("http://a.example/p?sort=up", "http://a.example/p", True),
        ("http://www.a.example/p", "https://a.example/p", True),
        ("http://a.example/p/", "http://a.example/p", True),
        ("http://a.example/d/index.html", "http://a.example/d/", True),
        ("http://a.example/p?id=1&x=2", "http://a.example/p?id=1", True),
        ("http://a.example/p?id=1", "http://a.example/p?id=2", False),
        ("http://a.example/p", "http://a.example/", False),
        ("http://a.example/p", "http://b.example/p", False),
        ("http://a.example/p/2", "http://a.example/p/1", False),
        ("https://a.example/p", "http://a.example/p", False),
        ("http://a.example:8080/p", "http://a.example/p", False),
        ("http://a.example/p", "http://a.example/p", False),
        ("http://a.example/p", None, False),
    ],
)
def test_a_canonical_address_is_believed_only_as_another_name(url: str, canonical: str | None, trusted: bool) -> None:
    """Scheme, www, a slash, index.html and dropped parameters are other names; another path or host is another page."""
    assert trusted_canonical(url, canonical) == (canonical if trusted else None)


@pytest.mark.parametrize(
    ("asked", "final", "login"),
    [
        ("http://a.example/news/1", "http://a.example/login?next=/news/1", True),
        ("http://a.example/news/1", "https://a.example/users/sign_in", True),
        ("http://a.example/news/1", "http://a.example/wp-login.php?redirect_to=x", True),
        ("http://a.example/news/1", "https://sso.b.example/start?service=http://a.example/", True),
        ("http://a.example/news/1", "https://b.example/gate?return=%2Fnews%2F1", True),
        ("http://a.example/news/1", "http://a.example/news/1/", False),
        ("http://a.example/news/1", "http://a.example/2026/loginov-wins", False),
        ("http://a.example/news/1", "http://a.example/authors/cassandra", False),
        ("http://a.example/login", "https://a.example/login/", False),
        ("http://a.example/login", "http://a.example/login", False),
    ],
)
def test_a_redirect_to_log_in_is_no_copy_of_the_page(asked: str, final: str, login: bool) -> None:
    """An address to log in at, or one that carries the way back, is not the page that was asked for."""
    assert is_login_redirect(asked, final) == login
