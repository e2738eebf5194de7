//! Files that decide what toolgate does, and files that make other programs do things: the built-in tools that write do not change the first,
//! and ask before they change the second, whatever the mode.

use std::path::{Component, Path};

use serde_json::Value;

use super::context::CallContext;
use super::edit_preview::inside;
use crate::policy::Decision;
use crate::registry::PreparedCall;
use crate::workspace_folders::WorkspaceFolders;

/// The built-in tools that write.
const WRITING: [&str; 2] = ["write_file", "replace"];

/// Folders whose files make programs run something: hooks, settings of servers.
const DECIDING_FOLDERS: [&str; 2] = [".git", ".toolgate"];

/// What is said to a call that writes a file: nothing, or a decision and its reason in words.
pub(super) fn check(call: &PreparedCall, arguments: &Value, context: &CallContext) -> Option<(Decision, String)> {
    let tool = &*call.tool.id.tool;
    call.config().transport.builtin().filter(|_| WRITING.contains(&tool))?;
    judge(arguments.get("path")?.as_str()?, &context.folders(), &context.own_folders())
}

fn judge(path: &str, folders: &WorkspaceFolders, own: &[&Path]) -> Option<(Decision, String)> {
    let real = inside(folders, path)?;
    let is_own = |folder: &&Path| {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        real.starts_with(folder)
    };
    if own.iter().any(is_own) {
        return Some((Decision::Deny, "toolgate's own files are not changed by tools".to_owned()));
    }
    let decides = |one: Component<'_>| DECIDING_FOLDERS.iter().any(|name| one.as_os_str().eq_ignore_ascii_case(name));
    let roots = folders.roots().ok()?;
    let within = roots.below(&real).unwrap_or(&real);
    let asks = within.components().any(decides) || Path::new(path).components().any(decides);
    asks.then(|| (Decision::Ask, format!("`{path}` decides what other programs do")))
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::policy::Decision;

    #[test]
    fn files_that_decide_are_not_changed_without_a_question() {
        let room = tempfile::tempdir().unwrap();
        let home = room.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join(".toolgate/policies")).unwrap();
        std::fs::create_dir_all(home.join("work/.git/hooks")).unwrap();
        std::os::unix::fs::symlink(home.join(".toolgate"), home.join("link")).unwrap();
        std::os::unix::fs::symlink(home.join("work/.git"), home.join("hidden")).unwrap();
        let own = home.join(".toolgate");
        let cases = [
            ("notes.md", None),
            ("work/src/a.rs", None),
            (".toolgate/policies/x.toml", Some(Decision::Deny)),
            (".toolgate/new/grants.toml", Some(Decision::Deny)),
            ("work/../.toolgate/settings.json", Some(Decision::Deny)),
            ("link/settings.json", Some(Decision::Deny)),
            ("work/.git/config", Some(Decision::Ask)),
            ("work/.GIT/config", Some(Decision::Ask)),
            ("hidden/hooks/pre-commit", Some(Decision::Ask)),
            ("work/.toolgate/settings.json", Some(Decision::Ask)),
        ];
        for (path, expected) in cases {
            assert_eq!(judge(path, &home.clone().into(), &[&own]).map(|(decision, _)| decision), expected, "{path}");
        }
    }
}
