//! Words of which it cannot be told that they are plain data: what a program is given that is not known may be run by it.
//!
//! This is the net below everything else that is known of programs. A restriction whose words stand there may be meant.

use super::git_acts;
use super::script::{SimpleCommand, Word};
use super::wrapper_options::WRAPPERS;
use super::wrappers::plain_name;
use crate::limits::SHELL_DOUBTS_MAX;

/// Programs whose arguments are data, in order: they run nothing of it. What some of their options run is found before.
const DATA: &[&str] = &[
    ":", "[", "ack", "ag", "apropos", "arch", "autopep8", "awk", "b2sum", "base32", "base64", "basename", "basenc", "bat", "bc",
    "black", "bzcat", "bzip2", "cal", "cat", "cd", "chattr", "chgrp", "chmod", "chown", "cksum", "clang-format", "clear",
    "cloc", "cmp", "codespell", "col", "colordiff", "column", "comm", "convert", "cp", "cpio", "csplit", "ctags", "curl", "cut",
    "date", "dd", "delta", "df", "diff", "diff3", "dig", "dir", "dirname", "dos2unix", "du", "echo", "egrep", "eslint", "exa",
    "exit", "expand", "expr", "eza", "factor", "false", "fc-list", "fd", "fdfind", "fgrep", "figlet", "file", "find", "flake8",
    "fmt", "fold", "free", "gawk", "getent", "getopt", "gofmt", "grep", "groups", "gunzip", "gzip", "hd", "head", "help",
    "hexdump", "hexyl", "host", "hostname", "iconv", "id", "identify", "info", "install", "isort", "jest", "join", "jq", "kill",
    "last", "less", "ln", "locate", "logger", "logname", "look", "ls", "lsattr", "lsblk", "lscpu", "lsof", "lz4", "lzma", "man",
    "mawk", "md5sum", "mkdir", "mkfifo", "mktemp", "more", "mv", "mypy", "nano", "nawk", "netstat", "nl", "nm", "nohup",
    "notify-send", "nproc", "nslookup", "numfmt", "objdump", "od", "paste", "patch", "pathchk", "pgrep", "pidof", "pigz", "ping",
    "pkill", "popd", "pr", "prettier", "printenv", "printf", "ps", "pstree", "pushd", "pwd", "pylint", "pyright", "pytest", "read",
    "readelf", "readlink", "realpath", "return", "rev", "rg", "rm", "rmdir", "rsync", "ruff", "rustfmt", "say", "scp", "sed",
    "seq", "set", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "shellcheck", "shfmt", "shift",
    "shopt", "shred", "shuf", "sleep", "sort", "split", "ss", "stat", "strings", "stty", "sum", "sync", "tac", "tail", "tar",
    "tee", "test", "tldr", "tokei", "touch", "tput", "tr", "tree", "true", "truncate", "tsc", "tsort", "tty", "type", "ulimit",
    "umask", "uname", "unexpand", "uniq", "unix2dos", "unlink", "unset", "unxz", "unzip", "uptime", "users", "vi", "view", "vim",
    "vitest", "vmstat", "w", "wait", "wc", "wget", "whatis", "whereis", "which", "who", "whoami", "xmllint", "xxd", "xz", "xzcat",
    "yapf", "yes", "yq", "zcat", "zgrep", "zip", "zipinfo", "zstd", "zstdcat",
];

/// Programs with subcommands whose arguments are data behind these of them; behind all, where none is named.
const SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn", "bun"],
        &[
            "add", "audit", "bin", "cache", "ci", "dedupe", "deprecate", "dist-tag", "docs", "fund", "help", "i", "info", "init",
            "install", "link", "list", "login", "logout", "ls", "outdated", "owner", "pack", "ping", "prefix", "prune", "remove",
            "rm", "root", "search", "un", "uninstall", "unlink", "up", "update", "upgrade", "v", "version", "view", "whoami", "why",
        ],
    ),
    (
        &["cargo"],
        &[
            "add", "audit", "b", "bench", "build", "c", "check", "clean", "clippy", "d", "deny", "doc", "fetch", "fix", "fmt",
            "help", "info", "init", "install", "login", "metadata", "new", "nextest", "owner", "package", "publish", "remove", "rm",
            "search", "t", "test", "tree", "uninstall", "update", "vendor", "yank",
        ],
    ),
    (&["go"], &["build", "clean", "doc", "env", "fix", "fmt", "get", "help", "install", "list", "mod", "test", "version", "vet"]),
    (
        &["pip", "pip3", "uv", "pipx", "poetry", "pipenv", "conda", "mamba", "gem", "bundle", "composer", "rustup"],
        &[
            "add", "cache", "check", "component", "create", "default", "download", "env", "freeze", "help", "index", "info", "init",
            "inspect", "install", "list", "lock", "outdated", "pip", "remove", "require", "search", "show", "sync", "target",
            "toolchain", "tree", "uninstall", "update", "upgrade", "wheel",
        ],
    ),
    (
        &[
            "apk", "apt", "apt-cache", "apt-get", "apt-mark", "aptitude", "brew", "choco", "dnf", "dpkg", "flatpak", "pacman", "port",
            "rpm", "scoop", "snap", "winget", "yum", "zypper",
        ],
        &[],
    ),
    (&["docker", "nerdctl", "podman", "kubectl", "oc", "systemctl", "service", "journalctl", "terraform", "aws"], &[]),
    (&["gh", "glab"], &["api", "auth", "browse", "gist", "issue", "label", "mr", "pr", "release", "repo", "run", "search", "workflow"]),
];

