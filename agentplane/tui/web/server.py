"""The web server that shows the screens in a browser on this machine to a person with the token.

Every request is checked before it is answered, including the request for the websocket. The checks cover the
host name, the origin of the page, and the cookie that the first address with the token sets.
"""

import hmac
import secrets
import shlex
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web
from textual_serve.server import Server

from agentplane.errors import PlaneError
from agentplane.system import programs


HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}:{port}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_token() -> str:
    return secrets.token_urlsafe(32)


class PlaneServer(Server):
    """Serves one plane on one socket."""

    def __init__(self, plane: Path, listening: socket.socket, token: str) -> None:
        port = listening.getsockname()[1]
        command = shlex.join(programs.python("agentplane.tui.web.page_process", str(plane)))
        super().__init__(command, host=HOST, port=port, title="agentplane", templates_path=str(_PAGE))
        self.public_url = f"http://{HOST}:{port}"
        self._listening = listening
        self._token = token
        self._cookie = f"agentplane-{port}"
        self._session = secrets.token_urlsafe(32)
        """The value of the cookie. It differs from the token, and each start creates a new one."""

    @property
    def address(self) -> str:
        return f"{self.public_url}/?token={self._token}"

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._checked(request, handler)

        app.middlewares.append(checked)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing, because the command prints the address."""

    def run(self) -> None:
        """Serve until the process is ended."""
        web.run_app(self._make_app(), sock=self._listening, print=lambda *_: None, access_log=None)

    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host != f"{HOST}:{self.port}" or not self._is_same_origin(request):
            return web.Response(
                status=403, text="The request was refused, because its host or origin is wrong.\n"
            )
        token = request.query.get("token")
        if request.path == "/" and token is not None and _same(token, self._token):
            # The token does not stay in the address, because the browser's history would keep it.
            redirect = web.Response(status=303, headers={"Location": "/"})
            redirect.set_cookie(self._cookie, self._session, httponly=True, samesite="Strict", path="/")
            return self._with_headers(redirect)
        if not _same(request.cookies.get(self._cookie, ""), self._session):
            text = "A token is required. Open the address that `agentplane web` printed.\n"
            return self._with_headers(web.Response(status=401, text=text))
        return self._with_headers(await handler(request))

    def _is_same_origin(self, request: web.Request) -> bool:
        """True if a page of this server sent the request. Browsers always send the origin for a websocket."""
        origin = request.headers.get("Origin")
        return origin == self.public_url or (origin is None and request.path != "/ws")

    def _with_headers(self, response: web.StreamResponse) -> web.StreamResponse:
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY.format(host=HOST, port=self.port)
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Cache-Control"] = "no-store"
        return response


def _same(given: str, wanted: str) -> bool:
    """Compare two texts in a time that does not depend on how much of them is equal."""
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Open a socket that only this machine can connect to. Port 0 means any free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server_socket:
        server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server_socket.bind((HOST, port))
            server_socket.listen()
        except OSError as error:
            raise PlaneError(
                (error.strerror or str(error)).lower(),
                where=f"{HOST}:{port}",
                todo="Choose a different port with `--port`.",
            ) from error
        yield server_socket
