//! Redirections that touch no file: to `/dev/null`, from it, and of one output to the other.

use crate::shell::{self, Script};

/// As they are usually written, behind or between the words of a command.
const HARMLESS: [&str; 7] = ["2>&1", "1>&2", ">&2", ">/dev/null", "1>/dev/null", "2>/dev/null", "</dev/null"];

/// Whether a command has no other redirection than such: without them it is the same command, redirected nowhere.
pub(super) fn is_only_harmless(text: &str, script: &Script) -> bool {
    let without: Vec<String> = joined_arrows(text).split(' ').map(without_harmless).collect();
    let Ok(other) = shell::read(&without.join(" ")) else { return false };
    let same_words = other.commands.len() == script.commands.len()
        && other.commands.iter().zip(&script.commands).all(|(one, other)| {
            one.words == other.words && one.assignments == other.assignments && one.wrapping == other.wrapping
        });
    same_words && other.commands.iter().all(|command| !command.is_redirected)
}

/// `> /dev/null` as `>/dev/null`.
fn joined_arrows(text: &str) -> String {
    text.replace("> /dev/null", ">/dev/null").replace("< /dev/null", "</dev/null")
}

/// The token without a redirection; what ends the command behind it stays.
fn without_harmless(token: &str) -> String {
    let bare = token.trim_end_matches([';', ')', '|', '&']);
    if HARMLESS.contains(&bare) { token.strip_prefix(bare).unwrap_or_default().to_owned() } else { token.to_owned() }
}
