//! What was typed: the commands, the options of all of them, and what is said when they were typed wrong.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};

use toolgate::policy::Mode;
use toolgate::rulebook::RulebookOptions;

use crate::commands;
use crate::commands::completions::complete_server;
use crate::commands::mcp::add::words::Sorted;
use crate::error::CommandError;
use crate::exit_code;

const VERSION: &str = concat!("toolgate ", env!("CARGO_PKG_VERSION"), "\n");

const EXAMPLES: &str = "\
Examples:
  toolgate                                        a session: all of this, one line after the other
  toolgate tools                                  what there is to use
  toolgate call read_file path=README.md          use one of them
  toolgate call search --args '{\"query\": \"mcp\"}' --json
  toolgate -p 'What is in this folder?'           have a model use them
  toolgate --config servers.json mcp list         another settings file for this run";

/// An MCP host: every tool, prompt and resource of the MCP servers you have configured, in a terminal or a script.
#[derive(Debug, Parser)]
#[command(
    name = "toolgate",
    version,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP)
)]
pub(crate) struct Cli {
    #[command(flatten)]
    ask: commands::ask_model::Arguments,
    #[command(flatten)]
    pub(crate) options: Options,
    /// None begins a session.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What stands above the options that every command takes.
pub(crate) const COMMON_OPTIONS: &str = "Options of every command";

/// Options that every command takes, before or after its name.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = COMMON_OPTIONS)]
pub(crate) struct Options {
    /// Take the servers from this file instead of your settings
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Start and use only this server
    #[arg(long, global = true, value_name = "NAME", add = complete_server())]
    pub(crate) server: Option<String>,
    /// Use only these servers, in place of every `mcp.allowed` (comma-separated, `*` for anything)
    #[arg(long, global = true, value_name = "NAMES")]
    pub(crate) allowed_mcp_server_names: Option<Vec<String>>,
    /// What runs without a question: plan (looking), default, autoEdit (changing files), yolo (all)
    #[arg(long, visible_alias = "approval-mode", global = true, value_name = "MODE", value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Shorthand for `--mode yolo`
    #[arg(long, short = 'y', global = true, conflicts_with = "mode", hide_short_help = true)]
    pub(crate) yolo: bool,
    /// Let these tools run without a question, in place of `tools.allowed` (comma-separated)
    #[arg(long, global = true, value_name = "TOOLS")]
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Policy files or folders in place of your own (comma-separated)
    #[arg(long, global = true, value_name = "PATHS")]
    pub(crate) policy: Option<Vec<String>>,
    /// More policy files or folders, which can only restrict; ignored when the system has its own (comma-separated)
    #[arg(long, global = true, value_name = "PATHS", hide_short_help = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) admin_policy: Option<Vec<String>>,
    /// Folders beside the workspace, for the built-in tools and as roots (comma-separated)
    #[arg(long, global = true, value_name = "DIRS", value_hint = ValueHint::DirPath)]
    pub(crate) include_directories: Option<Vec<String>>,
    /// Trust the folder for this run
    #[arg(long, global = true)]
    pub(crate) trust_folder: bool,
    /// Print one JSON object for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show the wire, what servers write to stderr, and why tools are not as they were sent
    #[arg(long, global = true)]
    pub(crate) debug: bool,
    /// Write --debug output and all messages to this file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// Ask nothing, even on a terminal
    #[arg(long, global = true)]
    pub(crate) headless: bool,
    /// Answer yes when the call needs to be confirmed
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// No colours, even on a terminal (`NO_COLOR` does the same)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

impl Options {
    /// The servers of this run. An empty list is a list too, and allows nothing.
    pub(crate) fn allowed_servers(&self) -> Option<Vec<String>> {
        self.allowed_mcp_server_names.as_deref().map(|lists| parts(lists, |list| list.split(',').collect()))
    }

    /// The folders beside the workspace for this run.
    pub(crate) fn include_directories(&self) -> Vec<String> {
        let lists = self.include_directories.as_deref().unwrap_or_default();
        parts(lists, |list| list.split(',').collect())
    }

