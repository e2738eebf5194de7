//! The server that most tests meet, in each era, and the phases at which things go wrong with it.

use toolgate_testkit::script::VERSIONS;
use toolgate_testkit::{Script, ToolScript, When};

pub(crate) const PROBE: When = When::Method("server/discover");
pub(crate) const HANDSHAKE: When = When::Method("initialize");
pub(crate) const READY: When = When::Method("notifications/initialized");
pub(crate) const LIST: When = When::Method("tools/list");
pub(crate) const CALL: When = When::Method("tools/call");

pub(crate) fn server(versions: &[&str]) -> Script {
    Script::new("demo").versions(versions).tool(ToolScript::echo("echo"))
}

pub(crate) fn legacy() -> Script {
    server(&["2025-11-25"])
}

pub(crate) fn modern() -> Script {
    server(&["2026-07-28"])
}

pub(crate) fn both() -> Script {
    server(&VERSIONS)
}
