//! Whether a read-only command stays in its folder, judged by its words. Links are not followed here; the possible files are
//! returned for a check that follows them.

use std::path::{Path, PathBuf};

use super::script::{SimpleCommand, Word};

/// Programs whose words are no files.
const WITHOUT_FILES: [&str; 12] =
    ["echo", "expr", "false", "id", "numfmt", "pwd", "seq", "tr", "true", "uname", "which", "whoami"];

impl SimpleCommand {
    /// Whether none of its words is a file outside the folder it runs in and those beside it, and it follows no links that it finds there.
    #[must_use]
    pub fn stays_in(&self, folder: &Path, included: &[PathBuf]) -> bool {
        // `cd` alone goes to the home folder, and `cd -` to the previous one.
        let is_cd = self.words.first().is_some_and(|program| program.literal.as_deref() == Some("cd"));
        let operands = self.words.iter().skip(1).filter(|word| !word.head.starts_with('-')).count();
        (!is_cd || operands == 1)
            && !self.follows_links()
            && self.files().is_some_and(|files| files.iter().all(|file| path_stays(file, folder, included)))
    }

    /// The words and option values that may be files to read. `None` when that is unknown.
    #[must_use]
    pub fn files(&self) -> Option<Vec<&str>> {
        let Some((program, arguments)) = self.words.split_first() else { return Some(Vec::new()) };
        let program = program.literal.as_deref().unwrap_or_default();
        if WITHOUT_FILES.contains(&program) {
            return Some(Vec::new());
        }
        let takes_pattern = program == "grep" && !names_patterns(arguments);
        let mut words = Words { is_options_end: false, pattern_is_ahead: takes_pattern, is_text_ahead: false };
        let mut files = Vec::new();
        for word in arguments {
            match words.kind(program, word.literal.as_deref()?) {
                Kind::NoFile => {}
                Kind::File(file) => files.push(file),
                Kind::Unclear => return None,
            }
        }
        Some(files)
    }

    /// Whether the command walks folders and follows the links in them.
    fn follows_links(&self) -> bool {
        let Some((program, arguments)) = self.words.split_first() else { return false };
        let heads = || arguments.iter().map(|word| word.head.as_str());
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
        let has_letter = |letters: &[char]| heads().any(|word| is_short(word) && word.contains(letters));
        let has_long =
            |names: &[&str]| heads().any(|word| word.len() > 2 && names.iter().any(|name| name.starts_with(word)));
        match program.literal.as_deref().unwrap_or_default() {
            "grep" => has_letter(&['R']) || has_long(&["--dereference-recursive"]),
            "ls" => {
                has_letter(&['L'])
                    || has_letter(&['H']) && (has_letter(&['R']) || has_long(&["--recursive"]))
                    || has_long(&["--dereference", "--dereference-command-line-symlink-to-dir"])
            }
            "find" => heads().any(|word| matches!(word, "-L" | "-follow")),
            program if program.ends_with("/rg") => has_letter(&['L']) || has_long(&["--follow"]),
            _ => false,
        }
    }
}

/// The kind of a word on a command line: a file or not.
enum Kind<'a> {
    NoFile,
    File(&'a str),
    /// It may contain a file name, or name a file with names in it.
    Unclear,
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
    fn kind<'a>(&mut self, program: &str, text: &'a str) -> Kind<'a> {
        if std::mem::take(&mut self.is_text_ahead) {
            return Kind::NoFile;
        }
        if self.is_options_end || text == "-" || !text.starts_with('-') {
            return if std::mem::take(&mut self.pattern_is_ahead) { Kind::NoFile } else { Kind::File(text) };
        }
        if text == "--" {
            self.is_options_end = true;
            return Kind::NoFile;
        }
        // `cut -d/`: what parts the fields.
        if matches!(program, "cut" | "paste") && text.starts_with("-d") {
            self.is_text_ahead = text == "-d";
            return Kind::NoFile;
        }
        // Names of files that are read from a file.
        let name = text.split('=').next().unwrap_or_default();
        if name == "-files0-from" || (name.len() > 2 && "--files0-from".starts_with(name)) {
            return Kind::Unclear;
        }
        match text.strip_prefix("--").map(|long| long.split_once('=')) {
            Some(Some((_, value))) => Kind::File(value),
            Some(None) => Kind::NoFile,
            // Where the value of a short option begins is not known here.
            None if text.contains(['/', '\\']) || text.contains("..") => Kind::Unclear,
            // `git diff -OORDER`.
            None if program == "git" && text.starts_with("-O") => Kind::File(text.get(2..).unwrap_or_default()),
            // `grep -fPATTERNS`, `grep -rfPATTERNS`.
            None if program == "grep" || program.ends_with("/rg") => {
                text.split_once('f').map_or(Kind::NoFile, |(_, file)| Kind::File(file))
            }
            None => Kind::NoFile,
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
fn path_stays(text: &str, folder: &Path, included: &[PathBuf]) -> bool {
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
        let mut folders = included.iter().map(PathBuf::as_path).chain([folder]);
        return folders.any(|folder| Path::new(text).starts_with(folder)) && parts.all(|part| part != "..");
    }
    let depth = parts.try_fold(0_usize, |depth, part| match part {
        "" | "." => Some(depth),
        ".." => depth.checked_sub(1),
        _ => Some(depth + 1),
    });
    depth.is_some()
}
