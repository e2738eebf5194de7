//! What a call would change in a file, told before it is made: for the tools of the built-in server that write.
//!
//! Only to be shown: the file may be another one by the time the call is made, and the server looks for itself.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolgate_wire::RawJson;

use crate::limits::EDIT_PREVIEW_BYTES_MAX;
use crate::workspace_folders::WorkspaceFolders;

/// What a call would change in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the call names it.
    pub path: String,
    /// What it contains now.
    pub before: Before,
    /// What it would contain.
    pub after: String,
}

/// What a file contains before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// There is no such file.
    Nothing,
    /// This text.
    Text(String),
    /// Something that is not shown, and why.
    Unshown(&'static str),
}

#[derive(Deserialize)]
struct Write {
    path: String,
    content: String,
}

#[derive(Deserialize)]
struct Replace {
    path: String,
    old_string: String,
    new_string: String,
    expected_replacements: Option<f64>,
}

/// The change that a call of a tool of the built-in server would make in a file. `None` when that is nothing, or cannot be told: then the
/// arguments say all there is to say. It reads that file, so it is nothing for an async task.
#[must_use]
pub fn edit_of(tool: &str, arguments: &RawJson, folders: &WorkspaceFolders) -> Option<Edit> {
    match tool {
        "write_file" => {
            let Write { path, content } = arguments.read().ok()?;
            let before = read(&inside(folders, &path)?);
            is_shown(&content).then_some(Edit { path, before, after: content })
        }
        "replace" => {
            let wanted: Replace = arguments.read().ok()?;
            let Before::Text(before) = read(&inside(folders, &wanted.path)?) else { return None };
            let after = replaced(&before, &wanted)?;
            is_shown(&after).then_some(Edit { path: wanted.path, before: Before::Text(before), after })
        }
        _ => None,
    }
}

const fn is_shown(text: &str) -> bool {
    text.len() <= EDIT_PREVIEW_BYTES_MAX
}

/// The file in one of the folders, links followed as far as it is there. `None` when it is elsewhere: the server will refuse it.
pub(super) fn inside(folders: &WorkspaceFolders, path: &str) -> Option<PathBuf> {
    let roots = folders.roots().ok()?;
    let file = roots.main().join(path);
    let mut there = file.as_path();
    let mut missing = Vec::new();
    let real = loop {
        match fs::canonicalize(there) {
            Ok(real) => break real,
            // A link into nothing is no file that will be made.
            Err(_) if there.is_symlink() => return None,
            Err(_) => {
                missing.push(there.file_name()?);
                there = there.parent()?;
            }
        }
    };
    roots.contain(&real).then(|| missing.into_iter().rev().fold(real, |path, name| path.join(name)))
}

fn read(path: &Path) -> Before {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Before::Nothing,
        Err(_) => return Before::Unshown("it cannot be read"),
        // Opening a pipe could wait for ever.
        Ok(about) if !about.is_file() => return Before::Unshown("it is no regular file"),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let most = EDIT_PREVIEW_BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
        Err(_) => Before::Unshown("it cannot be read"),
        Ok(size) if size > EDIT_PREVIEW_BYTES_MAX => Before::Unshown("it is too large to be shown"),
        Ok(_) => String::from_utf8(bytes).map_or(Before::Unshown("it is not text"), Before::Text),
    }
}