    /// These, with those of a whole session where nothing else was typed.
    #[must_use]
    pub(crate) fn over(self, session: &Self) -> Self {
        let Self { config, server, allowed_mcp_server_names, mode, yolo, .. } = session.clone();
        let Self { allowed_tools, policy, admin_policy, include_directories, log_file, .. } = session.clone();
        let is_own = self.mode.is_some() || self.yolo;
        Self {
            config: self.config.or(config),
            server: self.server.or(server),
            allowed_mcp_server_names: self.allowed_mcp_server_names.or(allowed_mcp_server_names),
            mode: if is_own { self.mode } else { mode },
            yolo: if is_own { self.yolo } else { yolo },
            allowed_tools: self.allowed_tools.or(allowed_tools),
            policy: self.policy.or(policy),
            admin_policy: self.admin_policy.or(admin_policy),
            include_directories: self.include_directories.or(include_directories),
            trust_folder: self.trust_folder || session.trust_folder,
            json: self.json || session.json,
            debug: self.debug || session.debug,
            log_file: self.log_file.or(log_file),
            headless: self.headless || session.headless,
            yes: self.yes || session.yes,
            no_color: self.no_color || session.no_color,
        }
    }

    /// The mode given by `--mode` or `--yolo`. `None` when neither was given.
    pub(crate) fn mode(&self) -> Option<Mode> {
        if self.yolo { Some(Mode::Yolo) } else { self.mode }
    }

    /// Switches to another mode.
    pub(crate) const fn set_mode(&mut self, mode: Mode) {
        (self.mode, self.yolo) = (Some(mode), false);
    }

    /// The rules of this run.
    pub(crate) fn rules(&self) -> RulebookOptions {
        let paths = |lists: &Option<Vec<String>>| {
            let paths = lists.as_deref().map(|lists| parts(lists, |list| list.split(',').collect()));
            paths.map(|paths| paths.into_iter().map(PathBuf::from).collect())
        };
        RulebookOptions {
            policies: paths(&self.policy),
            admin_policies: paths(&self.admin_policy),
            allowed_tools: self.allowed_tools.as_deref().map(|lists| parts(lists, outside_parentheses)),
        }
    }
}

fn parts(lists: &[String], split: impl Fn(&str) -> Vec<&str>) -> Vec<String> {
    let parts = lists.iter().flat_map(|list| split(list));
    parts.map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
}

/// What stands between the commas, without those in what a tool is to be called with.
fn outside_parentheses(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = list.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    split.collect()
}

fn mode(word: &str) -> Result<Mode, String> {
    Mode::of(word).ok_or_else(|| format!("expected one of {}", Mode::ALL.map(Mode::as_str).join(", ")))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The servers you have configured
    #[command(subcommand, arg_required_else_help = true)]
    Mcp(commands::mcp::Command),
    Tools(commands::tools::Arguments),
    Call(commands::call::Arguments),
    Prompts(commands::prompts::Arguments),
    Prompt(commands::prompt::Arguments),
    Resources(commands::resources::Arguments),
    Read(commands::read::Arguments),
    /// What is allowed, asked about and denied
    #[command(subcommand, arg_required_else_help = true)]
    Policy(commands::policy::Command),
    Trust(commands::trust::Arguments),
    /// What you allowed for good
    #[command(subcommand, arg_required_else_help = true)]
    Grants(commands::grants::Command),
    /// List, compare and restore earlier settings and policies
    Revisions(commands::revisions::Arguments),
    /// The record of every call
    #[command(subcommand, arg_required_else_help = true)]
    Audit(commands::audit::Command),
    /// The extensions you have
    #[command(subcommand, arg_required_else_help = true)]
    Extensions(commands::extensions::Command),
    Doctor(commands::doctor::Arguments),
    /// What can be written into a settings file
    #[command(subcommand, arg_required_else_help = true)]
    Settings(commands::settings::Command),
    Up(commands::up::Arguments),
    Down(commands::down::Arguments),
    Ps(commands::ps::Arguments),
    Completions(commands::completions::Arguments),
    Generate(commands::generate::Arguments),
    WorkspaceServer(commands::workspace_server::Arguments),
    #[command(skip)]
    Ask(commands::ask_model::Arguments),
}

/// What the command line comes to.
pub(crate) enum Typed {
    /// A command to run.
    Run(Box<Cli>),
    /// Help or a version was asked for.
    Show(String),
    /// It was typed wrong, or nothing was typed: the text says how to do it.
    Wrong(String),
    /// It was typed wrong by a program that reads JSON.
    WrongForPrograms(CommandError),
}

/// Reads the command line.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Typed {
    let words: Vec<OsString> = words.into_iter().collect();
    // Scripts ask for the version before they do anything else; the answer needs no grammar.
    if matches!(words.get(1..), Some([only]) if only == "--version" || only == "-V") {
        return Typed::Show(VERSION.to_owned());
    }
    // What stands behind `--` belongs to the tool.
    let wants_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if let Some(cli) = parse_frequent(&words).or_else(|| parse_prompt(&words)) {
        return settled(cli);
    }
    let Sorted { words, taken } = commands::mcp::add::words::sort(words, Cli::command);
    match Cli::try_parse_from(words) {
        Ok(mut cli) => {
            if let Some(Command::Mcp(commands::mcp::Command::Add(add))) = &mut cli.command {
                add.taken = taken;
            }
            settled(cli)
        }
        Err(error) if !error.use_stderr() => Typed::Show(error.to_string()),
        Err(error) if wants_json && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Typed::WrongForPrograms(for_programs(&error.to_string()))
        }
        Err(error) => Typed::Wrong(error.to_string()),
    }
}

