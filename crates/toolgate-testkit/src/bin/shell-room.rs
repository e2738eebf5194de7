//! The process inside a room for shell commands, and every stub in it: `shell-room serve`, started by `ShellRoom`.
//!
//! Under any other name it records how it was started, and exits.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use toolgate_testkit::shell_room::{SHELL_ROOM_PROGRAM, record, serve};

    let done = std::env::current_exe().and_then(|program| {
        let is_inside = program.file_name().is_some_and(|name| name == SHELL_ROOM_PROGRAM);
        if is_inside { serve() } else { record(&program) }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(2)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    complain("only Linux has namespaces");
    ExitCode::from(2)
}

#[expect(clippy::print_stderr, reason = "stderr is where a program says why it failed")]
fn complain(message: &str) {
    eprintln!("shell-room: {message}");
}
