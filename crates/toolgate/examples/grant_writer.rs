//! Allows tools one after the other, as a person with many windows would: `grant_writer FOLDER NAME COUNT`. Several of these at once must not
//! lose anything.

#![expect(clippy::print_stderr, reason = "a program of its own")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use toolgate::grants::{GrantSubject, Grants, Remember, RememberOptions};
use toolgate::policy::Mode;
use toolgate::{HostDirs, HostEnv, Result, ServerName, SystemClock};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, count] = words.as_slice() else {
        eprintln!("usage: grant_writer FOLDER NAME COUNT");
        return ExitCode::from(2);
    };
    let (Ok(server), Ok(count)) = (ServerName::new(name), count.parse()) else { return ExitCode::from(2) };
    match allow(&PathBuf::from(folder), &server, count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn allow(folder: &std::path::Path, server: &ServerName, count: usize) -> Result<()> {
    let dirs = HostDirs { user: folder.to_owned(), system: folder.join("system"), home: None };
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: folder.to_owned(), clock: Arc::new(SystemClock) };
    let grants = Grants::open(&env);
    for number in 0..count {
        let tool = format!("tool-{number}");
        let subject = GrantSubject {
            server,
            server_identity: "sha256:0",
            builtin: None,
            tool: &tool,
            definition: "sha256:1",
            arguments: &json!({}),
            mode: Mode::Default,
            all_tools: &BTreeMap::new(),
        };
        grants.remember(&subject, Remember::ToolAlways, RememberOptions::default())?;
    }
    Ok(())
}
