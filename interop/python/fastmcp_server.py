"""Partner server on FastMCP 4 (tried with 4.1.2), which serves both eras.

Usage: fastmcp_server.py stdio | http PORT | sse PORT

FastMCP leaves the choice of how to ask to the tool: `ask` returns an
`input_required` result to a 2026-07-28 client and elicits from an older one.
"""

import sys

import anyio
from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

import partner_offer as offer
from partner_listener import serve_app

server = FastMCP(
    offer.SERVER_NAME, version=offer.SERVER_VERSION, instructions=offer.INSTRUCTIONS
)

QUESTION_KEY = "name"


class Name(BaseModel):
    name: str


SUM_SCHEMA = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
}


@server.tool(output_schema=None)
async def echo(message: str) -> str:
    """Returns the message"""
    return message


@server.tool(output_schema=SUM_SCHEMA)
async def add(a: int, b: int) -> ToolResult:
    """Adds two integers"""
    return ToolResult(content=str(a + b), structured_content={"sum": a + b})


@server.tool(output_schema=None)
async def count(n: int, ctx: Context) -> str:
    """Reports progress n times"""
    for step in range(1, n + 1):
        await ctx.report_progress(step, n)
    return f"counted {n}"


@server.tool(output_schema=None)
async def slow() -> str:
    """Runs until it is cancelled"""
    try:
        await anyio.sleep(offer.SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        offer.note_cancellation()
        raise
    return "slow was not cancelled"


@server.tool(output_schema=None)
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name"""
    if ctx.request_context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        answer = await ctx.elicit(offer.ASK_MESSAGE, Name)
        content = answer.data.model_dump() if answer.action == "accept" else None
        return offer.asked(answer.action, content)
    answer = (ctx.input_responses or {}).get(QUESTION_KEY)
    if isinstance(answer, ElicitResult):
        return offer.asked(answer.action, answer.content)
    question = ElicitRequestFormParams(
        message=offer.ASK_MESSAGE, requested_schema=offer.ASK_SCHEMA
    )
    return InputRequiredResult(input_requests={QUESTION_KEY: ElicitRequest(params=question)})


@server.prompt
async def greet(name: str) -> str:
    """A greeting"""
    return offer.greeting(name)


@server.resource(offer.NOTE_URI, name="one", mime_type="text/plain")
async def note() -> str:
    return offer.NOTE_TEXT


def main() -> None:
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio", show_banner=False, log_level="ERROR")
        case ["http", port]:
            app = server.http_app(path="/mcp", transport="http")
            anyio.run(serve_app, app, int(port), "/mcp")
        case ["sse", port]:
            app = server.http_app(path="/sse", transport="sse")
            anyio.run(serve_app, app, int(port), "/sse")
        case _:
            sys.exit("usage: fastmcp_server.py stdio | http PORT | sse PORT")


if __name__ == "__main__":
    main()
