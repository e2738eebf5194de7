"""Owns what every Python partner server needs to listen on loopback.

The socket is bound and listening before the address is announced, so a test
that reads the announcement can connect at once. The servers themselves live in
server_v1.py, server_v2.py, fastmcp_server.py and fastmcp_login.py.
"""

import socket
import sys

import uvicorn

# An open event stream must not keep a server alive that was asked to stop.
GRACEFUL_SHUTDOWN_SECONDS = 1


def bound(port: int) -> tuple[socket.socket, str]:
    """A listening socket on 127.0.0.1, and its origin."""
    # With the protocol named, asyncio turns off Nagle, as it does for its own sockets.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


async def serve_app(app, port: int, path: str) -> None:
    """Serve an ASGI app on 127.0.0.1 and announce its URL as the first line on stderr."""
    listener, origin = bound(port)
    await serve_on(app, listener, origin + path)


async def serve_on(app, listener: socket.socket, url: str) -> None:
    """The same for an app that had to know its origin before."""
    print(f"listening {url}", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        app,
        log_level="error",
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_SECONDS,
    )
    await uvicorn.Server(config).serve(sockets=[listener])