/// Keeps the words of a command that may be run. `besides` are those behind what a wrapper runs, when it is one that is understood.
pub(super) fn note(command: &mut SimpleCommand, besides: Option<&[Word]>) {
    if command.runs_unseen {
        return;
    }
    let mut doubts = Doubts { found: Vec::new(), is_full: false };
    for assignment in &command.assignments {
        let value = assignment.split_once('=').map_or("", |(_, value)| value);
        doubts.text(value);
    }
    doubts.words(besides.unwrap_or_else(|| unknown_words(command)));
    command.runs_unseen |= doubts.is_full;
    command.doubts = doubts.found;
}

/// The words of a command that runs nothing that is known, as far as they are no data.
fn unknown_words(command: &SimpleCommand) -> &[Word] {
    let Some((program, arguments)) = command.words.split_first() else { return &[] };
    let name = plain_name(program.literal.as_deref().unwrap_or_default());
    let name = name.as_str();
    if DATA.binary_search(&name).is_ok() || WRAPPERS.iter().any(|wrapper| wrapper.name == name) {
        return &[];
    }
    if name == "git" {
        return if git_acts::takes_data(arguments) { &[] } else { arguments };
    }
    let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(programs, _)| programs.contains(&name)) else {
        return arguments;
    };
    // A name such as `rm` in `docker rm x` is one of its own.
    match arguments.split_first() {
        Some((Word { literal: Some(first), .. }, rest)) if !first.starts_with('-') => {
            let is_data = subcommands.is_empty() || subcommands.contains(&first.as_str());
            if is_data { &[] } else { rest }
        }
        _ if subcommands.is_empty() => &[],
        _ => arguments,
    }
}

struct Doubts {
    found: Vec<Word>,
    /// Whether there were more words than are looked at.
    is_full: bool,
}

impl Doubts {
    fn push(&mut self, word: Word) {
        if self.found.len() < SHELL_DOUBTS_MAX { self.found.push(word) } else { self.is_full = true }
    }

    /// Words beside one another: what stands in them, with quotes as the ends of words and with quotes left out.
    fn words(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        words.iter().for_each(|word| self.pieces(word.shown()));
        self.end();
        for word in words.iter().map(Word::shown).filter(|text| text.contains(QUOTES)) {
            self.unquoted(word);
        }
        // A value behind the letter of its option: `-cnpm publish`.
        for word in words.iter().map(Word::shown) {
            let value = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
            if let Some(value) = value.filter(|value| value.len() > 1) {
                self.pieces(value);
                self.end();
            }
        }
    }

    /// A text on its own.
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.pieces(text);
        self.end();
        if text.contains(QUOTES) {
            self.unquoted(text);
        }
    }

    fn unquoted(&mut self, text: &str) {
        self.pieces(&text.replace(QUOTES, ""));
        self.end();
    }

    /// What follows does not stand beside what was there before.
    fn end(&mut self) {
        self.push(Word::plain("", ""));
    }

    fn pieces(&mut self, text: &str) {
        for piece in text.split(is_end).filter(|piece| !piece.is_empty()) {
            let word = match piece.split_once(['$', '*', '?']) {
                None => Word::plain(piece, piece),
                Some((head, _)) => {
                    Word { raw: piece.to_owned(), literal: None, head: head.to_owned(), may_split: piece.contains('$') }
                }
            };
            self.push(word);
        }
    }
}

const QUOTES: [char; 3] = ['\'', '"', '\\'];

/// What parts words in one language or another.
fn is_end(sign: char) -> bool {
    sign.is_whitespace() || "'\"`;|&()<>,{}[]=!:\\".contains(sign)
}
