//! The options of programs that run another program: which of them take a value, so that the program behind them is found.

use super::script::{Unreadable, Word, Wrapping, excerpt};

/// A program that is followed by options, perhaps operands of its own, and then the words of another command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value.
    pub(super) valued: &'static str,
    /// Letters of options whose value, if any, is attached.
    pub(super) attached: &'static str,
    /// Letters of options with which it runs nothing.
    pub(super) stops: &'static str,
    pub(super) long_flags: &'static [&'static str],
    pub(super) long_valued: &'static [&'static str],
    /// Operands of its own before the command.
    pub(super) operands: usize,
    /// Whether assignments may stand before the command.
    pub(super) assigns: bool,
    pub(super) wrapping: Wrapping,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    valued: "",
    attached: "",
    stops: "",
    long_flags: &[],
    long_valued: &[],
    operands: 0,
    assigns: false,
    wrapping: Wrapping::Transparent,
};

const OPAQUE: Wrapper = Wrapper { wrapping: Wrapping::Opaque, ..PLAIN };

/// Programs whose command follows as words of its own.
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper { name: "command", flags: "p", stops: "vV", ..PLAIN },
    Wrapper { name: "exec", flags: "cl", valued: "a", ..PLAIN },
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "uCS",
        long_flags: &[
            "ignore-environment",
            "null",
            "debug",
            "block-signal",
            "default-signal",
            "ignore-signal",
            "list-signal-handling",
        ],
        long_valued: &["unset", "chdir", "split-string"],
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "nice", flags: "0123456789", valued: "n", long_valued: &["adjustment"], ..PLAIN },
    Wrapper {
        name: "ionice",
        flags: "t",
        valued: "cn",
        stops: "pPu",
        long_flags: &["ignore"],
        long_valued: &["class", "classdata"],
        ..PLAIN
    },
    Wrapper {
        name: "time",
        flags: "apqv",
        valued: "fo",
        long_flags: &["append", "portability", "quiet", "verbose"],
        long_valued: &["format", "output"],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "stdbuf", valued: "ioe", long_valued: &["input", "output", "error"], ..PLAIN },
    Wrapper { name: "setsid", flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper {
        name: "chrt",
        flags: "abdfiorRv",
        valued: "TPD",
        stops: "mp",
        long_flags: &[
            "all-tasks",
            "batch",
            "deadline",
            "ext",
            "fifo",
            "idle",
            "other",
            "rr",
            "reset-on-fork",
            "verbose",
        ],
        long_valued: &["sched-runtime", "sched-period", "sched-deadline"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "taskset", flags: "ac", stops: "p", long_flags: &["all-tasks", "cpu-list"], operands: 1, ..PLAIN },
    Wrapper {
        name: "sudo",
        flags: "ABbEHikNnPSs",
        valued: "CDghpRrTtu",
        stops: "eKlUVv",
        long_flags: &[
            "askpass",
            "background",
            "bell",
            "login",
            "no-update",
            "non-interactive",
            "preserve-env",
            "preserve-groups",
            "reset-timestamp",
            "set-home",
            "shell",
            "stdin",
        ],
        long_valued: &[
            "chdir",
            "chroot",
            "close-from",
            "command-timeout",
            "group",
            "host",
            "prompt",
            "role",
            "type",
            "user",
        ],
        assigns: true,
        ..OPAQUE
    },
    Wrapper {
        name: "flock",
        flags: "seoxnuFv",
        valued: "wE",
        long_flags: &["shared", "exclusive", "nonblock", "nb", "unlock", "close", "no-fork", "verbose"],
        long_valued: &["timeout", "wait", "conflict-exit-code"],
        operands: 1,
        ..OPAQUE
    },
    Wrapper {
        name: "script",
        flags: "aefq",
        valued: "cEBIOomT",
        attached: "t",
        stops: "hV",
        long_flags: &["append", "flush", "force", "quiet", "return", "timing"],
        long_valued: &[
            "command",
            "echo",
            "log-io",
            "log-in",
            "log-out",
            "log-timing",
            "logging-format",
            "output-limit",
        ],
        operands: 1,
        ..OPAQUE
    },
    Wrapper {
        name: "chroot",
        long_flags: &["skip-chdir"],
        long_valued: &["groups", "userspec"],
        operands: 1,
        ..OPAQUE
    },
    Wrapper {
        name: "unshare",
        flags: "cCfimnprTuU",
        valued: "GRSw",
        long_flags: &[
            "cgroup",
            "fork",
            "ipc",
            "keep-caps",
            "kill-child",
            "map-auto",
            "map-current-user",
            "map-root-user",
            "mount",
            "mount-proc",
            "net",
            "pid",
            "time",
            "user",
            "uts",
        ],
        long_valued: &["map-group", "map-user", "propagation", "root", "setgid", "setgroups", "setuid", "wd"],
        ..OPAQUE
    },
    Wrapper {
        name: "fakeroot",
        flags: "u",
        valued: "lfis",
        long_flags: &["unknown-is-real"],
        long_valued: &["lib", "faked"],
        ..OPAQUE
    },
    Wrapper {
        name: "npx",
        flags: "yq",
        valued: "cpw",
        long_flags: &["yes", "no", "no-install", "quiet", "ignore-existing", "workspaces"],
        long_valued: &["call", "package", "workspace"],
        ..OPAQUE
    },
    Wrapper { name: "bunx", long_flags: &["bun", "silent"], long_valued: &["package"], ..OPAQUE },
    Wrapper { name: "doas", flags: "ns", valued: "Cu", stops: "L", assigns: true, ..OPAQUE },
    Wrapper { name: "pkexec", long_flags: &["keep-cwd", "disable-internal-agent"], long_valued: &["user"], ..OPAQUE },
    Wrapper {
        name: "xargs",
        flags: "0oprtx",
        valued: "adEIJLnPRs",
        attached: "eil",
        long_flags: &[
            "eof",
            "exit",
            "interactive",
            "max-lines",
            "no-run-if-empty",
            "null",
            "open-tty",
            "replace",
            "verbose",
        ],
        long_valued: &["arg-file", "delimiter", "max-args", "max-chars", "max-procs", "process-slot-var"],
        ..OPAQUE
    },
    Wrapper {
        name: "parallel",
        flags: "0kmqtuvX",
        valued: "aCdjLnNPS",
        long_flags: &[
            "bar",
            "dry-run",
            "eta",
            "group",
            "keep-order",
            "lb",
            "line-buffer",
            "linebuffer",
            "no-run-if-empty",
            "null",
            "pipe",
            "progress",
            "quote",
            "resume",
            "shuf",
            "tag",
            "ungroup",
            "verbose",
            "will-cite",
        ],
        long_valued: &[
            "arg-file",
            "arg-sep",
            "colsep",
            "delay",
            "delimiter",
            "halt",
            "joblog",
            "jobs",
            "load",
            "max-args",
            "max-procs",
            "memfree",
            "results",
            "retries",
            "sshlogin",
            "tagstring",
            "timeout",
            "tmpdir",
        ],
        ..OPAQUE
    },
    Wrapper {
        name: "watch",
        flags: "bcCdefgprtwx",
        valued: "nqs",
        long_flags: &[
            "beep",
            "chgexit",
            "color",
            "differences",
            "errexit",
            "exec",
            "follow",
            "no-color",
            "no-rerun",
            "no-title",
            "no-wrap",
            "precise",
        ],
        long_valued: &["equexit", "interval", "shotsdir"],
        ..PLAIN
    },
    Wrapper {
        name: "ssh",
        flags: "1246AaCfGgKkMNnqsTtVvXxYy",
        valued: "BbcDEeFIiJLlmOoPpQRSWw",
        operands: 1,
        ..OPAQUE
    },
];

/// What stands before the command of a wrapper.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Options by name, with their value.
    pub(super) options: Vec<(String, Option<String>)>,
    /// Whether an option says that nothing runs.
    pub(super) stops: bool,
    /// How many words they are.
    pub(super) length: usize,
}

