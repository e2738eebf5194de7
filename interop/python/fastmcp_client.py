"""Partner client on FastMCP 4 (tried with 4.1.2).

Usage: fastmcp_client.py [--no-cancel] [--era legacy|auto|pin] stdio COMMAND [ARGUMENT...] | http URL | sse URL

The eras are those of client_v2.py; FastMCP's default is `auto`, and always
`legacy` over SSE.
"""

import anyio
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

from partner_interview import ANSWERED_NAME, interview, parse_target, run


async def answer_elicitation(message, response_type, params, context):
    return {"name": ANSWERED_NAME}


def transport_of(target):
    match target.transport:
        case "stdio":
            return StdioTransport(
                target.command, target.arguments, env=target.environment, keep_alive=False
            )
        case "sse":
            return SSETransport(target.url)
        case _:
            return StreamableHttpTransport(target.url)


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
        return [tool.name for tool in await self.client.list_tools(cache_mode="refresh")]

    async def call(self, name, arguments, **options):
        answer = await self.client.call_tool_mcp(name, arguments, **options)
        if answer.is_error:
            raise RuntimeError(f"the tool failed: {answer.content}")
        return answer.content[0].text, answer.structured_content

    async def count(self, steps):
        progress = []

        async def on_progress(done, total, message):
            progress.append(done)

        counted, _ = await self.call("count", {"n": steps}, progress_handler=on_progress)
        return counted, progress

    async def cancel_slow(self, after_seconds):
        with anyio.move_on_after(after_seconds) as scope:
            await self.client.call_tool_mcp("slow", {})
        return scope.cancelled_caught

    async def ask(self):
        return (await self.call("ask", {}))[0]

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    async def resource(self, uri):
        return (await self.client.read_resource(uri))[0].text


async def conduct():
    target = parse_target("auto")
    async with Client(
        transport_of(target), mode=target.mode, elicitation_handler=answer_elicitation
    ) as client:
        return await interview(Partner(client), target)


if __name__ == "__main__":
    run(conduct)
