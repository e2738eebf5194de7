//! The stub program that replaces others: it records how it was started, and does nothing.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use super::walls::{LOG, NAMES};

/// Writes one line with the name and the arguments of this process.
///
/// The name is that of the executed file, so `exec -a other npm` is still recorded as `npm`.
///
/// # Errors
/// Returns an error if the log cannot be written.
pub fn record(program: &Path) -> io::Result<()> {
    let mut words = vec![name_of(program)];
    words.extend(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()));
    let line = serde_json::to_string(&words)? + "\n";
    // One write, so that lines of several processes do not mix.
    OpenOptions::new().append(true).open(LOG)?.write_all(line.as_bytes())
}

/// Names of stubs that replace an installed program of another name: one line each with path, tab and name.
fn name_of(program: &Path) -> String {
    let names = std::fs::read_to_string(NAMES).unwrap_or_default();
    let known = names.lines().filter_map(|line| line.split_once('\t')).find(|(path, _)| Path::new(path) == program);
    let own = || program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    known.map_or_else(own, |(_, name)| name.to_owned())
}