/// What `replace` makes of a file. `None` when it would refuse.
fn replaced(before: &str, wanted: &Replace) -> Option<String> {
    let expected = wanted.expected_replacements.unwrap_or(1.0);
    let only_crlf = before.contains('\n') && before.matches('\n').count() == before.matches("\r\n").count();
    let adapt = |text: &str| match only_crlf {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text.to_owned(),
    };
    let (old, new) = (adapt(&wanted.old_string), adapt(&wanted.new_string));
    if old.is_empty() {
        return None;
    }
    let count = before.matches(&old).count();
    #[expect(clippy::cast_precision_loss, reason = "a bounded file has fewer places than that")]
    let is_expected = count as f64 == expected;
    let size = before.len().saturating_add(count.saturating_mul(new.len()));
    // What is too large to be shown is not made either.
    (is_expected && size <= 2 * EDIT_PREVIEW_BYTES_MAX).then(|| before.replace(&old, &new))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};
    use toolgate_wire::RawJson;

    use super::{Before, Edit, edit_of};
    use crate::limits::EDIT_PREVIEW_BYTES_MAX;

    fn text(before: &str) -> Before {
        Before::Text(before.to_owned())
    }

    /// A tool, its arguments, and what there is before and after; `None` when nothing can be told.
    type Case<'c> = (&'c str, Value, Option<(Before, &'c str)>);

    #[test]
    fn what_a_call_would_change_is_told() {
        let room = tempfile::tempdir().unwrap();
        let (folder, outside) = (room.path().join("w"), room.path().join("secret"));
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(&outside, "secret").unwrap();
        fs::write(folder.join("a"), "one\ntwo\none\n").unwrap();
        fs::write(folder.join("crlf"), "one\r\ntwo\r\n").unwrap();
        fs::write(folder.join("latin"), b"\xe9").unwrap();
        fs::write(folder.join("large"), "x".repeat(EDIT_PREVIEW_BYTES_MAX + 1)).unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
        std::os::unix::fs::symlink("a", folder.join("within")).unwrap();
        let write = |path: &str| json!({"path": path, "content": "new"});
        let replace = |path: &str, old: &str, new: &str| json!({"path": path, "old_string": old, "new_string": new});
        let twice = json!({"path": "a", "old_string": "one", "new_string": "1", "expected_replacements": 2});
        let huge = json!({"path": "a", "content": "x".repeat(EDIT_PREVIEW_BYTES_MAX + 1)});
        let absolute = folder.join("a").display().to_string();
        let cases: Vec<Case<'_>> = vec![
            ("write_file", write("a"), Some((text("one\ntwo\none\n"), "new"))),
            ("write_file", write(&absolute), Some((text("one\ntwo\none\n"), "new"))),
            ("write_file", write("within"), Some((text("one\ntwo\none\n"), "new"))),
            ("write_file", write("fresh"), Some((Before::Nothing, "new"))),
            ("write_file", write("deep/down/fresh"), Some((Before::Nothing, "new"))),
            ("write_file", write("latin"), Some((Before::Unshown("it is not text"), "new"))),
            ("write_file", write("large"), Some((Before::Unshown("it is too large to be shown"), "new"))),
            ("write_file", write("sub"), Some((Before::Unshown("it is no regular file"), "new"))),
            ("write_file", write("link"), None),
            ("write_file", write("dangling"), None),
            ("write_file", write("../secret"), None),
            ("write_file", write("deep/../../secret"), None),
            ("write_file", write(&outside.display().to_string()), None),
            ("write_file", huge, None),
            ("write_file", json!({"path": "a"}), None),
            ("write_file", json!([]), None),
            ("replace", replace("a", "two", "2"), Some((text("one\ntwo\none\n"), "one\n2\none\n"))),
            ("replace", twice, Some((text("one\ntwo\none\n"), "1\ntwo\n1\n"))),
            ("replace", replace("crlf", "one\ntwo", "1\n2"), Some((text("one\r\ntwo\r\n"), "1\r\n2\r\n"))),
            ("replace", replace("a", "one", "1"), None),
            ("replace", replace("a", "three", "3"), None),
            ("replace", replace("a", "", "3"), None),
            ("replace", replace("fresh", "a", "b"), None),
            ("replace", replace("latin", "a", "b"), None),
            ("run_shell_command", json!({"command": "ls"}), None),
        ];
        for (tool, arguments, expected) in cases {
            let found = edit_of(tool, &RawJson::from(arguments.clone()), &folder.clone().into());
            let shown = arguments.to_string();
            let shown = shown.get(..shown.len().min(200)).unwrap_or_default();
            let path = arguments["path"].as_str().unwrap_or_default().to_owned();
            let expected = expected.map(|(before, after)| Edit { path, before, after: after.to_owned() });
            assert_eq!(found, expected, "{tool} {shown}");
        }
    }
}
