"""Owns what every Python partner server offers, as plain values.

The same names, schemas and answers are offered by the JavaScript partners in
../node; a test may therefore ask any partner the same questions. Nothing here
depends on an SDK version.
"""

import os

SERVER_NAME = "partner"
SERVER_VERSION = "1.0.0"
INSTRUCTIONS = "partner instructions"

NOTE_URI = "note://one"
NOTE_TEXT = "first note"

ASK_MESSAGE = "What is your name?"
ASK_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}

# Server versions that handle one request at a time stay blocked for this long
# after a call of `slow`, so a test may want to shorten it.
SLOW_SECONDS = float(os.environ.get("PARTNER_SLOW_SECONDS", "60"))

# `attached`: progress travels with the request it belongs to. `detached`: it is
# sent without naming the request, as the SDK's own high-level server did up to
# 1.26; over streamable HTTP it then arrives on the GET stream.
PROGRESS_DETACHED = os.environ.get("PARTNER_PROGRESS", "attached") == "detached"


def greeting(name: str) -> str:
    """The text of the `greet` prompt."""
    return f"Please greet {name}."


def note_cancellation() -> None:
    """Leave a line in PARTNER_LOG that proves the cancellation reached the tool."""
    log_path = os.environ.get("PARTNER_LOG")
    if log_path:
        with open(log_path, "a", encoding="utf-8") as log:
            log.write("cancelled slow\n")


def asked(action: str, content: dict | None) -> str:
    """The text that `ask` returns for an answered elicitation."""
    if action == "accept":
        return f"hello {(content or {}).get('name')}"
    return {"decline": "declined", "cancel": "cancelled"}[action]