/// What is said to a model is a command without a name.
fn settled(mut cli: Cli) -> Typed {
    if !cli.ask.is_given() {
        return Typed::Run(Box::new(cli));
    }
    if cli.command.is_some() {
        let message = "`-p` stands alone, without a command";
        return match cli.options.json {
            true => Typed::WrongForPrograms(CommandError::usage(message)),
            false => Typed::Wrong(format!("error: {message}\n")),
        };
    }
    // Nobody is asked anything, and what goes wrong is told in the form that was asked for.
    cli.options.headless = true;
    cli.options.json |= cli.ask.is_for_programs();
    cli.command = Some(Command::Ask(std::mem::take(&mut cli.ask)));
    Typed::Run(Box::new(cli))
}

/// Adds what a command takes to its grammar.
type Takes = fn(clap::Command) -> clap::Command;

/// Commands that scripts run again and again.
const FREQUENT: [(&str, Takes); 6] = [
    ("tools", commands::tools::Arguments::augment_args),
    ("call", commands::call::Arguments::augment_args),
    ("prompts", commands::prompts::Arguments::augment_args),
    ("prompt", commands::prompt::Arguments::augment_args),
    ("resources", commands::resources::Arguments::augment_args),
    ("read", commands::read::Arguments::augment_args),
];

/// Reads the words of a frequent command with a grammar that has no other: making the whole one takes longer than all else that a command
/// does before it works. Nothing when they are not right, or about something else; then the whole grammar tells.
fn parse_frequent(words: &[OsString]) -> Option<Cli> {
    let (name, takes) = FREQUENT.iter().find(|(name, _)| words.iter().any(|word| word == name))?;
    let matches = grammar_of(name, *takes).try_get_matches_from(words).ok()?;
    Cli::from_arg_matches(&matches).ok()
}

