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

fn config_acts(words: &[Word]) -> bool {
    let reads = |word: &Word| {
        let text = word.literal.as_deref().unwrap_or_default();
        ["--get", "--list", "--unset", "-l"].iter().any(|option| text.starts_with(option))
            || matches!(text, "get" | "list")
    };
    let names = |word: &Word| !word.head.starts_with('-') && !is_harmless(&word.head);
    !words.iter().any(reads) && words.iter().any(|word| names(word) || word.head.is_empty())
}

/// Whether all words after `git` are its own or data.
pub(super) fn takes_data(words: &[Word]) -> bool {
    let subcommands = git::subcommands(words);
    let [only] = subcommands.as_slice() else { return subcommands.is_empty() };
    only.first().and_then(|word| word.literal.as_deref()).is_some_and(|name| DATA.contains(&name))
}
