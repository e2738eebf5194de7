//! Whether a command that only looks looks into its folder, as far as its words tell. Links are not followed.

use std::path::Path;

use super::script::{SimpleCommand, Word};

/// Programs whose words are no files.
const WITHOUT_FILES: [&str; 12] =
    ["echo", "expr", "false", "id", "numfmt", "pwd", "seq", "tr", "true", "uname", "which", "whoami"];

impl SimpleCommand {
    /// Whether none of its words is a file outside the folder it runs in.
    #[must_use]
    pub fn stays_in(&self, folder: &Path) -> bool {
        let Some((program, arguments)) = self.words.split_first() else { return true };
        let program = program.literal.as_deref().unwrap_or_default();
        if WITHOUT_FILES.contains(&program) {
            return true;
        }
        // `cd` alone goes home, and `cd -` to where it was before.
        let operands = arguments.iter().filter(|word| !word.head.starts_with('-')).count();
        if program == "cd" && operands != 1 {
            return false;
        }
        let takes_pattern = program == "grep" && !names_patterns(arguments);
        let mut words = Words { is_options_end: false, pattern_is_ahead: takes_pattern, is_text_ahead: false };
        arguments.iter().all(|word| word.literal.as_deref().is_some_and(|text| words.stays(program, text, folder)))
    }
}

/// What the words read so far say of the next one.
struct Words {
    is_options_end: bool,
    /// Whether the first operand is no file.
    pattern_is_ahead: bool,
    /// Whether the next word is the value of an option that takes no file.
    is_text_ahead: bool,
}

impl Words {
    fn stays(&mut self, program: &str, text: &str, folder: &Path) -> bool {
        if std::mem::take(&mut self.is_text_ahead) {
            return true;
        }
        if self.is_options_end || text == "-" || !text.starts_with('-') {
            return std::mem::take(&mut self.pattern_is_ahead) || path_stays(text, folder);
        }
        if text == "--" {
            self.is_options_end = true;
            return true;
        }
        // `cut -d/`: what parts the fields.
        if matches!(program, "cut" | "paste") && text.starts_with("-d") {
            self.is_text_ahead = text == "-d";
            return true;
        }
        // Names of files that are read from a file.
        let name = text.split('=').next().unwrap_or_default();
        if name == "-files0-from" || (name.len() > 2 && "--files0-from".starts_with(name)) {
            return false;
        }
        match text.strip_prefix("--").map(|long| long.split_once('=')) {
            Some(Some((_, value))) => path_stays(value, folder),
            Some(None) => true,
            // Where the value of a short option begins is not known here.
            None => !text.contains(['/', '\\']) && !text.contains(".."),
        }
    }
}

/// Whether `grep` is given its pattern by an option, so that all its operands are files.
fn names_patterns(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let option = word.head.split('=').next().unwrap_or_default();
        match option.strip_prefix("--") {
            Some("") => false,
            Some(_) => "--regexp".starts_with(option) || "--file".starts_with(option),
            None => option.starts_with('-') && option.contains(['e', 'f']),
        }
    })
}

/// Whether a path leads nowhere else, as a text.
fn path_stays(text: &str, folder: &Path) -> bool {
    if text == "/dev/null" {
        return true;
    }
    // Where they part folders, backslashes may lead anywhere; where they do not, nobody needs them.
    if text.contains('\\') && (text.contains("..") || text.contains(':') || text.starts_with('\\')) {
        return false;
    }
    let mut parts = text.split('/');
    let has_drive = matches!(text.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z', b':', b'/', ..]);
    if has_drive || text.starts_with('/') {
        return Path::new(text).starts_with(folder) && parts.all(|part| part != "..");
    }
    let depth = parts.try_fold(0_usize, |depth, part| match part {
        "" | "." => Some(depth),
        ".." => depth.checked_sub(1),
        _ => Some(depth + 1),
    });
    depth.is_some()
}
