//! Options that run a text in programs with another purpose: `tar --checkpoint-action`, `rsync -e`, `vim -c`.

use super::script::Word;

/// Options of some programs that run their values.
struct Acting {
    programs: &'static [&'static str],
    /// Single-letter options.
    shorts: &'static str,
    /// Long options, which may be abbreviated.
    longs: &'static [&'static str],
    /// Substrings, in lower case, of words that run something at any position.
    parts: &'static [&'static str],
    /// Whether `+text` runs the text.
    plus: bool,
    harmless: Harmless,
}

/// Values that run no other program.
enum Harmless {
    /// No value.
    Nothing,
    /// Texts that begin with one of these programs.
    Programs(&'static [&'static str]),
    /// A text that begins so.
    Beginning(&'static str),
    /// Texts without these substrings, in lower case.
    Without(&'static [&'static str]),
}

const PLAIN: Acting =
    Acting { programs: &[], shorts: "", longs: &[], parts: &[], plus: false, harmless: Harmless::Nothing };

const COMPRESSING: Harmless = Harmless::Programs(&[
    "bzip2", "compress", "gzip", "lbzip2", "lz4", "lzip", "lzma", "lzop", "pbzip2", "pigz", "pixz", "plzip", "xz",
    "zstd", "zstdmt",
]);

