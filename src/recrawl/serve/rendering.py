"""Pages for people: Jinja templates, escaped throughout, that load nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from typing import Any

from aiohttp import web

from recrawl.errors import InputError
from recrawl.serve.service import SERVICE
from recrawl.spans import local_of

NAV = (
    ("/", "Overview"),
    ("/hosts", "Hosts"),
    ("/pages", "Pages"),
    ("/plan", "Plan"),
    ("/whatif", "What if"),
    ("/errors", "Errors"),
    ("/signals", "Signals"),
    ("/deliveries", "Deliveries"),
    ("/settings", "Settings"),
)


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise InputError("the dashboard needs jinja2: pip install 'recrawl[serve]'") from None
    made = Environment(
        loader=PackageLoader("recrawl.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["moment"] = moment
    made.filters["with_code"] = with_code
    return made


def render(request: web.Request, name: str, title: str = "", **values: Any) -> web.Response:
    """Return a page made from a template."""
    service = request.app[SERVICE]
    values |= {"title": title, "crawl": service.crawl.directory.path.absolute().name, "csrf": service.access.csrf}
    values |= {"nav": NAV, "here": "/pages" if request.path == "/page" else request.path}
    return web.Response(text=_environment().get_template(name).render(values), content_type="text/html")


def moment(at: float | None) -> str:
    """Write a time (days since 1970) as the terminal does, in the zone of this machine, which is named."""
    return "" if at is None else local_of(at)


def with_code(text: str) -> Any:
    """Return a sentence whose `commands` are marked as code, everything escaped."""
    from markupsafe import Markup, escape

    code = Markup("<code>{}</code>")
    parts = enumerate(text.split("`"))
    return Markup("").join(code.format(part) if i % 2 else escape(part) for i, part in parts)
