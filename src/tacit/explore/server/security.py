"""Access control of the server, and the security headers of every response.

A web page in the user's browser is untrusted. It can send requests to a loopback port, give
a name of its own to 127.0.0.1 (DNS rebinding), put us in a frame, and guess. So:

1. The Host header must be one of ours, with our port. A name that was rebound is not.
2. The address that is opened holds a random token. It is exchanged for a cookie that scripts
   cannot read and that other sites do not send (HttpOnly, SameSite=Strict), and leaves the
   address bar; the cookie is another secret. The printed token holds as long as the server
   runs, so that the address opens a second browser too. The one that is handed to the browser
   on its command line, which other users of the machine can list, opens the page once.
3. Cookies do not know ports: a page of another local server is the same site as we are. So a
   browser that says where a request comes from (Sec-Fetch-Site, Origin) must name our origin.
4. What changes something is a POST with the header X-Tacit, which no form can send and no
   other origin may: there are no CORS headers here, so that preflights fail.
5. Every answer forbids framing, sniffing, caching, referrers, and use by other origins.
"""

import ipaddress
import json
import re
import secrets
import sys
import traceback
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Access", "Guard", "is_loopback", "page_policy", "refusal"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADER = "x-tacit"
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": NOTHING,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>\r\n]*)">')
HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(?::([0-9]{1,5}))?")
SORRY = (
    "<!doctype html><meta charset=utf-8><title>Tacit</title><h1>This page is closed</h1>"
    "<p>Open the address that <code>tacit serve</code> printed in the terminal; it holds the "
    "key. It changes each time the server starts."
)
# A redirect would still count as coming from the other site, and the cookie would not be sent.
ONWARD = (
    '<!doctype html><meta charset=utf-8><meta http-equiv=refresh content="0;url=/">'
    "<title>Tacit</title><a href=/>Open the report</a>"
)


class Access(NamedTuple):
    """The secrets of one run of the server, and where it listens."""

    token: str
    once: str
    session: str
    host: str
    port: int

    @classmethod
    def new(cls, host: str, port: int) -> "Access":
        """New secrets for a server at this place."""
        token, once, session = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(token, once, session, host, port)

    @property
    def cookie(self) -> str:
        """Its name. Cookies do not know ports, and two servers may run."""
        return f"tacit-{self.port}"

    @property
    def address(self) -> str:
        """What to open in any browser, as long as the server runs."""
        wild = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        host = wild.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    @property
    def once_address(self) -> str:
        """What opens the page one time."""
        return self.address.removesuffix(self.token) + self.once

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        >>> here = Access.new("127.0.0.1", 8000)
        >>> here.knows_host("localhost:8000"), here.knows_host("evil.example:8000")
        (True, False)
        """
        name, port = split_host(header)
        if port != self.port:
            return False
        if name in LOOPBACK or name == self.host.lower():
            return True
        # Listening everywhere: any of our addresses will do. An address cannot be rebound.
        return self.host in ("0.0.0.0", "::") and is_address(name)


class Guard:
    """Lets through, or answers itself. Wraps the whole application, errors included."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access
        self.unused = {access.once}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":  # no WebSockets here
            return await send({"type": "websocket.close", "code": 1008})

        begun = False

        async def send_safely(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await (self.authorize(scope) or self.app)(scope, receive, send_safely)
        except ClientDisconnect:
            pass  # nobody is there to answer
        except Exception as error:
            traceback.print_exception(error, file=sys.stderr)
            if not begun:
                answer = refusal(500, "Internal error. The terminal says more.")
                await answer(scope, receive, send_safely)

    def authorize(self, scope: Scope) -> Response | None:
        """The answer to a request that may not pass; None if it may."""
        headers, path = Headers(scope=scope), scope["path"]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.access.knows_host(hosts[0]):
            return refusal(403, "This server answers to its own address only.")
        if path == "/" and scope["method"] in ("GET", "HEAD"):
            return self.authorize_page(scope, headers)
        if not self.has_cookie(headers):
            return refusal(401, "Open the address that tacit serve printed; it holds the key.")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        ours = f"http://{hosts[0]}".lower()
        if (origin is not None and origin.lower() != ours) or site not in (
            None, "same-origin", "none",
        ):  # fmt: skip
            return refusal(403, "Pages of other origins may not ask here.")
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get(HEADER) != "1":
                return refusal(403, "What changes things needs the header X-Tacit: 1.")
            if origin is None and site != "same-origin":
                return refusal(403, "What changes things must name its Origin.")
        return None

    def authorize_page(self, scope: Scope, headers: Headers) -> Response | None:
        """The page: a token is exchanged for a cookie, a cookie opens it, and no other page may
        embed it."""
        keys = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        site = headers.get("sec-fetch-site")
        if keys:
            if len(keys) != 1 or not self.opens(keys[0]):
                return HTMLResponse(SORRY, 401)
            elsewhere = site in ("cross-site", "same-site")
            answer: Response = HTMLResponse(ONWARD) if elsewhere else RedirectResponse("/", 303)
            answer.set_cookie(
                self.access.cookie, self.access.session, httponly=True, samesite="strict"
            )
            return answer
        if not self.has_cookie(headers):
            return HTMLResponse(SORRY, 401)
        if site in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document":
            return refusal(403, "Pages of other origins may not ask here.")
        return None

    def opens(self, key: str) -> bool:
        """Whether this is a key; the one for a single use is used up by it."""
        if any(same(key, once) for once in self.unused):
            self.unused.clear()
            return True
        return same(key, self.access.token)

    def has_cookie(self, headers: Headers) -> bool:
        """Whether a request comes with the cookie that a key was exchanged for."""
        return any(
            same(value, self.access.session)
            for value in cookies(headers.getlist("cookie"), self.access.cookie)
        )


def refusal(status: int, sentence: str) -> Response:
    """An error as every part of the API words it."""
    body = json.dumps({"error": sentence}, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, media_type="application/json")


def page_policy(page: str) -> str:
    """The security policy of a page, as a header: the one it holds, and no framing.

    >>> page_policy("<p>without a policy")
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    """
    match = POLICY.search(page, 0, 2000)  # in the head; further down there are documents
    return f"{match[1].rstrip('; ')}; frame-ancestors 'none'" if match else NOTHING


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if host == "localhost":
        return True
    return is_address(host) and ipaddress.ip_address(host).is_loopback


# --- Small parts ---


def same(value: str, secret: str) -> bool:
    """Compare in constant time."""
    return secrets.compare_digest(value.encode("utf-8", "replace"), secret.encode())


def cookies(lines: Iterable[str], name: str) -> list[str]:
    """Every value a request gives a cookie; ours need no unquoting."""
    parts = [part.strip() for line in lines for part in line.split(";")]
    return [part[len(name) + 1 :] for part in parts if part.startswith(f"{name}=")]


def split_host(header: str) -> tuple[str, int | None]:
    """The name and the port of a Host header; port None where it makes no sense."""
    match = HOST.fullmatch(header)
    if match is None:
        return "", None
    return match[1].strip("[]").lower(), int(match[2]) if match[2] else 80


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
