//! Programs that run what their words or their input say, in more forms than can be told apart here. To a restriction they could be anything.

use super::script::Word;

/// Programs whose purpose is to run another one, or a text.
const RUNNERS: [&str; 60] = [
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
    "uvx",
    "vagrant",
    "valgrind",
    "watchexec",
    "winpty",
    "wsl",
    "x86_64",
    "xvfb-run",
];

/// Programs that run another one only with certain words: a subcommand, or a flag.
const SOMETIMES: [(&str, &[&str]); 30] = [
    ("bind", &["-x"]),
    ("bun", &["x", "exec"]),
    ("conda", &["run"]),
    ("direnv", &["exec"]),
    ("docker", &["run", "exec"]),
    ("enable", &["-f"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("git", &["bisect", "difftool", "filter-branch", "foreach", "mergetool"]),
    ("git", &["--exec", "--extcmd", "--open-files-in-pager"]),
    ("hash", &["-p"]),
    ("jobs", &["-x"]),
    ("kubectl", &["exec", "run", "debug"]),
    ("mamba", &["run"]),
    ("mapfile", &["-C"]),
    ("mise", &["exec", "x"]),
    ("nerdctl", &["run", "exec"]),
    ("nix", &["run", "shell", "develop"]),
    ("npm", &["exec", "x"]),
    ("oc", &["exec", "run", "debug"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("podman", &["run", "exec"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("readarray", &["-C"]),
    ("uv", &["run"]),
    ("yarn", &["exec", "dlx"]),
];

/// How many operands may come first until a subcommand is found: values of options before it look like operands.
const SUBCOMMAND_AT_MAX: usize = 3;

/// Whether a program is there to run what its words say.
pub(super) fn runs_words(program: &str, arguments: &[Word]) -> bool {
    if RUNNERS.binary_search(&program).is_ok() || program.starts_with("ld-") || program.starts_with("ld.so") {
        return !arguments.is_empty();
    }
    let is_rebase = |word: &Word| word.literal.as_deref() == Some("rebase");
    if program == "git" && arguments.iter().any(is_rebase) && arguments.iter().any(|word| is_flag(word, "x")) {
        return true;
    }
    let marks = SOMETIMES.iter().filter(|(name, _)| *name == program);
    marks.flat_map(|(_, marks)| marks.iter()).any(|mark| is_marked(arguments, mark))
}

fn is_marked(arguments: &[Word], mark: &str) -> bool {
    let Some(flag) = mark.strip_prefix('-') else {
        let operands_max = if mark.len() == 1 { 1 } else { SUBCOMMAND_AT_MAX };
        let mut operands = arguments.iter().filter(|word| !word.head.starts_with('-')).take(operands_max);
        return operands.any(|word| word.literal.as_deref() == Some(mark));
    };
    arguments.iter().any(|word| if flag.starts_with('-') { word.head.starts_with(mark) } else { is_flag(word, flag) })
}

/// Whether a letter is among the short flags of a word, which may stand together.
fn is_flag(word: &Word, letter: &str) -> bool {
    word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(letter)
}