/// Reads `toolgate prompt NAME --argument=value`: what is no option of ours is an argument of the prompt, as if it stood behind `--`.
fn parse_prompt(words: &[OsString]) -> Option<Cli> {
    let options = Options::augment_args(clap::Command::new("toolgate"));
    let is_ours = |name: &str| name == "help" || options.get_arguments().any(|option| option.get_long() == Some(name));
    let is_argument = |word: &OsString| {
        let named = word.to_str().and_then(|word| word.strip_prefix("--")?.split_once('='));
        named.is_some_and(|(name, _)| !name.is_empty() && !is_ours(name))
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (before, behind) = words.split_at_checked(end)?;
    let (of_prompt, others): (Vec<&OsString>, Vec<&OsString>) = before.iter().partition(|word| is_argument(word));
    if of_prompt.is_empty() {
        return None;
    }
    let mark = OsString::from("--");
    let sorted = others.into_iter().chain([&mark]).chain(of_prompt).chain(behind.iter().skip(1));
    let cli = parse_frequent(&sorted.cloned().collect::<Vec<_>>())?;
    matches!(cli.command, Some(Command::Prompt(_))).then_some(cli)
}

/// The grammar of one command, with the options of all.
fn grammar_of(name: &'static str, takes: Takes) -> clap::Command {
    let grammar = Options::augment_args(clap::Command::new("toolgate")).subcommand_required(true);
    let grammar = commands::ask_model::Arguments::augment_args(grammar);
    grammar.subcommand(takes(clap::Command::new(name)))
}

/// The same complaint without its layout: the first line, and the advice.
fn for_programs(text: &str) -> CommandError {
    let message = text.lines().next().unwrap_or_default();
    let error = CommandError::usage(message.strip_prefix("error: ").unwrap_or(message));
    let advice = text.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let usage = text.lines().find(|line| line.starts_with("Usage: "));
    advice.chain(usage).fold(error, CommandError::hint)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory as _, Parser as _};

    use super::{Cli, Command, FREQUENT, Typed, VERSION, grammar_of, parse, parse_frequent};
    use crate::json::JsonWriter;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_version_is_the_same_however_it_is_asked_for() {
        for line in ["toolgate -V", "toolgate --version", "toolgate --no-color --version"] {
            let Typed::Show(text) = parse(line.split(' ').map(Into::into)) else { panic!("{line} is right") };
            assert_eq!(text, VERSION, "{line}");
        }
    }

    #[test]
    fn options_of_every_command_stand_before_or_after_it() {
        let lines = [
            "toolgate --config x.json --server s tools --json",
            "toolgate tools --server s --json --config x.json",
            "toolgate --json --server s --config x.json call --yes echo message=hello",
        ];
        for line in lines {
            let Typed::Run(cli) = parse(line.split(' ').map(Into::into)) else { panic!("{line} is right") };
            assert!(cli.options.json, "{line}");
            assert_eq!(cli.options.server.as_deref(), Some("s"), "{line}");
            assert_eq!(cli.options.config.as_deref(), Some(std::path::Path::new("x.json")), "{line}");
            let is_yes = matches!(&cli.command, Some(Command::Call(_)));
            assert_eq!(cli.options.yes, is_yes, "{line}");
        }
    }

    #[test]
    fn frequent_commands_mean_the_same_without_the_others() {
        let lines = [
            ("tools", true),
            ("--json tools time --desc --search words --fresh", true),
            ("call --yes echo message=hello --args {} --server s", true),
            ("--server tools call x", false),
            ("tools --help", false),
            ("tools --wrong", false),
            ("tools a b", false),
            ("policy explain call", false),
            ("mcp list", false),
            ("call", false),
            ("", false),
        ];
        for (line, expected) in lines {
            let words: Vec<OsString> = format!("toolgate {line}").split_whitespace().map(Into::into).collect();
            let narrow = parse_frequent(&words);
            assert_eq!(narrow.is_some(), expected, "{line}");
            if let Some(narrow) = narrow {
                assert_eq!(format!("{narrow:?}"), format!("{:?}", Cli::parse_from(words)), "{line}");
            }
        }
        for (name, takes) in FREQUENT {
            grammar_of(name, takes).debug_assert();
        }
    }

    #[test]
    fn programs_get_what_is_wrong_as_data() {
        let Typed::WrongForPrograms(error) = parse(["toolgate", "tools", "--json", "--shcema"].map(Into::into)) else {
            panic!("it is wrong")
        };
        let mut json = Vec::new();
        error.write(&mut JsonWriter::new(&mut json)).unwrap();
        assert_eq!(
            String::from_utf8(json).unwrap(),
            r#"{"error":{"code":2,"kind":"usage","message":"unexpected argument '--shcema' found","server":null,"hint":"a similar argument exists: '--schema'\nUsage: toolgate tools --json --schema [SERVER]"}}"#
        );
    }
}