impl Before {
    /// All values of these options. Empty without any.
    pub(super) fn values<'a>(&'a self, names: &[&str]) -> impl Iterator<Item = &'a str> {
        let found = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_deref().unwrap_or_default())
    }
}

impl Wrapper {
    /// The options at the beginning of `words`.
    pub(super) fn options(&self, words: &[Word]) -> Result<Before, Unreadable> {
        let mut before = Before::default();
        while let Some(word) = words.get(before.length) {
            let Some(text) = word.literal.as_deref() else { return Err(unknown(self.name, &word.raw)) };
            if text == "--" {
                before.length += 1;
                break;
            }
            if text == "-" && self.name == "env" {
                before.length += 1;
                continue;
            }
            let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else { break };
            before.length += 1;
            let needs_value = match option.strip_prefix('-') {
                Some(long) => self.long(long, &mut before)?,
                None => self.short(option, &mut before)?,
            };
            if needs_value {
                let value = words.get(before.length).and_then(|word| word.literal.clone());
                let Some(value) = value else { return Err(unknown(self.name, text)) };
                before.length += 1;
                if let Some((_, last)) = before.options.last_mut() {
                    *last = Some(value);
                }
            }
            // The split words replace the option, so all following words are parsed again.
            if self.name == "env" && before.values(&["S", "split-string"]).next().is_some() {
                break;
            }
        }
        Ok(before)
    }

    /// Whether the value of the option is the next word.
    fn long(&self, option: &str, before: &mut Before) -> Result<bool, Unreadable> {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value.to_owned())));
        if matches!(name, "help" | "version") {
            before.stops = true;
            return Ok(false);
        }
        let needs_value = self.long_valued.contains(&name);
        if !needs_value && !self.long_flags.contains(&name) {
            return Err(unknown(self.name, option));
        }
        let is_missing = needs_value && value.is_none();
        before.options.push((name.to_owned(), value));
        Ok(is_missing)
    }

    fn short(&self, letters: &str, before: &mut Before) -> Result<bool, Unreadable> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let name = letter.to_string();
            if self.stops.contains(letter) {
                before.stops = true;
                return Ok(false);
            }
            if self.flags.contains(letter) {
                before.options.push((name, None));
            } else if self.valued.contains(letter) || self.attached.contains(letter) {
                let value = Some(rest.as_str().to_owned()).filter(|value| !value.is_empty());
                let is_missing = value.is_none() && self.valued.contains(letter);
                before.options.push((name, value));
                return Ok(is_missing);
            } else {
                return Err(unknown(self.name, letters));
            }
        }
        Ok(false)
    }
}

fn unknown(wrapper: &str, option: &str) -> Unreadable {
    Unreadable::because(format!("what `{wrapper}` runs cannot be told: `{}` is not understood", excerpt(option)))
}
