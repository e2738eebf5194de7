//! Allows tools and takes that back, one after the other, as a person with many windows would: `grant_writer FOLDER NAME MILLISECONDS`.
//! Each thing that was kept is said in a line, `+TOOL` or `-TOOL`. Several of these at once must not lose anything.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program of its own")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate::grants::{GrantSubject, Grants, Remember, RememberOptions};
use toolgate::policy::Mode;
use toolgate::{HostDirs, HostEnv, Result, ServerName, SystemClock};

/// How many tools there are to be allowed.
const TOOLS: usize = 40;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, milliseconds] = words.as_slice() else {
        eprintln!("usage: grant_writer FOLDER NAME MILLISECONDS");
        return ExitCode::from(2);
    };
    let (Ok(server), Ok(milliseconds)) = (ServerName::new(name), milliseconds.parse()) else {
        return ExitCode::from(2);
    };
    match change(&PathBuf::from(folder), &server, Duration::from_millis(milliseconds)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn change(folder: &Path, server: &ServerName, time: Duration) -> Result<()> {
    let dirs = HostDirs { user: folder.to_owned(), system: folder.join("system"), home: None };
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: folder.into(), clock: Arc::new(SystemClock) };
    let grants = Grants::open(&env);
    let started = Instant::now();
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    // Two steps forward and one back: most tools are allowed at any time, and none stays so for long.
    for turn in (0..).take_while(|_| started.elapsed() < time) {
        let tool = format!("tool-{}", turn * 7 % TOOLS);
        if let Some(id) = given.remove(&tool) {
            grants.revoke(&[id.as_str()])?;
            println!("-{tool}");
            continue;
        }
        let subject = GrantSubject {
            server,
            server_identity: "sha256:0",
            builtin: None,
            tool: &tool,
            definition: "sha256:1",
            arguments: &json!({}),
            folder,
            mode: Mode::Default,
            all_tools: &BTreeMap::new(),
        };
        if let Some(grant) = grants.remember(&subject, Remember::ToolAlways, RememberOptions::default())? {
            given.insert(tool.clone(), grant.id);
        }
        println!("+{tool}");
    }
    Ok(())
}
