//! Programs of the shell itself that run, or name, what their words do not show.

use super::script::{SimpleCommand, Unreadable, Word, excerpt, program_name};

/// Builtins that take names of variables, with the option that does: `bash` runs what is substituted in a subscript, however it is quoted.
const NAMING: [(&str, Option<&str>); 14] = [
    ("wait", Some("-p")),
    ("unset", None),
    ("read", None),
    ("getopts", None),
    ("mapfile", None),
    ("readarray", None),
    ("declare", None),
    ("typeset", None),
    ("local", None),
    ("readonly", None),
    ("export", None),
    ("printf", Some("-v")),
    ("test", Some("-v")),
    ("[", Some("-v")),
];

/// Variables that `bash` keeps as numbers: what they are given is calculated, and runs what stands in the subscripts of names.
const NUMBERS: [&str; 22] = [
    "BASHPID",
    "BASH_ARGV0",
    "BASH_COMPAT",
    "BASH_MONOSECONDS",
    "BASH_SUBSHELL",
    "COMP_CWORD",
    "COMP_KEY",
    "COMP_POINT",
    "COMP_TYPE",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "TMOUT",
    "UID",
];

/// Whether a word `name=value` gives such a variable something that is no number, or one that is not told.
fn calculates(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let is_number = !value.is_empty() && value.chars().all(|digit| digit.is_ascii_digit());
    NUMBERS.contains(&name.trim_end_matches('+')) && !is_number
}

fn calculated(text: &str) -> Unreadable {
    let shown = excerpt(text);
    Unreadable::because(format!("`bash` calculates `{shown}`, which runs what stands in subscripts; use another name"))
}

/// Variables whose value a shell runs or reads commands from.
const RUN_VARIABLES: [&str; 7] = ["BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"];

/// Whether the words of a command are all that it reads: some builtins change what later words mean, or run words that are quoted.
pub(super) fn check(command: &SimpleCommand) -> Result<(), Unreadable> {
    if let Some(assignment) = command.assignments.iter().find(|assignment| calculates(assignment)) {
        return Err(calculated(assignment));
    }
    let Some(program) = command.program() else { return Ok(()) };
    let arguments = command.words.get(1..).unwrap_or_default();
    match program {
        "alias" if arguments.iter().any(|word| word.literal.as_deref().is_none_or(|text| text.contains('='))) => {
            Err(Unreadable::because("`alias` changes what the words behind it mean"))
        }
        "declare" | "typeset" | "local" | "readonly" | "export" if arguments.iter().any(is_evaluated) => Err(
            Unreadable::because(format!("`{program}` with these flags runs what stands in the subscripts of values")),
        ),
        "let" => Err(Unreadable::because("`let` runs what stands in subscripts; calculate with `$((…))`")),
        _ => match NAMING.iter().find(|(name, _)| *name == program) {
            Some((_, option)) => check_names(arguments, *option),
            None => Ok(()),
        },
    }
}

/// Whether a flag makes a variable a number or another name, so that what it holds is read again.
fn is_evaluated(word: &Word) -> bool {
    word.head.starts_with(['-', '+']) && (word.literal.is_none() || word.head.contains(['i', 'n']))
}

fn check_names(arguments: &[Word], option: Option<&str>) -> Result<(), Unreadable> {
    let takes_names = option.is_none_or(|option| arguments.iter().any(|word| word.head.starts_with(option)));
    let may_run = |word: &&Word| match &word.literal {
        Some(text) => text.contains('[') && text.contains(['$', '`']),
        // `export NAME=$value` is written out as far as it is a name.
        None => word.head.is_empty() || word.head.contains('['),
    };
    if let Some(word) =
        arguments.iter().find(|word| calculates(word.literal.as_deref().unwrap_or(&word.raw))).filter(|_| takes_names)
    {
        return Err(calculated(&word.raw));
    }
    match arguments.iter().find(may_run).filter(|_| takes_names) {
        Some(word) => Err(Unreadable::because(format!(
            "`{}` may be a name with a subscript, in which commands are run",
            excerpt(&word.raw)
        ))),
        None => Ok(()),
    }
}

/// Ends of names of variables whose value other programs run, or take options from.
const OTHERS_RUN: [&str; 26] = [
    "ASKPASS",
    "BROWSER",
    "COMMAND",
    "DIFF",
    "EDITOR",
    "EXINIT",
    "FLAGS",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LINKER",
    "MAKE",
    "MORE",
    "OPT",
    "OPTIONS",
    "PAGER",
    "PARALLEL",
    "PRELOAD",
    "RSH",
    "RUNNER",
    "SHELL",
    "SSH",
    "VIMINIT",
    "VISUAL",
    "WRAPPER",
    "script_shell",
];

/// Programs that such a variable may name with options, since they only show or edit.
const SHOWING: [&str; 14] =
    ["bat", "cat", "code", "delta", "emacs", "less", "more", "nano", "nvim", "ssh", "true", "vi", "vim", ":"];

/// Whether an assignment gives such a variable a text that is more than the name of a program, or options.
fn is_run_elsewhere(assignment: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    let is_named = OTHERS_RUN.iter().any(|end| name.ends_with(end)) || name.starts_with("GIT_CONFIG_");
    let value = value.trim_matches(['\'', '"']);
    let is_plain = value.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-./:=,+@ ".contains(sign));
    let first = value.split(' ').next().unwrap_or_default();
    let is_harmless = is_plain
        && !value.to_ascii_lowercase().contains("command")
        && (!value.contains(' ') || first.starts_with('-') || SHOWING.contains(&first));
    is_named && !is_harmless
}

impl SimpleCommand {
    /// Whether it sets a variable whose value a shell runs, or another program.
    pub(super) fn sets_run_variable(&self) -> bool {
        let declared = self.words.get(1..).unwrap_or_default().iter().map(|word| word.head.as_str());
        let is_declaration = self.program().is_some_and(|program| {
            matches!(program_name(program), "export" | "declare" | "typeset" | "readonly" | "local" | "env")
        });
        if self.assignments.iter().any(|assignment| is_run_elsewhere(assignment)) {
            return true;
        }
        let words = self.words.get(1..).unwrap_or_default().iter().filter(|_| is_declaration);
        if words.map(|word| word.literal.as_deref().unwrap_or(&word.raw)).any(is_run_elsewhere) {
            return true;
        }
        self.assignments.iter().map(String::as_str).chain(declared.filter(|_| is_declaration)).any(|text| {
            let name = text.split('=').next().unwrap_or_default();
            RUN_VARIABLES.contains(&name) || name.starts_with("BASH_FUNC_")
        })
    }
}
