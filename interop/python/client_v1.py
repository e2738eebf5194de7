"""Partner client on the Python SDK 1.x (tried with 1.2.1, 1.9.4, 1.12.4 and 1.26.0).

Usage: client_v1.py [--no-cancel] stdio COMMAND [ARGUMENT...] | http URL | sse URL

1.2.1 knows neither streamable HTTP, progress callbacks, cancellation nor
elicitation: progress is then read from the stream of incoming messages and the
rest is reported as unsupported.
"""

import inspect
import sys
from contextlib import asynccontextmanager

import anyio
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client

from partner_interview import ANSWERED_NAME, UNSUPPORTED, interview, parse_target, run

SESSION_OPTIONS = inspect.signature(ClientSession).parameters
HAS_ELICITATION = "elicitation_callback" in SESSION_OPTIONS
HAS_PROGRESS_CALLBACK = "progress_callback" in inspect.signature(ClientSession.call_tool).parameters
HAS_CANCELLATION = hasattr(types, "CancelledNotification")


async def answer_elicitation(context, params):
    return types.ElicitResult(action="accept", content={"name": ANSWERED_NAME})


def open_streams(target):
    if target.transport == "stdio":
        parameters = StdioServerParameters(
            command=target.command, args=target.arguments, env=target.environment
        )
        return stdio_client(parameters)
    if target.transport == "sse":
        return sse_client(target.url)
    try:
        from mcp.client import streamable_http
    except ImportError:
        sys.exit("this SDK version has no streamable HTTP; use `sse` or `stdio`")
    open_http = getattr(streamable_http, "streamable_http_client", None)
    return (open_http or streamable_http.streamablehttp_client)(target.url)


class Partner:
    def __init__(self, session, initialized):
        self.session = session
        self.initialized = initialized
        self.progress_of_token = {}

    def about(self) -> dict:
        info = self.initialized.serverInfo
        return {
            "protocolVersion": self.initialized.protocolVersion,
            "serverInfo": {"name": info.name, "version": info.version},
            "instructions": getattr(self.initialized, "instructions", None),
        }

    async def tool_names(self) -> list[str]:
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments):
        return result_of(await self.session.call_tool(name, arguments))

    async def count(self, steps):
        progress = []
        if HAS_PROGRESS_CALLBACK:

            async def on_progress(done, total, message):
                progress.append(done)

            answer = await self.session.call_tool(
                "count", {"n": steps}, progress_callback=on_progress
            )
        else:
            token = "count"
            self.progress_of_token[token] = progress
            answer = await self.session.send_request(
                types.ClientRequest(
                    types.CallToolRequest(
                        method="tools/call",
                        params=types.CallToolRequestParams(
                            name="count",
                            arguments={"n": steps},
                            _meta=types.RequestParams.Meta(progressToken=token),
                        ),
                    )
                ),
                types.CallToolResult,
            )
        return result_of(answer)[0], progress

    async def cancel_slow(self, after_seconds):
        if not HAS_CANCELLATION:
            return UNSUPPORTED
        ended = anyio.Event()

        async def call_slow():
            await self.session.call_tool("slow", {})
            ended.set()

        async with anyio.create_task_group() as tasks:
            # The SDK names no request of its own; the next one takes this id.
            request_id = self.session._request_id
            tasks.start_soon(call_slow)
            await anyio.sleep(after_seconds)
            if ended.is_set():
                return False
            await self.session.send_notification(
                types.ClientNotification(
                    types.CancelledNotification(
                        method="notifications/cancelled",
                        params=types.CancelledNotificationParams(
                            requestId=request_id, reason="the interview is impatient"
                        ),
                    )
                )
            )
            tasks.cancel_scope.cancel()
        return True

    async def ask(self):
        if not HAS_ELICITATION:
            return UNSUPPORTED
        return (await self.call("ask", {}))[0]

    async def prompt(self, name, arguments):
        return (await self.session.get_prompt(name, arguments)).messages[0].content.text

    async def resource(self, uri):
        return (await self.session.read_resource(uri)).contents[0].text

    async def read_incoming(self):
        """1.2.1 stops reading altogether when nobody takes its incoming messages."""
        async for message in self.session.incoming_messages:
            notification = getattr(message, "root", None)
            if isinstance(notification, types.ProgressNotification):
                steps = self.progress_of_token.get(notification.params.progressToken)
                if steps is not None:
                    steps.append(notification.params.progress)


def result_of(answer):
    if answer.isError:
        raise RuntimeError(f"the tool failed: {answer.content}")
    return answer.content[0].text, getattr(answer, "structuredContent", None)


@asynccontextmanager
async def connected(target):
    options = {"elicitation_callback": answer_elicitation} if HAS_ELICITATION else {}
    async with open_streams(target) as streams:
        async with ClientSession(streams[0], streams[1], **options) as session:
            async with anyio.create_task_group() as tasks:
                partner = Partner(session, await session.initialize())
                if hasattr(session, "incoming_messages"):
                    tasks.start_soon(partner.read_incoming)
                yield partner
                tasks.cancel_scope.cancel()


async def conduct():
    target = parse_target("legacy")
    async with connected(target) as partner:
        return await interview(partner, target)


if __name__ == "__main__":
    run(conduct)
