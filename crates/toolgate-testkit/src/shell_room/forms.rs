//! Programs that run others, as data: their first words, their options, and the position of the inner command.

/// A program that runs another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The program with its fixed first words.
    pub(super) start: &'static str,
    /// Options with which it still runs the inner command. Each may be repeated.
    pub(super) options: &'static [&'static str],
    /// Words between the options and the inner command.
    pub(super) before: &'static str,
    pub(super) body: Body,
    /// Words after the inner command.
    pub(super) after: &'static str,
}

/// Placement of the wrapped command in its wrapper.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    /// As separate words.
    Words,
    /// As one word that a shell parses.
    Text,
    /// As part of one word, at `@`, in another language.
    Inside(&'static str),
}

const fn words(start: &'static str, options: &'static [&'static str]) -> Form {
    Form { start, options, before: "", body: Body::Words, after: "" }
}

const fn text(start: &'static str, options: &'static [&'static str], before: &'static str) -> Form {
    Form { start, options, before, body: Body::Text, after: "" }
}

const fn inside(start: &'static str, before: &'static str, language: &'static str, after: &'static str) -> Form {
    Form { start, options: &[], before, body: Body::Inside(language), after }
}

/// All forms.
pub(super) const FORMS: &[Form] = &[
    words(
        "env",
        &["-i PATH=$PATH", "-u A", "-uA", "--unset=A", "--unset A", "-v", "A=b", "C=", "-C .", "--chdir=.", "--"],
    ),
    text("env", &["-u A", "-v", "-S true", "-S A=b", "-S ''"], "-S"),
    text("env", &["-v"], "--split-string"),
    Form {
        before: "5",
        ..words(
            "timeout",
            &[
                "-k 1",
                "-k1",
                "-s KILL",
                "-sINT",
                "--signal=INT",
                "--signal INT",
                "--foreground",
                "-v",
                "--preserve-status",
            ],
        )
    },
    words("nice", &["-n 5", "-n5", "-5", "--adjustment=5", "--adjustment 5", "--"]),
    words("nohup", &["--"]),
    words("stdbuf -oL", &["-e0", "-i 0", "--error=L", "--error L"]),
    words("setsid -w", &["-w", "--wait"]),
    words("ionice", &["-c3", "-c 3", "-t", "--class idle", "--ignore"]),
    Form { before: "0", ..words("chrt -b", &["-v", "--verbose"]) },
    Form { before: "1", ..words("taskset", &["-a"]) },
    words("choom -n 5", &["-n 6", "--adjust 7", "--"]),
    words("time", &["-p"]),
    words("command", &["-p", "--"]),
    words("exec", &["-a n", "-c", "-l", "--"]),
    words("eval", &["--", "''"]),
    text("eval", &["--", "''", "true;"], ""),
    words("builtin command", &["-p"]),
    words("unshare", &["-r", "-U", "-n", "-w .", "--wd=.", "--map-root-user", "--"]),
    Form { before: "/", ..words("chroot", &["--skip-chdir"]) },
    words("setpriv --nnp", &["--no-new-privs", "--pdeathsig keep", "--"]),
    words("prlimit -n64", &["-c0", "--core=0"]),
    words("setarch x86_64", &["-R", "--addr-no-randomize"]),
    words("linux64", &["-R"]),
    words("ssh-agent", &["-t 5", "-s", "--"]),
    words("logsave", &["-a", "-s"]),
    words("logsave out", &[]),
    Form { before: "l", ..words("flock", &["-n", "-w 1", "-w1", "-x", "-s", "-E 3", "-o", "--timeout 1", "-F"]) },
    text("flock", &["-n", "-w 1", "-o"], "l -c"),
    Form {
        after: "out",
        ..text("script", &["-q", "-e", "-f", "-a", "-c true", "-c 'true x'", "-E never", "--return"], "-c")
    },
    text("script -q out", &["-e", "-q"], "-c"),
    text("script -q", &["-e"], "out --command"),
    text("sh", &["-e", "+e", "-u", "-o errexit"], "-c"),
    text("bash", &["-e", "-o pipefail", "-O extglob", "--norc", "--posix", "--noprofile", "-l"], "-c"),
    text("sh", &["-e", "-c"], "-c --"),
    Form { after: "x y", ..text("sh", &["-e"], "-c") },
    words("sh -c '\"$@\"' x", &[]),
    words("sh -c '$0 \"$@\"'", &[]),
    Form {
        before: "-exec",
        after: "\\;",
        ..words("find a", &["-name a", "-true", "! -false", "-print", "-type f", "-false -o"])
    },
    Form { before: "-execdir", after: "{} +", ..words("find a", &["-name a", "-print", "-exec true {} \\;"]) },
    Form { before: "$X", after: "\\;", ..words("X=-exec; find a", &["-name a"]) },
    Form { before: "-exec sh -c", after: "\\;", ..text("find a", &["-true"], "") },
    words(
        "echo z | xargs",
        &[
            "-n1",
            "-n 1",
            "-L1",
            "-I%",
            "-I %",
            "-i",
            "-t",
            "-r",
            "-P 2",
            "--replace=%",
            "-E q",
            "-d '\\n'",
            "-s 900",
            "--",
        ],
    ),
    Form { before: "a", ..text("split", &["-l 1", "-b 1", "-a 3", "--filter=true"], "--filter") },
    text("trap", &["--"], ""),
    inside("sed", "", "1e @", "a"),
    inside("sed -n", "-e", "s/1/@/e", "a"),
    inside("awk", "", "BEGIN{system(\"@\")}", ""),
    inside("awk", "", "BEGIN{print | \"@\"}", ""),
    inside("perl", "-e", "system \"@\"", ""),
    inside("python3", "-c", "import os; os.system(\"@\")", ""),
    inside("make", "--eval", "x:;@", ""),
    inside("tar cf o.tar --checkpoint=1", "", "--checkpoint-action=exec=@", "a"),
    inside("tar cf o.tar", "-I", "@", "a"),
    inside("ssh", "-o", "ProxyCommand=@", "localhost"),
    inside("scp", "-o", "ProxyCommand @", "a localhost:b"),
    inside("git", "-c", "alias.x=!@", "x"),
];

/// Texts around a command at `@`.
pub(super) const LISTS: [&str; 30] = [
    "true; @",
    "true && @",
    "false || @",
    "@ | cat",
    "true | @",
    "( @ )",
    "{ @; }",
    "@ > out 2>&1",
    "! @",
    "if true; then @; fi",
    "for i in 1; do @; done",
    "while @; do break; done",
    "case a in a) @;; esac",
    "f() { @; }; f",
    "echo $(@)",
    "echo \"$(@)\"",
    ": \"${X:-$(@)}\"",
    "Y=$(@)",
    "cat <<E\n$(@)\nE",
    "cat <<E\nx\nE\n@",
    "[ -n \"$(@)\" ]",
    "true # x\n@",
    "X=; @",
    "A=b @",
    "@ <a",
    "echo x >out; @",
    "cd d; @",
    "set -- ; @",
    "true\n@",
    "sh <<'E'\n@\nE",
];

/// Texts around a quoted command. Some only contain it as data.
pub(super) const TEXT_HOLDERS: [&str; 16] = [
    "echo @",
    ": @",
    "printf %s @",
    "x=@; eval \"$x\"",
    "x=@; eval $x",
    "x=@; $x",
    "x=@; sh -c \"$x\"",
    "x=@ sh -c 'eval \"$x\"'",
    "echo @ | sh",
    "echo @ > f; sh f",
    "echo @ > f; . ./f",
    "trap @ EXIT",
    "eval @",
    "for x in @; do eval \"$x\"; done",
    "set -- @; eval \"$1\"",
    "grep @ a",
];
