//! Commands that `git` runs: from settings, from hooks of subcommands, and from transports that name a command.

use super::git;
use super::script::Word;

/// Subcommands that run other programs, or read commands.
const RUNNING: [&str; 30] = [
    "annex",
    "bisect",
    "credential",
    "daemon",
    "difftool",
    "fast-import",
    "filter-branch",
    "filter-repo",
    "flow",
    "for-each-repo",
    "gui",
    "hook",
    "instaweb",
    "lfs",
    "maintenance",
    "merge-index",
    "mergetool",
    "p4",
    "receive-pack",
    "remote-ext",
    "remote-fd",
    "send-email",
    "send-pack",
    "shell",
    "svn",
    "upload-archive",
    "upload-pack",
    "var",
    "web--browse",
    "citool",
];

/// Subcommands with arguments that are data.
const DATA: [&str; 55] = [
    "add",
    "am",
    "apply",
    "archive",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-tree",
    "fetch",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-ref",
    "stash",
    "status",
    "switch",
    "tag",
    "version",
    "worktree",
];

/// Options of subcommands that run their values. They may be abbreviated.
const OPTIONS: [&str; 12] = [
    "--config",
    "--exec",
    "--extcmd",
    "--filter-process",
    "--open-files-in-pager",
    "--receive-pack",
    "--sendmail-cmd",
    "--to-cmd",
    "--cc-cmd",
    "--header-cmd",
    "--trailer-cmd",
    "--upload-pack",
];

/// Parts of setting names with a value that is run, or leads to a file that is run.
const SETTINGS: [&str; 31] = [
    "alias",
    "askpass",
    "browser",
    "cmd",
    "command",
    "credential",
    "driver",
    "editor",
    "external",
    "filter",
    "fsmonitor",
    "gpg",
    "helper",
    "hook",
    "include",
    "insteadof",
    "pack",
    "pager",
    "program",
    "proxy",
    "sequence",
    "tool",
    "url",
    "path",
    "protocol",
    "sendemail",
    "template",
    "textconv",
    "update",
    "vcs",
    "worktree",
];

/// Whether a setting `name=value` is known not to run anything.
fn is_harmless(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let name = name.to_ascii_lowercase();
    // A pager that only shows text.
    let shows = name == "core.pager" && matches!(value, "" | "cat" | "less");
    shows || name == "core.quotepath" || !SETTINGS.iter().any(|part| name.contains(part))
}

/// Whether the words after `git` make it run another program.
pub(super) fn acts(words: &[Word]) -> bool {
    let subcommands = git::subcommands(words);
    let end = subcommands.iter().map(|rest| words.len() - rest.len()).max().unwrap_or(words.len());
    let before = words.get(..end).unwrap_or_default();
    let sets = |(at, word): (usize, &Word)| match word.head.as_str() {
        "-c" | "--config-env" => {
            !before.get(at + 1).is_some_and(|word| !word.head.is_empty() && is_harmless(&word.head) && is_told(word))
        }
        head => head.starts_with("--config-env=") || head.starts_with("--exec-path="),
    };
    before.iter().enumerate().any(sets) || subcommands.iter().filter_map(|rest| rest.split_first()).any(subcommand_acts)
}

/// Whether the name of a setting is known, even if its value is not.
fn is_told(word: &Word) -> bool {
    word.literal.is_some() || (word.head.contains('=') && !word.head.to_ascii_lowercase().starts_with("core.pager"))
}

fn subcommand_acts((subcommand, rest): (&Word, &[Word])) -> bool {
    let name = subcommand.head.as_str();
    let has = |letter: char| {
        let in_cluster =
            |word: &Word| word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(letter);
        rest.iter().any(in_cluster)
    };
    let is_marked = |word: &Word| {
        let head = word.head.split('=').next().unwrap_or_default();
        let shortened =
            head.len() > 2 && OPTIONS.iter().any(|option| option.starts_with(head) || head.starts_with(option));
        // The text after `ext::` is run to connect.
        shortened || word.head.starts_with("ext::") || word.head.contains("=ext::") || word.head.starts_with("fd::")
    };
    RUNNING.contains(&name)
        || opens_editor(name, rest)
        || (name != "config" && rest.iter().any(is_marked))
        || match name {
            "submodule" => rest.iter().any(|word| word.literal.as_deref().is_none_or(|text| text == "foreach")),
            "rebase" => has('x'),
            "grep" => has('O'),
            "clone" => has('u') || has('c') || rest.iter().any(is_template),
            "init" => rest.iter().any(is_template),
            "config" => config_acts(rest),
            _ => false,
        }
}

