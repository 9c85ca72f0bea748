"""Log-in pages: where a site redirects visitors without a session. Such an answer is not a copy of the page."""

from __future__ import annotations

import re

from recrawl.urls.url import split

_NAME = re.compile(
    r"(?i)(?:^|[/._-])(?:log-?_?in|log-?_?on|sign-?_?in|signon|wp-login|sso|saml2?|oauth2?|openid|cas|auth|authenticate"
    r"|authorize|authentication|sessions?/new|account/access|anmelden|connexion|acceso)(?:$|[/._-])"
)
_HOST = re.compile(r"(?i)^(?:log-?in|sign-?in|auth|sso|accounts?|idp|id|cas)[0-9]*\.")
_BACK = re.compile(
    r"(?i)(?:^|&)(?:next|return|return_?to|return_?url|redirect|redirect_?to|redirect_?uri|redirect_?url|continue|dest"
    r"|destination|service|goto|target|back|back_?url|from|ref|referer|r|url|came_?from|relaystate)=([^&]+)"
)


def is_login_redirect(asked: str, final: str) -> bool:
    """Whether an answer from `final` to a request for `asked` (both in normal form) is a page to log in at.

    The address says so (`/login`, `/users/sign_in`, `sso.example.org`), or it holds the way back to the page asked for
    beside a host made for it. A page to log in at that was itself asked for is what it is.
    """
    if asked == final:
        return False
    there, here = split(final), split(asked)
    if _NAME.search(here.path) or _HOST.search(here.host):
        return False
    if _NAME.search(there.path):
        return True
    back = _BACK.search(there.query)
    if back is None:
        return False
    return bool(_HOST.search(there.host)) or (len(here.path) > 1 and _holds(back[1], here.path))


def _holds(value: str, path: str) -> bool:
    """Whether the value of a parameter is the path, escaped or not."""
    return path in value or path.replace("/", "%2F") in value
