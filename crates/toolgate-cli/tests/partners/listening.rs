//! A partner on a free port of this machine.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::installed::CommandLine;

/// It is ended with its owner.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    /// Starts it, and waits until it has said where it listens.
    pub(crate) fn start(command: &CommandLine, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the partner starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("listening ").map(|url| url.trim().to_owned()));
        let url = url.expect("the partner says where it listens");
        // It must never block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
