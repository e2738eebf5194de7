"""Partner client on the Python SDK 2.x (tried with 2.3.0).

Usage: client_v2.py [--no-cancel] [--era legacy|auto|pin] stdio COMMAND [ARGUMENT...] | http URL | sse URL

`auto` (the default) probes with `server/discover` and falls back to
`initialize`; `legacy` sends `initialize` at once; `pin` speaks 2026-07-28
without asking first, so it learns neither the server's name nor instructions.
"""

import anyio
import mcp.types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client

from partner_interview import ANSWERED_NAME, interview, parse_target, run


async def answer_elicitation(context, params):
    return types.ElicitResult(action="accept", content={"name": ANSWERED_NAME})


def server_of(target):
    if target.transport == "stdio":
        return StdioServerParameters(
            command=target.command, args=target.arguments, env=target.environment
        )
    return sse_client(target.url) if target.transport == "sse" else target.url


class Partner:
    def __init__(self, client):
        self.client = client

    def about(self) -> dict:
        info = self.client.server_info
        return {
            "protocolVersion": self.client.protocol_version,
            "serverInfo": info and {"name": info.name, "version": info.version},
            "instructions": self.client.instructions,
        }

    async def tool_names(self) -> list[str]:
        listed = await self.client.list_tools(cache_mode="refresh")
        return [tool.name for tool in listed.tools]

    async def call(self, name, arguments, **options):
        answer = await self.client.call_tool(name, arguments, **options)
        if answer.is_error:
            raise RuntimeError(f"the tool failed: {answer.content}")
        return answer.content[0].text, answer.structured_content

    async def count(self, steps):
        progress = []

        async def on_progress(done, total, message):
            progress.append(done)

        counted, _ = await self.call("count", {"n": steps}, progress_callback=on_progress)
        return counted, progress

    async def cancel_slow(self, after_seconds):
        # Leaving the scope is this SDK's way to cancel; it tells the server.
        with anyio.move_on_after(after_seconds) as scope:
            await self.client.call_tool("slow", {})
        return scope.cancelled_caught

    async def ask(self):
        return (await self.call("ask", {}))[0]

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    async def resource(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text


async def conduct():
    target = parse_target("auto")
    async with Client(
        server_of(target), mode=target.mode, elicitation_callback=answer_elicitation
    ) as client:
        return await interview(Partner(client), target)


if __name__ == "__main__":
    run(conduct)
