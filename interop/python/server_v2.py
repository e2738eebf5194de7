"""Partner server on the Python SDK 2.x (tried with 2.3.0), which serves both eras.

Usage: server_v2.py stdio | http PORT | sse PORT

`ask` states its question as a dependency: the SDK turns it into an
`input_required` result for a 2026-07-28 client and into a server-sent
`elicitation/create` for an older one.
"""

import sys
from typing import Annotated

import anyio
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

import partner_offer as offer
from partner_listener import serve_app

server = MCPServer(
    offer.SERVER_NAME,
    version=offer.SERVER_VERSION,
    instructions=offer.INSTRUCTIONS,
    log_level="ERROR",
)


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


@server.tool(structured_output=False)
async def echo(message: str) -> str:
    """Returns the message"""
    return message


@server.tool()
async def add(a: int, b: int) -> Annotated[CallToolResult, Sum]:
    """Adds two integers"""
    return CallToolResult(
        content=[TextContent(type="text", text=str(a + b))],
        structured_content={"sum": a + b},
    )


@server.tool(structured_output=False)
async def count(n: int, ctx: Context) -> str:
    """Reports progress n times"""
    for step in range(1, n + 1):
        await ctx.report_progress(step, n)
    return f"counted {n}"


@server.tool(structured_output=False)
async def slow() -> str:
    """Runs until it is cancelled"""
    try:
        await anyio.sleep(offer.SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        offer.note_cancellation()
        raise
    return "slow was not cancelled"


async def question() -> Elicit[Name]:
    return Elicit(offer.ASK_MESSAGE, Name)


@server.tool(structured_output=False)
async def ask(answer: Annotated[ElicitationResult[Name], Resolve(question)]) -> str:
    """Asks for a name"""
    content = answer.data.model_dump() if answer.action == "accept" else None
    return offer.asked(answer.action, content)


@server.prompt()
async def greet(name: str) -> str:
    """A greeting"""
    return offer.greeting(name)


@server.resource(offer.NOTE_URI, name="one", mime_type="text/plain")
async def note() -> str:
    return offer.NOTE_TEXT


def main() -> None:
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio")
        case ["http", port]:
            anyio.run(serve_app, server.streamable_http_app(), int(port), "/mcp")
        case ["sse", port]:
            anyio.run(serve_app, server.sse_app(), int(port), "/sse")
        case _:
            sys.exit("usage: server_v2.py stdio | http PORT | sse PORT")


if __name__ == "__main__":
    main()
