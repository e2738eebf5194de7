//! Results, listings and schemas of ten megabytes that are made to grow: no command takes more memory than a few copies of them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ToolScript};

use crate::room::Room;

/// What the server sends.
const HOSTILE_BYTES: usize = 10_000_000;

/// The most that a command may have in memory at one time.
const PEAK_BYTES_MAX: u64 = 150 * 1024 * 1024;

/// The longest that a command may take here, of a build without optimisation, with a server that makes its answer meanwhile, beside other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Each is as large, and grows in another way when it is shown.
fn hostile_json() -> [(&'static str, String); 5] {
    let open = "[".repeat(HOSTILE_BYTES / 2);
    let close = "]".repeat(HOSTILE_BYTES / 2);
    [
        ("nested", format!("{open}{close}")),
        ("numbers", format!("[{}0]", "0,".repeat(HOSTILE_BYTES / 2))),
        ("objects", format!("[{}{{}}]", "{\"\":0},".repeat(HOSTILE_BYTES / 7))),
        ("members", format!("{{{}\"\":0}}", "\"\":0,".repeat(HOSTILE_BYTES / 5))),
        ("text", format!("[\"{}\"]", "\u{7f}".repeat(HOSTILE_BYTES))),
    ]
}

fn hostile_texts() -> [(&'static str, String); 3] {
    [
        ("delete", "\u{7f}".repeat(HOSTILE_BYTES)),
        ("turned", "\u{202e}".repeat(HOSTILE_BYTES / 3)),
        ("lines", "\u{9b}\n".repeat(HOSTILE_BYTES / 3)),
    ]
}
