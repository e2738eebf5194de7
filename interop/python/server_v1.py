"""Partner server on the Python SDK 1.x (tried with 1.2.1, 1.9.4, 1.12.4 and 1.26.0).

Usage: server_v1.py stdio | http PORT | sse PORT

What the installed version lacks is left out: 1.2.1 has no streamable HTTP, no
instructions and no cancellation, and handles one request at a time; 1.2.1 and
1.9.4 have neither structured output nor elicitation.
"""

import inspect
import sys

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server

import partner_offer as offer
from partner_listener import serve_app

HAS_STRUCTURED_OUTPUT = "outputSchema" in types.Tool.model_fields
HAS_ELICITATION = hasattr(types, "ElicitResult")
HAS_INSTRUCTIONS = "instructions" in inspect.signature(Server).parameters

if HAS_INSTRUCTIONS:
    server = Server(offer.SERVER_NAME, offer.SERVER_VERSION, offer.INSTRUCTIONS)
else:
    server = Server(offer.SERVER_NAME, offer.SERVER_VERSION)


def tool(name: str, description: str, properties: dict, **more) -> types.Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.Tool(name=name, description=description, inputSchema=schema, **more)


def text(value: str) -> list[types.TextContent]:
    return [types.TextContent(type="text", text=value)]


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    integer = {"type": "integer"}
    output = {}
    if HAS_STRUCTURED_OUTPUT:
        output["outputSchema"] = {
            "type": "object",
            "properties": {"sum": integer},
            "required": ["sum"],
        }
    tools = [
        tool("echo", "Returns the message", {"message": {"type": "string"}}),
        tool("add", "Adds two integers", {"a": integer, "b": integer}, **output),
        tool("count", "Reports progress n times", {"n": integer}),
        tool("slow", "Runs until it is cancelled", {}),
    ]
    if HAS_ELICITATION:
        tools.append(tool("ask", "Asks for a name", {}))
    return tools


@server.call_tool()
async def call_tool(name: str, arguments: dict | None):
    arguments = arguments or {}
    match name:
        case "echo":
            return text(arguments["message"])
        case "add":
            return add(arguments["a"], arguments["b"])
        case "count":
            return await count(arguments["n"])
        case "slow":
            return await slow()
        case "ask" if HAS_ELICITATION:
            return await ask()
    raise ValueError(f"Unknown tool: {name}")


def add(a: int, b: int):
    content = text(str(a + b))
    return (content, {"sum": a + b}) if HAS_STRUCTURED_OUTPUT else content


async def count(n: int):
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    send_progress = context.session.send_progress_notification
    belongs_to = {}
    can_attach = "related_request_id" in inspect.signature(send_progress).parameters
    if can_attach and not offer.PROGRESS_DETACHED:
        # The transport looks requests up by the text of their id.
        belongs_to["related_request_id"] = str(context.request_id)
    if token is not None:
        for step in range(1, n + 1):
            await send_progress(token, step, total=n, **belongs_to)
    return text(f"counted {n}")


async def slow():
    try:
        await anyio.sleep(offer.SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        offer.note_cancellation()
        raise
    return text("slow was not cancelled")


async def ask():
    context = server.request_context
    answer = await context.session.elicit(
        offer.ASK_MESSAGE, offer.ASK_SCHEMA, related_request_id=context.request_id
    )
    return text(offer.asked(answer.action, answer.content))


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    name = types.PromptArgument(name="name", description="Whom to greet", required=True)
    return [types.Prompt(name="greet", description="A greeting", arguments=[name])]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    if name != "greet":
        raise ValueError(f"Unknown prompt: {name}")
    content = types.TextContent(type="text", text=offer.greeting((arguments or {})["name"]))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    return [types.Resource(uri=offer.NOTE_URI, name="one", mimeType="text/plain")]


@server.read_resource()
async def read_resource(uri):
    if str(uri).rstrip("/") != offer.NOTE_URI:
        raise ValueError(f"Unknown resource: {uri}")
    try:
        from mcp.server.lowlevel.helper_types import ReadResourceContents
    except ImportError:
        return offer.NOTE_TEXT
    return [ReadResourceContents(content=offer.NOTE_TEXT, mime_type="text/plain")]


async def run_session(streams) -> None:
    await server.run(streams[0], streams[1], server.create_initialization_options())


async def serve_stdio() -> None:
    async with stdio_server() as streams:
        await run_session(streams)


async def serve_sse(port: int) -> None:
    transport = SseServerTransport("/messages/")

    async def app(scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(receive, send)
        elif scope["path"] == "/sse" and scope["method"] == "GET":
            async with transport.connect_sse(scope, receive, send) as streams:
                await run_session(streams)
        elif scope["path"].startswith("/messages/") and scope["method"] == "POST":
            await transport.handle_post_message(scope, receive, send)
        else:
            await not_found(send)

    await serve_app(app, port, "/sse")


async def serve_http(port: int) -> None:
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    except ImportError:
        sys.exit("this SDK version has no streamable HTTP; use `sse` or `stdio`")
    manager = StreamableHTTPSessionManager(app=server)

    async def app(scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(receive, send)
        elif scope["path"] == "/mcp":
            await manager.handle_request(scope, receive, send)
        else:
            await not_found(send)

    async with manager.run():
        await serve_app(app, port, "/mcp")


async def answer_lifespan(receive, send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def not_found(send) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"not found"})


def main() -> None:
    match sys.argv[1:]:
        case ["stdio"]:
            anyio.run(serve_stdio)
        case ["http", port]:
            anyio.run(serve_http, int(port))
        case ["sse", port]:
            anyio.run(serve_sse, int(port))
        case _:
            sys.exit("usage: server_v1.py stdio | http PORT | sse PORT")


if __name__ == "__main__":
    main()
