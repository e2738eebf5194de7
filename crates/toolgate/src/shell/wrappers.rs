//! Programs that run other commands: what they run is looked at like everything else.

use super::acting::acts;
use super::doubt;
use super::inline::runs_code;
use super::reading::{Around, add, read_into};
use super::runners::runs_words;
use super::runs::{
    Run, after_dashes, flock_runs, found_files, joined, not_literal, npx_runs, parallel_runs, script_runs,
    split_string, ssh_runs, trap_text, user_runs, watch_runs, xargs_runs,
};
use super::script::{SimpleCommand, Unreadable, Word, Wrapping, excerpt, program_name};
use super::words::is_assignment;
use super::wrapper_options::{WRAPPERS, Wrapper};
use crate::limits::SHELL_WRAPPERS_MAX;

/// What a command runs.
#[derive(Debug)]
struct Inner {
    wrapping: Wrapping,
    /// Assignments of its own: `env A=b …`.
    assignments: Vec<String>,
    runs: Vec<Run>,
    /// Whether it runs something else besides.
    runs_unseen: bool,
    /// Additional arguments of the inner command that may form a command.
    besides: Vec<Word>,
}

impl Inner {
    fn of(wrapping: Wrapping, runs: Vec<Run>) -> Self {
        Self { wrapping, assignments: Vec::new(), runs, runs_unseen: false, besides: Vec::new() }
    }

    /// What its words do not tell.
    fn unseen(runs: Vec<Run>) -> Self {
        Self { runs_unseen: true, ..Self::of(Wrapping::Opaque, runs) }
    }
}

/// Adds what the command at `at` runs behind it.
pub(super) fn look_through(at: usize, around: &Around, found: &mut Vec<SimpleCommand>) -> Result<(), Unreadable> {
    let Some(command) = found.get_mut(at) else { return Ok(()) };
    command.runs_unseen = command.sets_run_variable();
    let Some(mut inner) = inner(&command.words)? else {
        doubt::note(command, None);
        return Ok(());
    };
    // A program of that name from some folder may do anything.
    let program = command.words.first().map(|word| word.raw.as_str()).unwrap_or_default();
    let is_the_one =
        command.program() == Some(program) && !program.contains(|letter: char| letter.is_ascii_uppercase());
    command.wrapping = if is_the_one { inner.wrapping } else { Wrapping::Opaque };
    command.runs_unseen |= inner.runs_unseen;
    doubt::note(command, Some(&std::mem::take(&mut inner.besides)));
    if inner.runs.is_empty() {
        return Ok(());
    }
    let wrappers = around.wrappers + 1;
    if wrappers > SHELL_WRAPPERS_MAX {
        return Err(Unreadable::because(format!("more than {SHELL_WRAPPERS_MAX} programs run one another in it")));
    }
    let assignments = command.assignments.iter().cloned().chain(inner.assignments).collect();
    let wrapper = command.words.first().map(|word| word.raw.clone()).unwrap_or_default();
    let around = Around { assignments, is_redirected: command.is_redirected, wrappers };
    for run in inner.runs {
        match run {
            Run::Words(words) => add(of_words(words, &around), &around, found),
            Run::Text(text) => read_into(&text, &around, found),
        }
        .map_err(|unreadable| within(&wrapper, &unreadable))?;
    }
    Ok(())
}

fn within(wrapper: &str, inner: &Unreadable) -> Unreadable {
    let shown = excerpt(wrapper);
    Unreadable::because(format!("what `{shown}` runs cannot be told: {}", inner.why))
}

fn of_words(words: Vec<Word>, around: &Around) -> SimpleCommand {
    let raws = words.iter().map(|word| word.raw.as_str()).filter(|raw| !raw.is_empty());
    let text: Vec<&str> = around.assignments.iter().map(String::as_str).chain(raws).collect();
    SimpleCommand {
        text: text.join(" "),
        assignments: around.assignments.clone(),
        is_redirected: around.is_redirected,
        wrapping: Wrapping::Nothing,
        runs_unseen: false,
        doubts: Vec::new(),
        words,
    }
}

