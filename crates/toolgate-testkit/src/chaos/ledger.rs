//! What servers did, in files that outlive them: one line for each call that was executed, one for each start, one for each fault.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use super::fault::ChaosFault;

/// How often each nonce was executed.
#[derive(Clone, Debug, Default)]
pub struct Ledger(HashMap<String, usize>);

impl Ledger {
    /// Reads it; one that was never written to is empty.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let mut counts = HashMap::new();
        for nonce in std::fs::read_to_string(path).unwrap_or_default().lines() {
            *counts.entry(nonce.to_owned()).or_default() += 1;
        }
        Self(counts)
    }

    /// How often that call was executed.
    #[must_use]
    pub fn count(&self, nonce: &str) -> usize {
        self.0.get(nonce).copied().unwrap_or_default()
    }

    /// Every nonce that was executed.
    pub fn nonces(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// One start of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Whose.
    pub name: String,
    /// The process.
    pub pid: u32,
}

/// Every start of every server, in order.
#[must_use]
pub fn lives(path: &Path) -> Vec<Life> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let life = |line: &str| {
        let (name, pid) = line.rsplit_once(' ')?;
        Some(Life { name: name.to_owned(), pid: pid.parse().ok()? })
    };
    text.lines().filter_map(life).collect()
}

/// What went wrong, and with which server, in order.
#[must_use]
pub fn faults(path: &Path) -> Vec<(String, ChaosFault)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fault = |line: &str| {
        let (name, fault) = line.rsplit_once(' ')?;
        Some((name.to_owned(), serde_json::from_str(fault).ok()?))
    };
    text.lines().filter_map(fault).collect()
}

/// Notes that something goes wrong with a server.
pub(super) fn add_fault(path: &Path, name: &str, fault: ChaosFault) -> io::Result<()> {
    add_line(path, &format!("{name} {}", serde_json::to_string(&fault)?))
}

/// Adds a line in one write, so that lines of several processes never mix.
pub(super) fn add_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
