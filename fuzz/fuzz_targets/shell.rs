//! Shell commands: any text is taken apart or refused, and what is found says what it is.
//!
//! An input is one shell command.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate::limits::SHELL_COMMANDS_MAX;
use toolgate::shell::{Reach, Risk, read};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let script = match read(&text) {
        Ok(script) => script,
        Err(unreadable) => {
            assert!(!unreadable.why.is_empty(), "{text:?} is refused for no reason");
            return;
        }
    };
    assert!(!script.commands.is_empty() && script.commands.len() <= SHELL_COMMANDS_MAX, "{text:?}");
    for command in &script.commands {
        assert!(!command.text.trim().is_empty(), "{text:?}: {command:?}");
        assert!(!command.normalised().is_empty(), "{text:?}: {command:?}");
        if command.risk() == Risk::KnownSafe {
            assert!(command.assignments.is_empty() && !command.is_redirected, "{text:?}: {command:?}");
        }
        let Some(program) = command.words.first().and_then(|word| word.literal.clone()) else {
            assert!(command.words.is_empty(), "{text:?} runs a program that nobody knows");
            continue;
        };
        let prefix = shell_quoted(&program);
        assert!(command.begins_with(&prefix, Reach::Restriction), "{text:?}: {prefix} does not reach {command:?}");
        if command.begins_with(&prefix, Reach::Permission) {
            assert!(command.assignments.is_empty(), "{text:?}: {command:?}");
        }
    }
});

fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