const TABLE: &[Acting] = &[
    Acting {
        programs: &["tar", "bsdtar", "gnutar"],
        shorts: "IF",
        longs: &[
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
        ],
        harmless: COMPRESSING,
        ..PLAIN
    },
    Acting { programs: &["cpio", "mt"], longs: &["--rsh-command", "--rmt-command"], ..PLAIN },
    Acting { programs: &["zip"], longs: &["--unzip-command"], parts: &["-tt"], ..PLAIN },
    Acting { programs: &["sort"], longs: &["--compress-program"], harmless: COMPRESSING, ..PLAIN },
    Acting { programs: &["split"], longs: &["--filter"], harmless: COMPRESSING, ..PLAIN },
    Acting { programs: &["install"], longs: &["--strip-program"], ..PLAIN },
    Acting { programs: &["diff3", "sdiff"], longs: &["--diff-program"], ..PLAIN },
    Acting {
        programs: &["rsync"],
        shorts: "eM",
        longs: &["--rsh", "--rsync-path", "--remote-option"],
        harmless: Harmless::Programs(&["ssh", "rsh", "rsync", "/usr/bin/rsync"]),
        ..PLAIN
    },
    Acting {
        programs: &["scp", "ssh-copy-id", "sshfs"],
        shorts: "o",
        parts: &["ssh_command", "proxycommand"],
        harmless: Harmless::Without(&["command"]),
        ..PLAIN
    },
    Acting { programs: &["scp", "ssh-copy-id", "sshfs"], shorts: "SDF", ..PLAIN },
    Acting { programs: &["ssh-add", "ssh-keygen"], shorts: "Dw", ..PLAIN },
    Acting {
        programs: &[
            "vi",
            "vim",
            "view",
            "nvim",
            "rvim",
            "gvim",
            "vimdiff",
            "gvimdiff",
            "rview",
            "vim.tiny",
            "vim.basic",
        ],
        shorts: "cSsueE",
        longs: &["--cmd", "--remote-send", "--remote-expr"],
        plus: true,
        ..PLAIN
    },
    Acting {
        programs: &["emacs", "emacsclient", "xemacs"],
        shorts: "efl",
        longs: &["--eval", "--execute", "--funcall", "--load", "--script", "--batch"],
        parts: &["-eval", "-load", "-script", "-funcall"],
        ..PLAIN
    },
    Acting { programs: &["nano", "pico"], shorts: "s", longs: &["--speller"], ..PLAIN },
    Acting {
        programs: &["less", "more", "most", "zless", "zmore"],
        shorts: "k",
        longs: &["--lesskey", "--lesskey-content", "--lesskey-src"],
        plus: true,
        ..PLAIN
    },
    Acting {
        programs: &["man", "mandb"],
        shorts: "PHC",
        longs: &["--pager", "--html", "--config-file"],
        harmless: Harmless::Programs(&["cat", "less", "more"]),
        ..PLAIN
    },
    Acting {
        programs: &["bat", "batcat", "delta", "ack", "ag", "mycli", "pgcli", "glow", "aws"],
        longs: &["--pager"],
        harmless: Harmless::Programs(&["cat", "less", "more", "never", "auto"]),
        ..PLAIN
    },
    Acting {
        programs: &["make", "gmake", "bmake", "remake"],
        shorts: "E",
        longs: &["--eval"],
        parts: &[
            "shell:",
            "shell?",
            "shell+",
            "make=",
            "!=",
            "shell=",
            ".shellflags",
            "makeflags=",
            "$(",
            "${",
            "`",
            "/dev/stdin",
            "/dev/fd",
        ],
        ..PLAIN
    },
    Acting { programs: &["make", "gmake", "bmake", "remake"], shorts: "f", longs: &["--file", "--makefile"], ..PLAIN },
    Acting {
        programs: &["ctest"],
        shorts: "SD",
        longs: &["--build-makeprogram", "--test-command", "--build-and-test"],
        ..PLAIN
    },
    Acting { programs: &["cargo"], longs: &["--config"], parts: &["runner=", "linker="], ..PLAIN },
    Acting { programs: &["go"], parts: &["-exec", "-toolexec", "-vettool"], ..PLAIN },
    Acting {
        programs: &["npm", "pnpm", "yarn"],
        longs: &[
            "--browser",
            "--editor",
            "--git",
            "--init-module",
            "--node-options",
            "--script-shell",
            "--shell",
            "--viewer",
        ],
        ..PLAIN
    },
    Acting { programs: &["bazel", "bazelisk", "blaze"], longs: &["--run_under"], ..PLAIN },
    Acting {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        // `@file` is a file with options.
        parts: &["-wrapper", "-specs", "-fplugin", "@"],
        ..PLAIN
    },
    Acting { programs: &["wget"], shorts: "e", longs: &["--execute", "--use-askpass"], ..PLAIN },
    Acting { programs: &["aria2c"], parts: &["--on-"], ..PLAIN },
    Acting {
        programs: &["yt-dlp", "youtube-dl"],
        longs: &["--exec", "--exec-before-download", "--downloader", "--external-downloader", "--netrc-cmd"],
        ..PLAIN
    },
    Acting {
        programs: &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional"],
        shorts: "ec",
        longs: &["--exec", "--sh-exec", "--lua-exec"],
        ..PLAIN
    },
    Acting { programs: &["socat"], parts: &["exec:", "system:", "shell:"], ..PLAIN },
    Acting { programs: &["tcpdump"], shorts: "z", ..PLAIN },
    Acting { programs: &["dpkg"], longs: &["--pre-invoke", "--post-invoke", "--status-logger"], ..PLAIN },
    Acting {
        programs: &["apt", "apt-get", "apt-cache", "aptitude", "apt-mark"],
        shorts: "o",
        longs: &["--option"],
        harmless: Harmless::Without(&[
            "invoke", "hook", "exec", "bin", "dir", "run", "editor", "pager", "proxy", "methods",
        ]),
        ..PLAIN
    },
    Acting {
        programs: &["apt", "apt-get", "apt-cache", "aptitude", "apt-mark"],
        shorts: "c",
        longs: &["--config-file"],
        ..PLAIN
    },
    Acting { programs: &["rpm", "rpmbuild"], shorts: "E", longs: &["--eval", "--pipe", "--define", "--load"], ..PLAIN },
    Acting { programs: &["kubectl", "oc"], longs: &["--exec-command"], ..PLAIN },
    Acting { programs: &["pip", "pip3"], longs: &["--editor"], ..PLAIN },
    Acting { programs: &["pylint"], longs: &["--init-hook", "--load-plugins"], ..PLAIN },
    Acting { programs: &["cloc"], longs: &["--extract-with"], ..PLAIN },
    Acting { programs: &["groff", "troff", "nroff", "gtroff"], shorts: "U", longs: &["--unsafe"], ..PLAIN },
    Acting { programs: &["json_pp"], parts: &["eval"], ..PLAIN },
    Acting { programs: &["cpan"], shorts: "j", ..PLAIN },
    Acting { programs: &["helm"], longs: &["--post-renderer"], ..PLAIN },
    Acting { programs: &["gs"], parts: &["%pipe%"], ..PLAIN },
    Acting { programs: &["psql"], parts: &["\\!", "program", "`", "|", "\\setenv", "\\e"], ..PLAIN },
    Acting {
        programs: &["mysql", "mariadb"],
        longs: &["--pager"],
        parts: &["\\!", "system", "pager", "edit"],
        ..PLAIN
    },
    Acting {
        programs: &["sqlite3"],
        parts: &[".sh", ".sy", ".lo", ".rea", ".onc", ".exc", "edit(", "|", "load_extension", "-init"],
        ..PLAIN
    },
    Acting { programs: &["gpg", "gpg2"], longs: &["--photo-viewer", "--agent-program", "--dirmngr-program"], ..PLAIN },
    Acting { programs: &["fzf", "sk"], longs: &["--preview", "--bind"], parts: &["execute", "become"], ..PLAIN },
    Acting { programs: &["rg"], longs: &["--pre", "--hostname-bin"], ..PLAIN },
    Acting { programs: &["gnuplot"], shorts: "e", parts: &["system", "`"], ..PLAIN },
    Acting { programs: &["ctags", "etags"], parts: &["--_", "--options"], ..PLAIN },
    Acting {
        programs: &["pytest", "py.test"],
        shorts: "p",
        parts: &["--pdbcls", "--debugger"],
        harmless: Harmless::Beginning("no:"),
        ..PLAIN
    },
];

