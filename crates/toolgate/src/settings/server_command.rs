//! `mcp.serverCommand`: a command line that is one more server, called `mcp`.

use crate::settings::diagnostic::{Diagnostic, Severity};
use crate::settings::position::Located;
use crate::settings::raw::{RawEntry, RawServer, RawServerEntry};
use crate::settings::source::SettingsLayer;

/// What the server is called.
const NAME: &str = "mcp";

/// Makes the command line of a layer an entry of `mcpServers`, after the others.
pub(crate) fn make_entry(layer: &mut SettingsLayer) {
    let Some(line) = layer.settings.mcp.server_command.clone().filter(|line| !line.value.trim().is_empty()) else {
        return;
    };
    let at = line.at;
    let complain = |severity: Severity, message: &str, hint: &str| Diagnostic {
        severity,
        origin: layer.origin(at.line),
        column: layer.path.as_ref().map(|_| at.column),
        server: Some(NAME.to_owned()),
        key: Some("mcp.serverCommand".to_owned()),
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    };
    if layer.settings.mcp_servers.iter().any(|entry| entry.name.value == NAME) {
        let message = "not used, because `mcpServers.mcp` is there too";
        let diagnostic = complain(Severity::Warning, message, "keep one of the two");
        layer.diagnostics.push(diagnostic);
        return;
    }
    let entry = match words(&line.value) {
        Some(mut words) if !words.is_empty() => {
            let located = |value: String| Located { value, at };
            let command = Some(located(words.remove(0)));
            let args = Some(Located { value: words.into_iter().map(located).collect(), at });
            RawEntry::Server(Box::new(RawServer { command, args, ..RawServer::default() }))
        }
        _ => {
            let message = "cannot be read as one command line";
            let hint = "no pipes, `;`, `&`, redirections or patterns outside quotes; close all quotes";
            let diagnostic = complain(Severity::Error, message, hint);
            layer.diagnostics.push(diagnostic);
            RawEntry::Broken(format!("mcp.serverCommand: {message}"))
        }
    };
    layer.settings.mcp_servers.push(RawServerEntry { name: Located { value: NAME.to_owned(), at }, entry });
}

/// The words of a command line as a shell splits them. `None` when it asks for more than one program with fixed words.
fn words(line: &str) -> Option<Vec<String>> {
    if has_operator(line) { None } else { shlex::split(line) }
}

/// Whether something outside quotes would mean more to a shell than a word.
fn has_operator(line: &str) -> bool {
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None | Some('"'), '\\') => drop(letters.next()),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '*' | '?' | '[' | '\n') => return true,
            _ => (),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_command_line_is_words() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("npx -y server", Some(&["npx", "-y", "server"])),
            ("'my program' \"a b\" c\\ d", Some(&["my program", "a b", "c d"])),
            ("p --glob '*.rs' \"a;b|c\"", Some(&["p", "--glob", "*.rs", "a;b|c"])),
            ("p $HOME ${X:-y}", Some(&["p", "$HOME", "${X:-y}"])),
            ("a | b", None),
            ("a; b", None),
            ("a && b", None),
            ("a > f", None),
            ("a *.rs", None),
            ("a `b`", None),
            ("a $(b)", None),
            ("a 'b", None),
        ];
        for (line, expected) in cases {
            let read = words(line);
            let read = read.as_ref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(read.as_deref(), *expected, "{line}");
        }
    }
}
