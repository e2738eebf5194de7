//! Programs that run what their words or their input say, in more forms than can be told apart here. To a restriction they could be anything.

use super::git_acts;
use super::script::Word;

/// Programs whose purpose is to run another one, or a text.
const RUNNERS: &[&str] = &[
    "abduco",
    "adb",
    "agetty",
    "alacritty",
    "ansible",
    "at",
    "autossh",
    "aws-vault",
    "batch",
    "bear",
    "beesu",
    "bpftrace",
    "bsdscript",
    "bwrap",
    "byobu",
    "calife",
    "capsh",
    "catatonit",
    "catchsegv",
    "ccache",
    "cgdb",
    "cgexec",
    "cgi-fcgi",
    "chamber",
    "chokidar",
    "choom",
    "chpst",
    "chronic",
    "clush",
    "compgen",
    "complete",
    "concurrently",
    "coresched",
    "cpulimit",
    "crontab",
    "cross-env",
    "cross-env-shell",
    "cttyhack",
    "daemon",
    "daemonize",
    "dbus-launch",
    "dbus-run-session",
    "dc",
    "detach",
    "distcc",
    "distrobox-enter",
    "doppler",
    "dotenv",
    "dotenvx",
    "dsh",
    "dtach",
    "dumb-init",
    "eatmydata",
    "ed",
    "entr",
    "env_parallel",
    "envdir",
    "envuidgid",
    "ex",
    "execlineb",
    "expect",
    "fakechroot",
    "faketime",
    "fc",
    "firejail",
    "foot",
    "foreman",
    "forever",
    "fswatch",
    "ftp",
    "gdb",
    "gdb-multiarch",
    "gdbserver",
    "git-shell",
    "gksu",
    "gksudo",
    "gnome-terminal",
    "gosu",
    "gtk-launch",
    "hush",
    "hyperfine",
    "i386",
    "i486",
    "i586",
    "i686",
    "ifne",
    "infisical",
    "inotifyd",
    "intercept-build",
    "kdesu",
    "kdesudo",
    "kitty",
    "konsole",
    "lckdo",
    "lftp",
    "linux32",
    "linux64",
    "lldb",
    "login",
    "logsave",
    "ltrace",
    "lxc-attach",
    "lxc-execute",
    "lxc-start",
    "m4",
    "machinectl",
    "mail",
    "mailx",
    "mispipe",
    "modd",
    "mosh",
    "newgrp",
    "nix-shell",
    "nodemon",
    "npm-run-all",
    "nsenter",
    "numactl",
    "onchange",
    "opendoas",
    "openvt",
    "parset",
    "pdsh",
    "pee",
    "perf",
    "pivot_root",
    "plink",
    "pm2",
    "ppc64",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "proxytunnel",
    "psexec",
    "pssh",
    "reflex",
    "rexec",
    "rlwrap",
    "rr",
    "rsh",
    "run-init",
    "run-p",
    "run-parts",
    "run-s",
    "runas",
    "runcon",
    "runsv",
    "s390x",
    "s6-setuidgid",
    "scan-build",
    "sccache",
    "schroot",
    "screen",
    "scriptlive",
    "sensible-browser",
    "sensible-editor",
    "sensible-pager",
    "setarch",
    "setlock",
    "setpriv",
    "setuidgid",
    "sftp",
    "sg",
    "softlimit",
    "sparc",
    "spawn-fcgi",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "strace",
    "su-exec",
    "sudoedit",
    "sux",
    "svlogd",
    "switch_root",
    "systemd-cat",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-run",
    "systemd-socket-activate",
    "tcpsvd",
    "telnet",
    "tilix",
    "time-limit",
    "timelimit",
    "tini",
    "tmate",
    "tmux",
    "toolbox",
    "torify",
    "torsocks",
    "trickle",
    "ts-node-dev",
    "tsocks",
    "uclampset",
    "udpsvd",
    "uname26",
    "unbuffer",
    "urxvt",
    "uvx",
    "vagrant",
    "valgrind",
    "vipe",
    "visudo",
    "watchexec",
    "winpty",
    "with-contenv",
    "wsl",
    "x-terminal-emulator",
    "x86_64",
    "xdg-open",
    "xterm",
    "xvfb-run",
    "zrun",
];

