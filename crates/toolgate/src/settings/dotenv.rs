//! `.env` files: variables beside a project or a person's settings, for the placeholders in settings.
//!
//! One file is used, the first there is: `.toolgate/.env` or `.env` in the workspace folder and then in those above it, as far as they are
//! trusted; then `.env` in the person's settings folder and in their home. What the environment has already is never replaced.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::env::HostEnv;
use crate::error::Result;
use crate::limits::{DOTENV_FILE_BYTES_MAX, FOLDERS_ABOVE_MAX};
use crate::settings::brought::WORKSPACE_FOLDER;
use crate::settings::load::Settings;
use crate::state_file;

/// What the files are called.
pub const DOTENV_FILE: &str = ".env";

/// Names that mean something to many programs and are rarely meant for us.
const EXCLUDED: &[&str] = &["DEBUG", "DEBUG_MODE"];

/// Ours decide about trust and about where we live: a project has no say in them.
const OURS: &str = "TOOLGATE_";

/// How the variables end that say where connections go.
const PROXY: &str = "_proxy";

/// Whose file it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Owner {
    #[default]
    Person,
    Project,
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) file: Option<PathBuf>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) owner: Owner,
}

/// A folder of that name is where some keep their Python.
fn is_there(file: &Path) -> bool {
    file.exists() && !file.is_dir()
}

/// Finds the variables of the run. `may_use` says whether a file in a folder that is not the person's own is trusted.
pub(crate) fn find(env: &HostEnv, settings: &Settings, may_use: impl Fn(&Path, &Path) -> bool) -> Result<Found> {
    let home = env.dirs.home.as_deref();
    let above = env.workspace.ancestors().take(FOLDERS_ABOVE_MAX).take_while(|folder| Some(*folder) != home);
    for folder in above {
        let of_project = (!settings.ignores_local_env()).then(|| folder.join(DOTENV_FILE));
        let files = [Some(folder.join(WORKSPACE_FOLDER).join(DOTENV_FILE)), of_project].into_iter().flatten();
        for file in files.filter(|file| is_there(file) && may_use(folder, file)) {
            let Some(text) = state_file::read(&file, DOTENV_FILE_BYTES_MAX)? else { continue };
            let excluded = settings.excluded_variables();
            let is_ours = |name: &str| name.starts_with(OURS) || name.to_ascii_lowercase().ends_with(PROXY);
            let is_excluded = |name: &str| EXCLUDED.contains(&name) || excluded.contains(&name);
            let mut variables = parse(&text);
            variables.retain(|name, _| !is_ours(name) && !is_excluded(name));
            return Ok(Found { file: Some(file), variables, owner: Owner::Project });
        }
    }
    let own = [Some(env.dirs.user.as_path()), home].into_iter().flatten().map(|folder| folder.join(DOTENV_FILE));
    for file in own {
        if let Some(text) = if is_there(&file) { state_file::read(&file, DOTENV_FILE_BYTES_MAX)? } else { None } {
            return Ok(Found { file: Some(file), variables: parse(&text), owner: Owner::Person });
        }
    }
    Ok(Found::default())
}

/// `NAME=value` lines. `export` before a name and `#` after a blank are taken as in a shell; of quotes, double ones know `\n`, `\"` and
/// `\\`, and both may run over lines. Lines that are none of this are left out; nothing is expanded.
#[must_use]
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let (line, below) = rest.split_at(line_end);
        rest = below;
        let declared = line.trim_start();
        let declared = declared.strip_prefix("export ").map_or(declared, str::trim_start);
        let Some((name, value)) = declared.split_once('=') else { continue };
        let name = name.trim_end();
        if !is_name(name) {
            continue;
        }
        let value = value.trim_start_matches([' ', '\t']);
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                // The text may end on a later line; all of it is still to be read then.
                let from_quote = text_from(value, below, text);
                match quoted(from_quote, quote) {
                    Some((value, after)) => {
                        rest = after.split_once('\n').map_or("", |(_, below)| below);
                        value
                    }
                    None => plain(value),
                }
            }
            _ => plain(value),
        };
        variables.insert(name.to_owned(), value);
    }
    variables
}

/// The text from the start of `value`, which is the end of a line, to the very end.
fn text_from<'t>(value: &str, below: &str, text: &'t str) -> &'t str {
    text.get(text.len() - below.len() - value.len()..).unwrap_or_default()
}

fn plain(value: &str) -> String {
    let comment = value.find(" #").or_else(|| value.find("\t#")).or_else(|| value.starts_with('#').then_some(0));
    let (value, _comment) = value.split_at(comment.unwrap_or(value.len()));
    value.trim().to_owned()
}

/// What stands between quotes, and what follows them. `None` when they are not closed.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => match letters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other @ ('"' | '\\' | '$') => value.push(other),
                other => value.extend(['\\', other]),
            },
            _ if letter == quote => return text.get(at + 1..).map(|after| (value, after)),
            _ => value.push(letter),
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    let is_start = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    letters.next().is_some_and(is_start)
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lines_are_read_as_the_table_says() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("", &[]),
            ("A=1\nB=two words\n", &[("A", "1"), ("B", "two words")]),
            ("\u{feff}A=1\r\nB=2\r\n", &[("A", "1"), ("B", "2")]),
            ("  export A = x  # why\n#B=1\n", &[("A", "x")]),
            ("A=#nothing\nB=a#b\nC=\n", &[("A", ""), ("B", "a#b"), ("C", "")]),
            ("A='single $X \\n' # c\nB=1", &[("A", "single $X \\n"), ("B", "1")]),
            ("A=\"a\\n\\\"b\\\" \\\\ \\x\"\nB=1", &[("A", "a\n\"b\" \\ \\x"), ("B", "1")]),
            ("A=\"two\nlines\"\nB=1\n", &[("A", "two\nlines"), ("B", "1")]),
            ("A=\"open\nB=1\n", &[("A", "\"open"), ("B", "1")]),
            ("A=1\nA=2\n", &[("A", "2")]),
            ("no line\n1A=x\n=x\nA B=x\nA.b-c=1\n", &[("A.b-c", "1")]),
            ("A=${B} $C\n", &[("A", "${B} $C")]),
            ("名=1\nA=漢字\n", &[("A", "漢字")]),
        ];
        for (text, expected) in cases {
            let read = parse(text);
            let read: Vec<_> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(read, *expected, "{text:?}");
        }
    }
}
