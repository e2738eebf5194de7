"""Protected server on FastMCP 4 (tried with 4.1.2), with FastMCP's own authorization server.

Usage: fastmcp_login.py PORT [TOKEN_SECONDS]

Clients register themselves and must use PKCE; nobody is asked, so the browser
comes back at once. A token lives for TOKEN_SECONDS (3600) and is renewed with a
refresh token that is good once. A token that is shown after its end takes its
refresh token with it, so a client has to look at the clock.

PARTNER_LOG=FILE: one line for each step that the authorization server completes.
"""

import os
import sys

import anyio
from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

import partner_offer as offer
from partner_listener import bound, serve_on

SCOPE = "partner:use"


def log(line: str) -> None:
    if path := os.environ.get("PARTNER_LOG"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class Provider(in_memory.InMemoryOAuthProvider):
    """FastMCP's provider, which writes down what it does."""

    async def register_client(self, client_info):
        await super().register_client(client_info)
        log("registered")

    async def exchange_authorization_code(self, client, authorization_code):
        token = await super().exchange_authorization_code(client, authorization_code)
        log("granted authorization_code")
        return token

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        token = await super().exchange_refresh_token(client, refresh_token, scopes)
        log("granted refresh_token")
        return token

    async def revoke_token(self, token):
        await super().revoke_token(token)
        log("revoked")


def protected(origin: str) -> FastMCP:
    provider = Provider(
        base_url=origin,
        required_scopes=[SCOPE],
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    server = FastMCP(offer.SERVER_NAME, version=offer.SERVER_VERSION, auth=provider)

    @server.tool(output_schema=None)
    async def echo(message: str) -> str:
        """Returns the message"""
        return message

    return server


def main() -> None:
    match sys.argv[1:]:
        case [port]:
            pass
        case [port, seconds]:
            in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(seconds)
        case _:
            sys.exit("usage: fastmcp_login.py PORT [TOKEN_SECONDS]")
    listener, origin = bound(int(port))
    app = protected(origin).http_app(path="/mcp", transport="http")
    anyio.run(serve_on, app, listener, f"{origin}/mcp")


if __name__ == "__main__":
    main()
