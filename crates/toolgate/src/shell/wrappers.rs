//! Programs that run other commands: what they run is looked at like everything else.

use super::reading::{Around, add, read_into};
use super::runners::runs_words;
use super::script::{SimpleCommand, Unreadable, Word, Wrapping, excerpt, program_name};
use super::words::is_assignment;
use super::wrapper_options::{Before, WRAPPERS, Wrapper};
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
}

impl Inner {
    fn of(wrapping: Wrapping, runs: Vec<Run>) -> Self {
        Self { wrapping, assignments: Vec::new(), runs, runs_unseen: false }
    }

    /// What its words do not tell.
    fn unseen(runs: Vec<Run>) -> Self {
        Self { runs_unseen: true, ..Self::of(Wrapping::Opaque, runs) }
    }
}

#[derive(Debug)]
enum Run {
    /// A program and its words.
    Words(Vec<Word>),
    /// A text that a shell reads.
    Text(String),
}

/// Adds what the command at `at` runs behind it.
pub(super) fn look_through(at: usize, around: &Around, found: &mut Vec<SimpleCommand>) -> Result<(), Unreadable> {
    let Some(command) = found.get_mut(at) else { return Ok(()) };
    command.runs_unseen = command.sets_run_variable();
    let Some(inner) = inner(&command.words)? else { return Ok(()) };
    // A program of that name from some folder may do anything.
    let program = command.words.first().map(|word| word.raw.as_str()).unwrap_or_default();
    let is_the_one =
        command.program() == Some(program) && !program.contains(|letter: char| letter.is_ascii_uppercase());
    command.wrapping = if is_the_one { inner.wrapping } else { Wrapping::Opaque };
    command.runs_unseen |= inner.runs_unseen;
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
        words,
    }
}

fn inner(words: &[Word]) -> Result<Option<Inner>, Unreadable> {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    let Some(program) = program.literal.as_deref() else { return Ok(None) };
    let name = program_name(program).to_ascii_lowercase();
    let opaque = |runs: Vec<Run>| (!runs.is_empty()).then(|| Inner::of(Wrapping::Opaque, runs));
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
        "su" | "runuser" => Ok(Some(or_unseen(text(user_text(&name, arguments)?)))),
        "find" => Ok(opaque(found_files(arguments))),
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => wrapped(wrapper, arguments),
            None => Ok(runs_words(&name, arguments).then(|| Inner::unseen(Vec::new()))),
        },
    }
}

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
        Some(text) => Inner::of(wrapping, vec![Run::Text(text)]),
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
        "env" => env_runs(&before, rest)?,
        "xargs" => xargs_runs(&before, rest),
        "parallel" => parallel_runs(rest)?,
        "watch" => joined("watch", rest)?.map(Run::Text).into_iter().collect(),
        "ssh" => ssh_runs(wrapper, &before, rest)?,
        "flock" => flock_runs(rest)?,
        "script" | "npx" | "bunx" => text_and_words(&before, rest),
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
        || (wrapper.name == "env" && before.value(&["C", "chdir"]).is_some());
    let wrapping = if does_more { Wrapping::Opaque } else { wrapper.wrapping };
    Ok(Some(Inner { assignments, ..Inner::of(wrapping, runs) }))
}

fn not_literal(wrapper: &str) -> Unreadable {
    Unreadable::because(format!("what `{wrapper}` runs is only known when it runs; write it out"))
}

fn after_dashes(words: &[Word]) -> &[Word] {
    match words.split_first() {
        Some((first, rest)) if first.literal.as_deref() == Some("--") => rest,
        _ => words,
    }
}

/// Words that are put together with blanks and read again; `None` when there are none.
fn joined(wrapper: &str, words: &[Word]) -> Result<Option<String>, Unreadable> {
    let literals: Option<Vec<&str>> = words.iter().map(|word| word.literal.as_deref()).collect();
    let text = literals.ok_or_else(|| not_literal(wrapper))?.join(" ");
    Ok((!text.trim().is_empty()).then_some(text))
}

/// The text behind `-c`.
fn shell_text(shell: &str, arguments: &[Word]) -> Result<Option<String>, Unreadable> {
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
            takes_text |= text.starts_with('-') && letters.contains('c');
            for _ in letters.chars().filter(|letter| letter.eq_ignore_ascii_case(&'o')) {
                words.next();
            }
        } else {
            return Ok(takes_text.then(|| text.to_owned()));
        }
    }
    match words.next() {
        _ if !takes_text => Ok(None),
        Some(Word { literal: Some(text), .. }) => Ok(Some(text.clone())),
        _ => Err(not_literal(shell)),
    }
}