/// Whether an option copies hooks from another folder into a new repository. It may be abbreviated.
fn is_template(word: &Word) -> bool {
    let name = word.head.split('=').next().unwrap_or_default();
    name.len() > 2 && "--template".starts_with(name)
}

/// Options of `git config` with a value, before the name of the setting.
const CONFIG_VALUED: [&str; 7] = ["-f", "--file", "--blob", "--type", "--default", "--comment", "--value"];

/// Whether `git config` writes a setting whose value is run. Options only stand before the name.
fn config_acts(words: &[Word]) -> bool {
    let mut rest = words;
    let mut renames = false;
    while let Some((option, others)) = rest.split_first().filter(|(word, _)| word.head.starts_with('-')) {
        let head = option.head.as_str();
        if ["--get", "--list", "--unset", "-l"].iter().any(|reading| head.starts_with(reading)) {
            return false;
        }
        if head == "-e" || (head.len() > 2 && "--edit".starts_with(head)) {
            return true;
        }
        renames |= head.starts_with("--re");
        rest = others.get(usize::from(CONFIG_VALUED.contains(&head))..).unwrap_or_default();
    }
    let Some((first, others)) = rest.split_first() else { return false };
    let runs = |word: &Word| word.literal.as_deref().is_none_or(|name| !is_harmless(name));
    match first.literal.as_deref() {
        // With one word more, these are subcommands; a setting has a dot in its name.
        Some("get" | "list" | "unset" | "get-color") => false,
        Some("edit") => true,
        Some("set") => {
            let mut names = others.iter().filter(|word| !word.head.starts_with('-'));
            names.clone().any(|word| word.literal.is_none()) || names.any(runs)
        }
        Some("rename-section") => others.iter().any(runs),
        _ => runs(first) || (renames && others.iter().any(runs)),
    }
}

/// Options with which a subcommand needs no editor for its message.
const MESSAGES: [&str; 12] = [
    "--message",
    "--file",
    "--no-edit",
    "--reuse-message",
    "--dry-run",
    "--fixup",
    "--short",
    "--porcelain",
    "--long",
    "--help",
    "--list",
    "--delete",
];

/// Whether a subcommand starts an editor, or asks what to do and starts one when told so. Editors take keys from their input, of which some
/// run a program.
fn opens_editor(name: &str, rest: &[Word]) -> bool {
    let heads = || rest.iter().take_while(|word| word.head != "--").map(|word| word.head.as_str());
    let has_long = |names: &[&str]| {
        heads().any(|head| {
            let name = head.split('=').next().unwrap_or_default();
            name.len() > 3 && names.iter().any(|long| long.starts_with(name))
        })
    };
    // Letters up to the one that has a value.
    let has = |letters: &str| {
        let is_short = |head: &&str| head.starts_with('-') && !head.starts_with("--");
        heads().filter(is_short).any(|head| {
            let end = head.find(|letter| "mFCctuS".contains(letter)).map_or(head.len(), |at| at + 1);
            head.get(1..end).is_some_and(|own| own.contains(|letter| letters.contains(letter)))
        })
    };
    let has_message = || has("mFCh") || has_long(&MESSAGES);
    let edits = || has("e") || has_long(&["--edit"]);
    let asks = || has("pi") || has_long(&["--patch", "--interactive"]);
    match name {
        "commit" => !has_message() || edits() || asks(),
        "tag" => ((has("asu") || has_long(&["--annotate", "--sign", "--local-user"])) && !has_message()) || edits(),
        "rebase" => has("i") || has_long(&["--interactive", "--edit-todo"]),
        "branch" => has_long(&["--edit-description"]),
        "notes" => matches!(rest.first().map(|it| it.head.as_str()), Some("add" | "edit" | "append")) && !has_message(),
        "add" | "stage" => edits() || asks(),
        "checkout" | "reset" | "restore" => asks(),
        "stash" => asks() && rest.first().is_none_or(|word| word.head != "show"),
        "merge" | "pull" | "revert" | "cherry-pick" => edits(),
        "replace" => has_long(&["--edit"]),
        _ => false,
    }
}

/// Whether all words after `git` are its own or data.
pub(super) fn takes_data(words: &[Word]) -> bool {
    let subcommands = git::subcommands(words);
    let [only] = subcommands.as_slice() else { return subcommands.is_empty() };
    only.first().and_then(|word| word.literal.as_deref()).is_some_and(|name| DATA.contains(&name))
}
