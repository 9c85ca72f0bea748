"""Routes for browsers to log in with the token, and the one that says that the server is alive."""

from __future__ import annotations

from aiohttp import web

from recrawl.serve.access import COOKIE, LOGIN
from recrawl.serve.answers import answer
from recrawl.serve.service import SERVICE

HOME = "/"  # where a browser goes after the log-in
FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>recrawl: log in</title>
<form method="post" action="/login"><p>{}</p>
<label>Token <input name="token" type="password" autocomplete="current-password" required autofocus></label>
<button>Log in</button></form></html>
"""


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_get("/healthz", alive)
    app.router.add_get(LOGIN, form)
    app.router.add_post(LOGIN, log_in)
    app.router.add_post("/logout", log_out)


async def alive(request: web.Request) -> web.Response:
    """Say that the server is alive."""
    return answer({"alive": True})


async def form(request: web.Request) -> web.Response:
    """Show the form for the token."""
    return web.Response(text=FORM.format("The token is in the crawl's file serve.token."), content_type="text/html")


async def log_in(request: web.Request) -> web.Response:
    """Set the cookie of those who know the token."""
    token = (await request.post()).get("token")
    access = request.app[SERVICE].access
    if not isinstance(token, str) or not access.is_token(token.strip()):
        wrong = FORM.format("That is not the token.")
        return web.Response(text=wrong, content_type="text/html", status=401)
    response = web.Response(status=303, headers={"Location": HOME})
    response.set_cookie(COOKIE, access.session, httponly=True, samesite="Strict", secure=request.secure, path="/")
    return response


async def log_out(request: web.Request) -> web.Response:
    """Forget the cookie."""
    response = web.Response(status=303, headers={"Location": LOGIN})
    response.del_cookie(COOKIE, path="/")
    return response
