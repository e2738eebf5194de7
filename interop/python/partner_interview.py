"""Owns what a Python partner client asks of a server, and how it reports it.

A client program wraps its SDK in an object with the methods used below and
hands it to `run`. The questions and the report are the same as those of the
JavaScript partners in ../node.
"""

import json
import os
import sys
import traceback
from dataclasses import dataclass

import anyio

UNSUPPORTED = "unsupported"

ECHO_MESSAGE = "hello wörld ✓"
COUNT_STEPS = 3
ANSWERED_NAME = "Ada"
NOTE_URI = "note://one"
CANCEL_AFTER_SECONDS = 0.5
INTERVIEW_SECONDS_MAX = 120

LOG_POLL_SECONDS = 0.05
LOG_SECONDS_MAX = 20

ERAS = ("legacy", "auto", "pin")
MODERN_VERSION = "2026-07-28"


@dataclass
class Target:
    """The server to talk to, as given on the command line."""

    transport: str
    url: str
    command: str
    arguments: list[str]
    era: str
    cancels: bool

    @property
    def environment(self) -> dict[str, str]:
        """SDKs hand a child only a few variables; the partner needs all of ours."""
        return dict(os.environ)

    @property
    def mode(self) -> str:
        """The era as the SDKs of the 2026-07-28 generation name it."""
        return MODERN_VERSION if self.era == "pin" else self.era


def parse_target(default_era: str) -> Target:
    arguments = sys.argv[1:]
    era = default_era
    cancels = True
    if arguments[:1] == ["--no-cancel"]:
        cancels, arguments = False, arguments[1:]
    if len(arguments) >= 2 and arguments[0] == "--era":
        era, arguments = arguments[1], arguments[2:]
    if era in ERAS:
        match arguments:
            case ["stdio", command, *rest]:
                return Target("stdio", "", command, rest, era, cancels)
            case ["http" | "sse" as transport, url]:
                return Target(transport, url, "", [], era, cancels)
    program = os.path.basename(sys.argv[0])
    sys.exit(
        f"usage: {program} [--no-cancel] [--era {'|'.join(ERAS)}] "
        "stdio COMMAND [ARGUMENT...] | http URL | sse URL"
    )


async def interview(partner, target: Target) -> dict:
    """Ask everything once, in a fixed order, over one connection.

    `--no-cancel` leaves out `slow`, for a server that does not survive a
    cancellation; the report then says `cancelled: false`.
    """
    tools = await partner.tool_names()
    report = {**partner.about(), "tools": tools}
    report["echo"], _ = await partner.call("echo", {"message": ECHO_MESSAGE})
    report["add"], report["structured"] = await partner.call("add", {"a": 2, "b": 3})
    counted, progress = await partner.count(COUNT_STEPS)
    if counted != f"counted {COUNT_STEPS}":
        raise RuntimeError(f"count answered {counted!r}")
    report["progress"] = [whole(step) for step in progress]
    report["cancelled"] = target.cancels and await partner.cancel_slow(CANCEL_AFTER_SECONDS)
    if report["cancelled"] is True:
        await await_cancellation_log()
    report["ask"] = await partner.ask() if "ask" in tools else UNSUPPORTED
    report["prompt"] = await partner.prompt("greet", {"name": ANSWERED_NAME})
    report["resource"] = await partner.resource(NOTE_URI)
    tools_again = await partner.tool_names()
    if tools_again != tools:
        raise RuntimeError(f"the second tools/list differs: {tools_again}")
    return report


async def await_cancellation_log() -> None:
    """With PARTNER_AWAIT_LOG set, go on only when the server has logged the cancellation.

    A server that is stopped also cancels its tools, so the log proves nothing
    once the connection is closed.
    """
    log_path = os.environ.get("PARTNER_AWAIT_LOG")
    if not log_path:
        return
    with anyio.fail_after(LOG_SECONDS_MAX):
        while not (os.path.exists(log_path) and os.path.getsize(log_path)):
            await anyio.sleep(LOG_POLL_SECONDS)


def whole(number: float) -> float | int:
    """SDKs read progress as floats; the report shows 3.0 as 3."""
    return int(number) if float(number).is_integer() else number


def run(conduct) -> None:
    """Run `conduct`, an async function returning the report, and print it as JSON."""

    async def limited() -> dict:
        with anyio.fail_after(INTERVIEW_SECONDS_MAX):
            return await conduct()

    try:
        report = anyio.run(limited)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        # Some SDK versions leave a reader thread on stdin that would block a normal exit.
        os._exit(1)
    print(json.dumps(report, ensure_ascii=False), flush=True)
    os._exit(0)