/// Whether an option of a program runs a text, or an unknown word may be such an option.
pub(super) fn acts(program: &str, arguments: &[Word]) -> bool {
    reads_commands(program, arguments)
        || edits(program, arguments)
        || clones(program, arguments)
        // `cmake -E env program`; the letter is part of many names behind `-D`.
        || (program == "cmake" && arguments.iter().any(|word| word.head == "-E" || word.may_be_any()))
        || TABLE
            .iter()
            .filter(|acting| acting.programs.contains(&program))
            .any(|acting| acting.acts(program, arguments))
}

/// Names of the options with which a program runs a text.
pub(super) fn long_options(program: &str) -> impl Iterator<Item = &'static str> {
    TABLE
        .iter()
        .filter(move |acting| acting.programs.contains(&program))
        .flat_map(|acting| acting.longs.iter().copied())
}

/// Editors. They take keys from their input, also where that is no terminal: `:!program`.
const EDITORS: [&str; 19] = [
    "editor",
    "elvis",
    "hx",
    "jed",
    "joe",
    "kak",
    "mcedit",
    "nvi",
    "nvim",
    "rview",
    "rvim",
    "vi",
    "view",
    "vile",
    "vim",
    "vim.basic",
    "vim.nox",
    "vim.tiny",
    "vimdiff",
];

fn edits(program: &str, arguments: &[Word]) -> bool {
    let only_shows = matches!(arguments, [only] if matches!(only.head.as_str(), "--version" | "--help" | "-h"));
    EDITORS.contains(&program) && !only_shows
}

/// Whether a program that clones with `git` is given options for it: `gh repo clone x -- -u program`.
fn clones(program: &str, arguments: &[Word]) -> bool {
    let is_clone = arguments.iter().any(|word| matches!(word.literal.as_deref(), Some("clone" | "fork")));
    let is_option = |word: &Word| ["-u", "-c", "--u", "--c", "--t"].iter().any(|it| word.head.starts_with(it));
    let behind = arguments.iter().skip_while(|word| word.head != "--").skip(1);
    matches!(program, "gh" | "glab" | "hub") && is_clone && behind.into_iter().any(is_option)
}

/// Whether a database client reads its commands from its input. Some of these commands run programs.
fn reads_commands(program: &str, arguments: &[Word]) -> bool {
    let has = |letters: &str, longs: &[&str]| {
        arguments.iter().any(|word| {
            let head = word.head.as_str();
            let is_long = head.starts_with("--") && longs.iter().any(|long| head.starts_with(long));
            is_long
                || (head.starts_with('-')
                    && !head.starts_with("--")
                    && head.contains(|letter| letters.contains(letter)))
        })
    };
    match program {
        "sqlite3" => arguments.iter().filter(|word| !word.head.starts_with('-')).count() < 2,
        "psql" => !has("cflV", &["--command", "--file", "--list", "--version", "--help"]),
        "mysql" | "mariadb" => !has("eV", &["--execute", "--version", "--help"]),
        _ => false,
    }
}

