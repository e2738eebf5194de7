//! Programs that run what their words or their input say, in more forms than can be told apart here. To a restriction they could be anything.

use super::script::Word;

/// Programs whose purpose is to run another one, or a text.
const RUNNERS: [&str; 59] = [
    "at",
    "batch",
    "bwrap",
    "capsh",
    "catchsegv",
    "cgexec",
    "compgen",
    "complete",
    "concurrently",
    "crontab",
    "daemonize",
    "dbus-launch",
    "dbus-run-session",
    "entr",
    "expect",
    "fc",
    "firejail",
    "gdb",
    "hyperfine",
    "i386",
    "linux32",
    "linux64",
    "lldb",
    "ltrace",
    "lxc-attach",
    "machinectl",
    "newgrp",
    "nix-shell",
    "nodemon",
    "nsenter",
    "numactl",
    "perf",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "run-parts",
    "screen",
    "setarch",
    "setpriv",
    "sg",
    "softlimit",
    "start-stop-daemon",
    "strace",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-run",
    "tmux",
    "torsocks",
    "uname26",
    "unbuffer",
    "vagrant",
    "valgrind",
    "watchexec",
    "winpty",
    "wsl",
    "x86_64",
    "xvfb-run",
];

/// Programs that run another one only with certain words: a subcommand, or a flag as far as it is written.
const SOMETIMES: [(&str, &[&str]); 28] = [
    ("bind", &["-x"]),
    ("bun", &["x", "exec"]),
    ("conda", &["run"]),
    ("direnv", &["exec"]),
    ("docker", &["run", "exec", "create", "compose"]),
    ("enable", &["-f"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("git", &["foreach", "run", "filter-branch", "-x", "--exec", "--extcmd", "--tree-filter", "-O"]),
    ("hash", &["-p"]),
    ("jobs", &["-x"]),
    ("kubectl", &["exec", "run", "debug"]),
    ("mamba", &["run"]),
    ("mapfile", &["-C"]),
    ("mise", &["exec", "x"]),
    ("nerdctl", &["run", "exec", "create", "compose"]),
    ("nix", &["run", "shell", "develop"]),
    ("npm", &["exec", "x"]),
    ("oc", &["exec", "run", "debug"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("podman", &["run", "exec", "create", "compose"]),
    ("poetry", &["run"]),
    ("readarray", &["-C"]),
    ("uv", &["run", "x"]),
    ("uvx", &[""]),
    ("yarn", &["exec", "dlx"]),
];

/// Whether a program is there to run what its words say.
pub(super) fn runs_words(program: &str, arguments: &[Word]) -> bool {
    if RUNNERS.binary_search(&program).is_ok() || program.starts_with("ld-") || program.starts_with("ld.so") {
        return !arguments.is_empty();
    }
    let Some((_, marks)) = SOMETIMES.iter().find(|(name, _)| *name == program) else { return false };
    arguments.iter().any(|word| marks.iter().any(|mark| is_mark(word, mark)))
}

fn is_mark(word: &Word, mark: &str) -> bool {
    let Some(flag) = mark.strip_prefix('-') else { return word.literal.as_deref() == Some(mark) || mark.is_empty() };
    match flag.strip_prefix('-') {
        Some(_) => word.head.starts_with(mark),
        // Short flags may stand together.
        None => word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(flag),
    }
}