fn cmd_text(arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    let is_switch = |word: &Word| {
        word.literal.as_deref().is_some_and(|text| matches!(text, "/c" | "/C" | "/k" | "/K" | "//c" | "//C"))
    };
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

/// What a signal runs: `trap 'text' INT`.
fn trap_text(arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    match after_dashes(arguments) {
        [] | [_] => Ok(None),
        [action, ..] => match action.literal.as_deref() {
            None => Err(not_literal("trap")),
            Some("" | "-" | "-p" | "-l" | "-lp") => Ok(None),
            Some(text) => Ok(Some(text.to_owned())),
        },
    }
}

/// What another user runs: `su -c 'text' user`.
fn user_text(wrapper: &str, arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal.as_deref() else { return Err(not_literal(wrapper)) };
        if let Some((_, value)) =
            text.split_once('=').filter(|(name, _)| matches!(*name, "--command" | "--session-command"))
        {
            return Ok(Some(value.to_owned()));
        }
        let is_cluster = text.starts_with('-') && !text.starts_with("--") && text.contains('c');
        if is_cluster && !text.ends_with('c') {
            return Err(Unreadable::because(format!("what `{wrapper}` runs cannot be told: write `-c` on its own")));
        }
        if is_cluster || matches!(text, "--command" | "--session-command") {
            let value = words.next().and_then(|word| word.literal.clone());
            return value.map(Some).ok_or_else(|| not_literal(wrapper));
        }
        if wrapper == "runuser" && text == "-u" {
            return joined(wrapper, after_dashes(words.as_slice().get(1..).unwrap_or_default()));
        }
    }
    Ok(None)
}

/// What `find` runs for what it finds.
fn found_files(arguments: &[Word]) -> Vec<Run> {
    let is = |word: &Word, texts: &[&str]| word.literal.as_deref().is_some_and(|text| texts.contains(&text));
    let mut runs = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| is(word, &["-exec", "-execdir", "-ok", "-okdir"])) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| is(word, &[";", "+"])).unwrap_or(rest.len());
        let words: Vec<Word> = rest.iter().take(end).map(|word| replaced(word, "{}")).collect();
        if !words.is_empty() {
            runs.push(Run::Words(words));
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    runs
}

/// A word in which a wrapper puts something else in the place of `mark`.
fn replaced(word: &Word, mark: &str) -> Word {
    let Some((head, _)) = word.literal.as_deref().and_then(|text| text.split_once(mark)) else { return word.clone() };
    Word { raw: word.raw.clone(), literal: None, head: head.to_owned(), may_split: true }
}

/// `env -S 'program words'`: split like a shell does, but not read by one.
fn env_runs(before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let Some(text) = before.value(&["S", "split-string"]) else {
        return Ok(if rest.is_empty() { Vec::new() } else { vec![Run::Words(rest.to_vec())] });
    };
    let split = shlex::split(text).filter(|_| !text.contains(['$', '\\', '#'])).ok_or_else(|| not_literal("env -S"))?;
    // As arguments of another `env`, which is what they are.
    let words = std::iter::once("env".to_owned())
        .chain(split)
        .map(|text| Word::plain(&text, &text))
        .chain(rest.iter().cloned());
    Ok(vec![Run::Words(words.collect())])
}

/// `xargs program words`, with words behind them that it reads.
fn xargs_runs(before: &Before, rest: &[Word]) -> Vec<Run> {
    if rest.is_empty() {
        return Vec::new();
    }
    let mark = before.value(&["I", "i", "J", "replace"]).map(|mark| if mark.is_empty() { "{}" } else { mark });
    let words = match mark {
        Some(mark) => rest.iter().map(|word| replaced(word, mark)).collect(),
        None => rest.iter().cloned().chain([Word::unknown("")]).collect(),
    };
    vec![Run::Words(words)]
}

/// `parallel 'text' ::: words`: the text is read by a shell, with the words in the place of `{}` or behind it.
fn parallel_runs(rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let end = rest.iter().position(|word| word.literal.as_deref().is_some_and(|text| text.starts_with(":::")));
    let text = joined("parallel", rest.get(..end.unwrap_or(rest.len())).unwrap_or_default())?;
    let text = text.ok_or_else(|| Unreadable::because("what `parallel` runs is only known when it runs"))?;
    // `{,}` is a word that the reader does not take for a literal one.
    Ok(vec![Run::Text(text.replace("{}", "{,}") + " {,}")])
}

/// `ssh host text`, and what its options run here.
fn ssh_runs(wrapper: &Wrapper, before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let behind = wrapper.options(rest)?;
    let local = before.options.iter().chain(&behind.options).filter_map(|(name, value)| {
        let (key, text) = value.as_deref().filter(|_| name == "o")?.split_once(['=', ' '])?;
        key.trim().to_ascii_lowercase().ends_with("command").then(|| Run::Text(text.trim().to_owned()))
    });
    let mut runs: Vec<Run> = local.collect();
    runs.extend(joined("ssh", rest.get(behind.length..).unwrap_or_default())?.map(Run::Text));
    Ok(runs)
}

/// `flock file program words`, and `flock file -c text`.
fn flock_runs(rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    match rest {
        [] => Ok(Vec::new()),
        [option, text, ..] if matches!(option.literal.as_deref(), Some("-c" | "--command")) => {
            text.literal.clone().map(|text| vec![Run::Text(text)]).ok_or_else(|| not_literal("flock"))
        }
        words => Ok(vec![Run::Words(words.to_vec())]),
    }
}

/// `-c text`, and words besides.
fn text_and_words(before: &Before, rest: &[Word]) -> Vec<Run> {
    let text = before.value(&["c", "command", "call"]).map(|text| Run::Text(text.to_owned()));
    let words = Some(after_dashes(rest)).filter(|rest| !rest.is_empty()).map(|rest| Run::Words(rest.to_vec()));
    text.into_iter().chain(words).collect()
}
