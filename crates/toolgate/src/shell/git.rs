//! The options of `git` before its subcommand: `git -C x push` is `git push` to whoever restricts that.

use super::script::{SimpleCommand, Word};

/// Options that take the next word as their value, unless it is attached with `=`.
const VALUED: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"];

/// Options without a value.
const FLAGS: [&str; 16] = [
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--html-path",
    "--man-path",
    "--info-path",
];

/// Options with which it looks at another folder, or runs what somebody says.
const ELSEWHERE: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--config-env"];

/// Variables that say the same.
const ELSEWHERE_VARIABLES: [&str; 6] = ["HOME", "XDG_CONFIG_HOME", "PAGER", "EDITOR", "VISUAL", "PATH"];

/// Where the subcommand may begin in the words behind `git`, with all that follows. Several places when it is not known whether an option
/// takes a value; none when there is no subcommand.
pub(super) fn subcommands(words: &[Word]) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let head = word.head.as_str();
        if !head.starts_with('-') {
            found.extend(words.get(at..));
            break;
        }
        let takes_next = word.literal.is_some() && VALUED.contains(&head);
        let is_plain = word.literal.is_some() && (FLAGS.contains(&head) || head.contains('='));
        let value_may_vanish = takes_next && words.get(at + 1).is_some_and(|value| value.may_split);
        // With an option that it does not know it runs nothing; that a later `git` gives it a value is thought of once.
        if !takes_next && !is_plain && found.is_empty() {
            found.extend(words.get(at + 2..).filter(|rest| !rest.is_empty()));
        }
        if value_may_vanish {
            found.extend(words.get(at + 1..));
        }
        at += if takes_next { 2 } else { 1 };
    }
    found
}

/// The options before the subcommand.
fn options(words: &[Word]) -> impl Iterator<Item = &str> {
    let end = subcommands(words).iter().map(|rest| words.len() - rest.len()).max().unwrap_or(words.len());
    words.iter().take(end).map(|word| word.head.as_str())
}

/// Whether some option before the subcommand is one of these, with a value or without.
pub(super) fn has_option(words: &[Word], names: &[&str]) -> bool {
    options(words).any(|option| names.contains(&option.split('=').next().unwrap_or(option)))
}

impl SimpleCommand {
    /// Whether it runs `git`, which runs what a folder says.
    #[must_use]
    pub fn is_git(&self) -> bool {
        self.program().is_some_and(|program| program.eq_ignore_ascii_case("git"))
    }

    /// Whether it is `git` with an option that leads it to another folder or lets it run something else.
    #[must_use]
    pub fn is_git_elsewhere(&self) -> bool {
        self.is_git() && has_option(self.words.get(1..).unwrap_or_default(), &ELSEWHERE)
    }

    /// Whether what stands behind it may run in another folder, or `git` may look at one.
    #[must_use]
    pub fn leads_elsewhere(&self) -> bool {
        let arguments = self.words.get(1..).unwrap_or_default();
        let has_flag = |letter: char, long: &str| {
            arguments.iter().any(|word| {
                let head = word.head.as_str();
                head.starts_with(long) || (head.starts_with('-') && !head.starts_with("--") && head.contains(letter))
            })
        };
        let moves = self.program().is_some_and(|program| match program.to_ascii_lowercase().as_str() {
            "cd" | "chdir" | "pushd" | "popd" | "chroot" | "unshare" | "su" | "runuser" | "ssh" => true,
            "env" => has_flag('C', "--chdir"),
            "sudo" => has_flag('D', "--ch"),
            "find" => arguments.iter().any(|word| matches!(word.head.as_str(), "-execdir" | "-okdir")),
            _ => false,
        });
        let names = |text: &str| {
            let name = text.split(['=', '+']).next().unwrap_or_default();
            name.starts_with("GIT_") || (text.contains('=') && ELSEWHERE_VARIABLES.contains(&name))
        };
        moves
            || self.assignments.iter().any(|assignment| names(assignment))
            || arguments.iter().any(|word| names(&word.head) || names(&word.raw))
    }
}