fn inner(words: &[Word]) -> Result<Option<Inner>, Unreadable> {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    let Some(program) = program.literal.as_deref() else { return Ok(None) };
    let name = plain_name(program);
    let text = |text: Option<String>| text.map(Run::Text).into_iter().collect::<Vec<_>>();
    let transparent = |text: Option<String>| text.map(|text| Inner::of(Wrapping::Transparent, vec![Run::Text(text)]));
    match name.as_str() {
        "sh" | "bash" | "dash" | "ash" => shell_runs(&name, arguments, Wrapping::Transparent),
        "rbash" | "ksh" | "ksh93" | "rksh" | "mksh" | "lksh" | "oksh" | "posh" | "yash" => {
            shell_runs(&name, arguments, Wrapping::Opaque)
        }
        // Their language is another one, so that what is found in it may not be all of it.
        "zsh" | "fish" | "csh" | "tcsh" | "nu" | "elvish" | "xonsh" | "osh" => {
            Ok(shell_runs(&name, arguments, Wrapping::Opaque)?.map(|inner| Inner::unseen(inner.runs)))
        }
        "cmd" => Ok(Some(or_unseen(text(cmd_text(arguments)?)))),
        "powershell" | "pwsh" => Ok(Some(or_unseen(text(powershell_text(arguments)?)))),
        "eval" => Ok(transparent(joined("eval", after_dashes(arguments))?)),
        "trap" => Ok(transparent(trap_text(arguments)?)),
        "." | "source" => Ok(Some(Inner::unseen(Vec::new()))),
        "su" | "runuser" => Ok(Some(or_unseen(user_runs(&name, arguments)?))),
        "find" => {
            let found = found_files(arguments);
            let runs_any = found.may_run || !found.runs.is_empty();
            let inner = Inner { runs_unseen: found.may_run, ..Inner::of(Wrapping::Opaque, found.runs) };
            Ok(runs_any.then_some(inner))
        }
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => wrapped(wrapper, arguments),
            None => {
                let is_unseen = runs_words(&name, arguments) || acts(&name, arguments) || runs_code(&name, arguments);
                Ok(is_unseen.then(|| Inner::unseen(Vec::new())))
            }
        },
    }
}

/// The name of a program in the tables: without its folder, and without the `g` that some systems put before GNU programs.
pub(super) fn plain_name(program: &str) -> String {
    let name = program_name(program).to_ascii_lowercase();
    match name.strip_prefix('g') {
        Some(plain) if GNU.contains(&plain) => plain.to_owned(),
        _ => name,
    }
}

/// Programs that some systems install as `genv`, `gtimeout` and so on.
const GNU: [&str; 17] = [
    "awk", "chroot", "env", "find", "make", "nice", "nohup", "parallel", "sed", "sort", "split", "stdbuf", "tar",
    "time", "timeout", "xargs", "install",
];

/// What runs, or else what is read from input or a file.
fn or_unseen(runs: Vec<Run>) -> Inner {
    if runs.is_empty() { Inner::unseen(runs) } else { Inner::of(Wrapping::Opaque, runs) }
}

/// What a shell runs: the text it is given, or else what it reads from its input or from a file.
fn shell_runs(shell: &str, arguments: &[Word], wrapping: Wrapping) -> Result<Option<Inner>, Unreadable> {
    if let [Word { literal: Some(only), .. }] = arguments
        && matches!(only.as_str(), "--help" | "--version")
    {
        return Ok(None);
    }
    Ok(Some(match shell_text(shell, arguments)? {
        Some((text, besides)) => Inner { besides: besides.to_vec(), ..Inner::of(wrapping, vec![Run::Text(text)]) },
        None => Inner::unseen(Vec::new()),
    }))
}

/// The words of a wrapper that takes options and operands before its command.
fn wrapped(wrapper: &Wrapper, arguments: &[Word]) -> Result<Option<Inner>, Unreadable> {
    let before = wrapper.options(arguments)?;
    if before.stops {
        return Ok(None);
    }
    let mut rest = arguments.get(before.length..).unwrap_or_default();
    for _ in 0..wrapper.operands {
        let Some((operand, others)) = rest.split_first() else { break };
        let is_known =
            operand.literal.as_deref().is_some_and(|text| wrapper.name != "chrt" || text.parse::<u8>().is_ok());
        if !is_known {
            return Err(not_literal(wrapper.name));
        }
        rest = others;
    }
    if let Some(text) = before.values(&["S", "split-string"]).next().filter(|_| wrapper.name == "env") {
        let wrapping =
            if before.values(&["C", "chdir"]).next().is_some() { Wrapping::Opaque } else { wrapper.wrapping };
        return Ok(Some(Inner::of(wrapping, vec![split_string(text, rest)?])));
    }
    let mut assignments = Vec::new();
    while let Some((first, others)) = rest.split_first()
        && wrapper.assigns
        && (is_assignment(&first.head) || (matches!(wrapper.name, "env" | "sudo") && first.head.contains('=')))
    {
        // Whether it is one cannot be told by its name: `env =x rm y` runs `rm`.
        if wrapper.name == "sudo" && !is_assignment(&first.head) {
            return Err(not_literal(wrapper.name));
        }
        assignments.push(first.raw.clone());
        rest = others;
    }
    let runs = match wrapper.name {
        "xargs" => xargs_runs(&before, rest),
        "parallel" => parallel_runs(rest)?,
        "watch" => watch_runs(&before, rest)?,
        "ssh" => ssh_runs(wrapper, &before, rest)?,
        "flock" => flock_runs(rest)?,
        "script" => script_runs(wrapper, &before, rest)?,
        "npx" | "bunx" => npx_runs(wrapper, &before, rest)?,
        "time" if rest.is_empty() => return Err(not_literal("time")),
        _ if rest.is_empty() => Vec::new(),
        _ => vec![Run::Words(rest.to_vec())],
    };
    if runs.is_empty() {
        // Without a command they run a shell, which reads its input.
        let runs_shell = wrapper.wrapping == Wrapping::Opaque && !matches!(wrapper.name, "xargs" | "flock");
        return Ok(runs_shell.then(|| Inner::unseen(runs)));
    }
    // A file is written besides, a shell takes the option for the program, or it runs in another folder.
    let does_more = (wrapper.name == "time" && before.options.iter().any(|(name, _)| name != "p"))
        || (wrapper.name == "env" && before.values(&["C", "chdir"]).next().is_some());
    let wrapping = if does_more { Wrapping::Opaque } else { wrapper.wrapping };
    let besides = if wrapper.name == "parallel" { rest.to_vec() } else { Vec::new() };
    let runs_unseen = wrapper.name == "script" && runs.iter().any(Run::takes_keys);
    Ok(Some(Inner { assignments, besides, runs_unseen, ..Inner::of(wrapping, runs) }))
}

