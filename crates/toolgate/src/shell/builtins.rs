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

/// Integer variables of `bash`. Values given to them are evaluated as arithmetic, which runs commands in subscripts.
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

/// Whether a word `name=value` assigns such a variable an unknown value, or one that is not a number.
fn calculates(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let is_number = !value.is_empty() && value.chars().all(|digit| digit.is_ascii_digit());
    NUMBERS.contains(&name.trim_end_matches('+')) && !is_number
}

fn calculated(text: &str) -> Unreadable {
    let shown = excerpt(text);
    Unreadable::because(format!("`bash` evaluates `{shown}`, which runs commands in subscripts; use another name"))
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
        Some(text) if COMMAND_TABLES.iter().any(|table| text.starts_with(table)) => true,
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

/// Variables of `bash` that say which program or text a name stands for.
const COMMAND_TABLES: [&str; 2] = ["BASH_ALIASES", "BASH_CMDS"];

/// Builtins that set a variable without an assignment.
const SETTING: [&str; 5] = ["read", "getopts", "mapfile", "readarray", "printf"];

/// Whether a word may be the variable that says where programs are looked for.
fn sets_path(command: &SimpleCommand) -> bool {
    let is_setting = command.program().is_some_and(|program| SETTING.contains(&program));
    is_setting && command.words.iter().skip(1).any(|word| matches!(word.literal.as_deref(), Some("PATH" | "-vPATH")))
}

/// Whether a test or `printf` may get an option, and a name with a subscript, from elsewhere in the text: `set -- -v 'a[$(…)]'`.
pub(super) fn check_together(text: &str, commands: &[SimpleCommand]) -> Result<(), Unreadable> {
    if !has_running_subscript(text) {
        return Ok(());
    }
    let is_open = |word: &Word| word.literal.is_none() && "-v".starts_with(word.head.get(..2).unwrap_or(&word.head));
    // The name in a subscript is calculated like the rest: `x='b[$(…)]'; read 'a[x]'`. It may also be put together.
    let is_calculated = |word: &Word| match &word.literal {
        Some(text) => text
            .split_once('[')
            .is_some_and(|(_, inner)| inner.contains(|sign: char| sign.is_ascii_alphabetic() || sign == '_')),
        None => !word.head.is_empty() && !word.head.contains(['=', '%', '/', ' ']),
    };
    let takes_any = |command: &&SimpleCommand| {
        let arguments = || command.words.iter().skip(1);
        let naming = command.program().and_then(|program| NAMING.iter().find(|(name, _)| *name == program));
        naming.is_some_and(|(_, option)| match option {
            Some(option) => {
                arguments().any(is_open)
                    || (arguments().any(|word| word.head.starts_with(option)) && arguments().any(is_calculated))
            }
            None => arguments().any(is_calculated),
        })
    };
    match commands.iter().find(takes_any) {
        Some(command) => Err(Unreadable::because(format!(
            "`{}` may be given a name with a subscript, in which commands are run",
            excerpt(&command.text)
        ))),
        None => Ok(()),
    }
}

/// Whether a text has a subscript with a substitution. Quotes and backslashes may split it.
fn has_running_subscript(text: &str) -> bool {
    let text = text.replace(['\\', '\'', '"'], "");
    let is_letter = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    // A test has a blank behind the bracket. Without the name before it, a subscript may be put together later.
    let mut begins = text.match_indices('[').filter(|(at, _)| {
        text.get(..*at).is_some_and(|it| it.ends_with(is_letter))
            || text.get(*at + 1..).is_some_and(|it| !it.starts_with(|sign: char| sign.is_whitespace() || sign == '['))
    });
    begins.any(|(at, _)| {
        let mut depth = 0_usize;
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.char_indices().find(|(_, sign)| {
            depth = match sign {
                '[' => depth + 1,
                ']' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        });
        let inner = end.map_or(rest, |(length, _)| rest.get(..length).unwrap_or_default());
        inner.contains("$(")
            || inner.contains("$ (")
            || inner.contains('`')
            || inner.contains("${")
            || inner.ends_with('$')
    })
}

/// Suffixes of variables with a value that other programs run, or take options from.
const OTHERS_RUN: [&str; 28] = [
    "ASKPASS",
    "BROWSER",
    "COMMAND",
    "DIFF",
    "EDITOR",
    "EXINIT",
    "FLAGS",
    "GREP",
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
    "PROG",
    "RSH",
    "RUNNER",
    "SHELL",
    "SSH",
    "VIMINIT",
    "VISUAL",
    "WRAPPER",
    "script_shell",
];

/// Programs that such a variable may name with options, because they only show or edit.
const SHOWING: [&str; 14] =
    ["bat", "cat", "code", "delta", "emacs", "less", "more", "nano", "nvim", "ssh", "true", "vi", "vim", ":"];

/// Whether an assignment sets such a variable to more than the name of a program, or to options.
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

/// Variables with files or folders from which programs load code.
const LEADING: [&str; 27] = [
    "APT_CONFIG",
    "BUNDLE_GEMFILE",
    "CLASSPATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "GCONV_PATH",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LUA_INIT",
    "MAKEFILES",
    "NODE_PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERLLIB",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "RUBYLIB",
    "ZDOTDIR",
];

/// Variables with options for interpreters.
const INTERPRETER_OPTIONS: [&str; 7] =
    ["BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "_JAVA_OPTIONS"];

/// Options of interpreters that load a file.
const LOADING_OPTIONS: [&str; 9] =
    ["--require", "--import", "--loader", "--experimental-loader", "--preload", "-javaagent", "-agent", "-r", "-M"];

/// Whether an assignment makes programs run code from files. The files are not read.
fn leads_to_files(assignment: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    let (name, value) = (name.trim_end_matches('+'), value.replace(['\'', '"'], ""));
    if INTERPRETER_OPTIONS.contains(&name) {
        // Letters may stand before the one that names a module: `-wMf`, and the dash may be left out.
        let is_perl_module =
            |piece: &str| name == "PERL5OPT" && !piece.starts_with("--") && piece.contains(['M', 'm', 'd']);
        let is_ruby_library = |piece: &str| {
            name == "RUBYOPT" && !piece.starts_with("--") && !piece.starts_with("-W") && piece.contains('r')
        };
        let loads = |piece: &str| {
            LOADING_OPTIONS.iter().any(|option| piece.starts_with(option))
                || is_perl_module(piece)
                || is_ruby_library(piece)
        };
        return value.split_whitespace().any(loads);
    }
    if name == "PATH" {
        // An empty one is the folder that the command runs in.
        let is_relative = |folder: &str| {
            !folder.starts_with(['/', '$', '~']) || ["$PWD", "${PWD}", "$(pwd"].iter().any(|it| folder.starts_with(it))
        };
        return value.split(':').any(is_relative);
    }
    LEADING.contains(&name) && !matches!(value.as_str(), "" | "/dev/null")
}

/// Whether an assignment moves the user's settings, which `git` obeys.
fn moves_home(assignment: &str) -> bool {
    matches!(assignment.split('=').next(), Some("HOME" | "XDG_CONFIG_HOME")) && assignment.contains('=')
}

impl SimpleCommand {
    /// Whether an assignment sets a variable with a value that a shell or another program runs.
    pub(super) fn sets_run_variable(&self) -> bool {
        let declared = self.words.get(1..).unwrap_or_default().iter().map(|word| word.head.as_str());
        let is_declaration = self.program().is_some_and(|program| {
            matches!(program_name(program), "export" | "declare" | "typeset" | "readonly" | "local" | "env")
        });
        let may_run = |assignment: &str| is_run_elsewhere(assignment) || leads_to_files(assignment);
        if self.assignments.iter().any(|assignment| may_run(assignment)) {
            return true;
        }
        if sets_path(self) {
            return true;
        }
        // Without a program after them, assignments apply to all later commands.
        if (self.is_git() || self.words.is_empty()) && self.assignments.iter().any(|it| moves_home(it)) {
            return true;
        }
        let mut words = self.words.get(1..).unwrap_or_default().iter().filter(|_| is_declaration);
        let written = |word: &Word| {
            let text = word.literal.as_deref().unwrap_or(&word.raw);
            may_run(text) || (self.program() != Some("env") && moves_home(text))
        };
        if words.any(written) {
            return true;
        }
        self.assignments.iter().map(String::as_str).chain(declared.filter(|_| is_declaration)).any(|text| {
            let name = text.split('=').next().unwrap_or_default();
            RUN_VARIABLES.contains(&name) || name.starts_with("BASH_FUNC_")
        })
    }
}