/// Programs that run another one only with certain words: a subcommand, or a flag.
const SOMETIMES: &[(&str, &[&str])] = &[
    ("apptainer", &["exec", "run", "shell"]),
    ("asdf", &["exec"]),
    ("aws", &["ssm", "execute-command"]),
    ("az", &["run-command"]),
    ("bind", &["-x"]),
    ("brew", &["sh", "ruby", "irb", "exec", "edit"]),
    ("bun", &["x", "exec"]),
    ("bundle", &["exec"]),
    ("cabal", &["exec", "v2-exec"]),
    ("conda", &["run"]),
    ("coverage", &["run"]),
    ("crictl", &["exec"]),
    ("ctr", &["exec", "run"]),
    ("devbox", &["run"]),
    ("devenv", &["shell"]),
    ("direnv", &["exec"]),
    ("distrobox", &["enter"]),
    ("docker", &["run", "exec", "create"]),
    ("enable", &["-f"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("flatpak", &["run"]),
    ("fly", &["ssh", "console"]),
    ("flyctl", &["ssh", "console"]),
    ("fnm", &["exec"]),
    ("gcloud", &["ssh"]),
    ("gh", &["alias", "extension", "codespace", "ext", "cs"]),
    ("glab", &["alias"]),
    ("guix", &["shell", "environment"]),
    ("hash", &["-p"]),
    ("hatch", &["run"]),
    ("heroku", &["run"]),
    ("history", &["-p"]),
    ("incus", &["exec"]),
    ("jobs", &["-x"]),
    ("kubectl", &["exec", "run", "debug", "rsh", "edit", "plugin", "ssh"]),
    ("lerna", &["exec", "run"]),
    ("lxc", &["exec"]),
    ("mamba", &["run"]),
    ("mapfile", &["-C"]),
    ("mise", &["exec", "x"]),
    ("mix", &["run", "do", "cmd"]),
    ("multipass", &["exec"]),
    ("nerdctl", &["run", "exec", "create"]),
    ("nix", &["run", "shell", "develop", "eval"]),
    ("nomad", &["exec", "alloc"]),
    ("npm", &["exec", "x", "explore", "edit"]),
    ("nvm", &["exec", "run"]),
    ("nx", &["run", "run-many"]),
    ("oc", &["exec", "run", "debug", "rsh", "edit", "plugin", "ssh"]),
    ("opam", &["exec"]),
    ("pdm", &["run"]),
    ("pip", &["edit"]),
    ("pip3", &["edit"]),
    ("pipenv", &["run", "shell"]),
    ("pipx", &["run", "runpip"]),
    ("pixi", &["run"]),
    ("pnpm", &["exec", "dlx", "node"]),
    ("podman", &["run", "exec", "create"]),
    ("poetry", &["run", "shell"]),
    ("py-spy", &["record"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("readarray", &["-C"]),
    ("rebar3", &["shell"]),
    ("runc", &["exec", "run"]),
    ("rustup", &["run"]),
    ("rvm", &["do"]),
    ("rye", &["run"]),
    ("singularity", &["exec", "run", "shell"]),
    ("snap", &["run"]),
    ("sops", &["exec-env", "exec-file"]),
    ("stack", &["exec", "ghc"]),
    ("systemctl", &["edit"]),
    ("terraform", &["console"]),
    ("tsh", &["ssh"]),
    ("turbo", &["run"]),
    ("uv", &["run", "tool"]),
    ("virsh", &["edit"]),
    ("volta", &["run"]),
    ("wezterm", &["start"]),
    ("yarn", &["exec", "dlx", "node"]),
    ("zellij", &["run"]),
];

/// How many operands may come first until a subcommand is found: values of options before it look like operands.
const SUBCOMMAND_AT_MAX: usize = 3;

/// Whether a program is there to run what its words say.
pub(super) fn runs_words(program: &str, arguments: &[Word]) -> bool {
    if RUNNERS.binary_search(&program).is_ok() || program.starts_with("ld-") || program.starts_with("ld.so") {
        return !shows_only(program, arguments);
    }
    if program == "git" {
        return git_acts::acts(arguments);
    }
    let marks = SOMETIMES.iter().filter(|(name, _)| *name == program);
    marks.flat_map(|(_, marks)| marks.iter()).any(|mark| is_marked(arguments, mark))
}

/// Whether the command only prints its version or a list. Without arguments, most of them run a shell or read commands.
fn shows_only(program: &str, arguments: &[Word]) -> bool {
    let [only] = arguments else { return false };
    match (program, only.literal.as_deref()) {
        (_, Some("--version" | "--help" | "-V")) => true,
        (program, Some(argument)) => SHOWING.contains(&(program, argument)),
        (_, None) => false,
    }
}

/// Programs with an argument that makes them print a list.
const SHOWING: [(&str, &str); 6] =
    [("at", "-l"), ("crontab", "-l"), ("perf", "list"), ("screen", "-ls"), ("tmux", "ls"), ("machinectl", "list")];

fn is_marked(arguments: &[Word], mark: &str) -> bool {
    let Some(flag) = mark.strip_prefix('-') else { return is_subcommand(arguments, mark) };
    arguments.iter().any(|word| {
        word.may_be_any() || if flag.starts_with('-') { word.head.starts_with(mark) } else { is_flag(word, flag) }
    })
}

/// Whether this may be the subcommand. An unknown word may be, unless another subcommand is certain before it.
fn is_subcommand(arguments: &[Word], mark: &str) -> bool {
    let operands_max = if mark.len() == 1 { 1 } else { SUBCOMMAND_AT_MAX };
    let mut counted = 0;
    // What follows an option may be its value, or the subcommand.
    let is_in_reach = |at: usize| {
        let is_value = at.checked_sub(1).and_then(|at| arguments.get(at)).is_some_and(may_have_value);
        let is_near = counted < operands_max;
        counted += usize::from(!is_value);
        is_near
    };
    let is_operand = |(_, word): &(usize, &Word)| !word.head.starts_with('-');
    let mut is_in_reach = is_in_reach;
    let near: Vec<&Word> =
        arguments.iter().enumerate().filter(is_operand).filter(|(at, _)| is_in_reach(*at)).map(|(_, it)| it).collect();
    let operands = || near.iter().copied();
    let before = operands().take_while(|word| word.literal.is_none());
    let could_be = |word: &Word| !word.names_files() && mark.starts_with(&word.head);
    operands().any(|word| word.literal.as_deref() == Some(mark)) || before.into_iter().any(could_be)
}

/// Whether the word behind an option may be its value.
fn may_have_value(option: &Word) -> bool {
    option.head.starts_with('-') && option.head.len() > 1 && option.head != "--" && !option.head.contains('=')
}

/// Whether a letter is among the short flags of a word, which may stand together.
fn is_flag(word: &Word, letter: &str) -> bool {
    word.head.starts_with('-') && !word.head.starts_with("--") && word.head.contains(letter)
}