/// Long options that `bash` also accepts after a single dash: `bash -rcfile x -c y` runs `y`.
const SHELL_LONG: [&str; 17] = [
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "protected",
    "rcfile",
    "restricted",
    "verbose",
    "version",
];

/// The text after `-c`, and the words after that.
fn shell_text<'a>(shell: &str, arguments: &'a [Word]) -> Result<Option<(String, &'a [Word])>, Unreadable> {
    const LONG_FLAGS: [&str; 8] =
        ["--login", "--noprofile", "--norc", "--posix", "--restricted", "--verbose", "--noediting", "--help"];
    let mut takes_text = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal.as_deref() else { return Err(not_literal(shell)) };
        if text == "-" || text == "--" {
            break;
        }
        if text.starts_with("--") {
            if !LONG_FLAGS.contains(&text) {
                return Err(Unreadable::because(format!(
                    "what `{shell}` runs cannot be told: `{text}` is not understood"
                )));
            }
        } else if let Some(letters) = text.strip_prefix('-').or_else(|| text.strip_prefix('+')) {
            if SHELL_LONG.contains(&letters) {
                return Err(Unreadable::because(format!("what `{shell}` runs cannot be told: write `-{text}`")));
            }
            takes_text |= text.starts_with('-') && letters.contains('c');
            for _ in letters.chars().filter(|letter| letter.eq_ignore_ascii_case(&'o')) {
                words.next();
            }
        } else {
            return Ok(takes_text.then(|| (text.to_owned(), words.as_slice())));
        }
    }
    match words.next() {
        _ if !takes_text => Ok(None),
        Some(Word { literal: Some(text), .. }) => Ok(Some((text.clone(), words.as_slice()))),
        _ => Err(not_literal(shell)),
    }
}

fn cmd_text(arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    let is_switch = |word: &Word| {
        word.literal.as_deref().is_some_and(|text| matches!(text, "/c" | "/C" | "/k" | "/K" | "//c" | "//C"))
    };
    // `/cprogram` and `/r` are the same switch.
    let is_close = |word: &&Word| {
        let text = word.literal.as_deref().unwrap_or_default().trim_start_matches('/').to_ascii_lowercase();
        word.head.starts_with('/') && !is_switch(word) && text.starts_with(['c', 'k', 'r'])
    };
    if let Some(word) = arguments.iter().take_while(|word| !is_switch(word)).find(is_close) {
        return Err(Unreadable::because(format!(
            "what `cmd` runs cannot be told: `{}` is not understood",
            excerpt(&word.raw)
        )));
    }
    match arguments.iter().position(is_switch) {
        Some(at) => joined("cmd", arguments.get(at + 1..).unwrap_or_default()),
        None if arguments.iter().any(|word| word.literal.is_none()) => Err(not_literal("cmd")),
        None => Ok(None),
    }
}

fn powershell_text(arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    const FLAGS: [&str; 7] = ["noprofile", "nologo", "noninteractive", "noexit", "sta", "mta", "login"];
    const VALUED: [&str; 6] =
        ["executionpolicy", "inputformat", "outputformat", "windowstyle", "workingdirectory", "version"];
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let Some(text) = word.literal.as_deref() else { return Err(not_literal("powershell")) };
        let Some(option) = text.strip_prefix(['-', '/']).map(str::to_ascii_lowercase) else {
            return joined("powershell", arguments.get(at - 1..).unwrap_or_default());
        };
        if option == "c" || (option.starts_with("com") && "command".starts_with(&option)) {
            return joined("powershell", arguments.get(at..).unwrap_or_default());
        }
        if "file".starts_with(&option) {
            return Ok(None);
        }
        if VALUED.iter().any(|known| known.starts_with(&option)) && !option.starts_with('e')
            || option.starts_with("ex")
            || option == "ep"
        {
            at += 1;
        } else if !FLAGS.iter().any(|known| known.starts_with(&option)) {
            return Err(Unreadable::because(format!(
                "what `powershell` runs cannot be told: `{text}` is not understood"
            )));
        }
    }
    Ok(None)
}