/// Whether the subcommand of `npm` is `test`. Later words may be its options, each with one program or folder as value, but neither another
/// subcommand nor a command with arguments.
fn is_npm_test(word: &Word) -> bool {
    matches!(word.literal.as_deref(), Some("test" | "tst" | "t"))
}

impl Acting {
    fn acts(&self, program: &str, arguments: &[Word]) -> bool {
        if program == "npm" && arguments.first().is_some_and(is_npm_test) {
            return arguments.iter().enumerate().any(|(at, word)| self.is_option(word, arguments.get(at + 1)));
        }
        let first = arguments.first().filter(|_| program.ends_with("tar"));
        // `tar cIf program file`: letters without a dash, followed by their values in the same order.
        let is_bundle = first.is_some_and(|word| !word.head.starts_with('-') && word.head.contains(['I', 'F']));
        is_bundle
            || arguments.iter().enumerate().any(|(at, word)| {
                let next = arguments.get(at + 1);
                self.may_be_any(word) || self.has_part(word) || self.is_plus(word) || self.is_option(word, next)
            })
    }

    /// Whether the word may expand to any words, and so also to such an option.
    fn may_be_any(&self, word: &Word) -> bool {
        let has_options = !self.shorts.is_empty() || !self.longs.is_empty() || self.plus;
        has_options && word.may_be_any()
    }

    fn has_part(&self, word: &Word) -> bool {
        // `make -j"$(nproc)"`: a number of jobs.
        let is_count = word.literal.is_none() && word.head.starts_with("-j");
        !self.parts.is_empty() && !is_count && {
            let text = word.shown().split_whitespace().collect::<String>().to_ascii_lowercase();
            self.parts.iter().any(|part| text.contains(part))
        }
    }

    fn is_plus(&self, word: &Word) -> bool {
        let Some(text) = word.head.strip_prefix('+').filter(|_| self.plus) else { return false };
        let is_place = text.chars().all(|sign| sign.is_ascii_digit()) || text == "G" || text == "F";
        let is_search = text.starts_with('/') && !text.contains(['|', '!', '\n']);
        word.literal.is_none() || !(is_place || is_search)
    }

    fn is_option(&self, word: &Word, next: Option<&Word>) -> bool {
        let Some(option) = word.head.strip_prefix('-') else { return false };
        if option.starts_with('-') {
            let (name, value) =
                word.head.split_once('=').map_or((word.head.as_str(), None), |(name, value)| (name, Some(value)));
            let names = |long: &&str| {
                if word.literal.is_some() || value.is_some() {
                    *long == name || (name.len() > 3 && long.starts_with(name))
                } else {
                    long.starts_with(name) || name.starts_with(*long)
                }
            };
            return self.longs.iter().any(names) && !self.is_harmless(word, value, next);
        }
        let Some(at) = option.find(|letter| self.shorts.contains(letter)) else {
            return word.literal.is_none() && !self.shorts.is_empty();
        };
        let value = option.get(at + 1..).filter(|value| !value.is_empty());
        !self.is_harmless(word, value, next)
    }

    fn is_harmless(&self, word: &Word, attached: Option<&str>, next: Option<&Word>) -> bool {
        let known = |word: &Word| word.literal.is_some();
        let (is_known, value) = match (attached, next) {
            (Some(value), _) => (known(word), value),
            (None, Some(next)) => (known(next), next.head.as_str()),
            (None, None) => (known(word), ""),
        };
        let value = value.trim_start_matches('=');
        let is_plain = is_known && !value.contains([';', '|', '&', '$', '`', '\n', '(', '<', '>']);
        is_plain
            && match self.harmless {
                Harmless::Nothing => false,
                Harmless::Programs(programs) => {
                    let first = value.split_whitespace().next().unwrap_or_default();
                    programs.contains(&first) && !value.to_ascii_lowercase().contains("command")
                }
                Harmless::Beginning(beginning) => value.starts_with(beginning),
                Harmless::Without(parts) => {
                    let value = value.to_ascii_lowercase();
                    !parts.iter().any(|part| value.contains(part))
                }
            }
    }
}
