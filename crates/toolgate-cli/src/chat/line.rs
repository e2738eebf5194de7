//! What a typed line is: nothing, a command with its words, or something to say to a model. Pure.

use toolgate::registry::nearest;

/// A command of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlashCommand {
    /// What is typed behind the slash.
    pub(crate) name: &'static str,
    /// What can stand behind it.
    pub(crate) takes: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    /// Sub-commands, with what they do.
    pub(crate) parts: &'static [(&'static str, &'static str)],
}

const fn command(name: &'static str, takes: &'static str, about: &'static str) -> SlashCommand {
    SlashCommand { name, takes, about, parts: &[] }
}

/// The commands of the session, in the order of the help.
pub(crate) const COMMANDS: [SlashCommand; 20] = [
    SlashCommand {
        parts: &[
            ("list", "your servers, their state and the names of what they offer"),
            ("desc", "the same with descriptions"),
            ("schema", "the same with descriptions and schemas"),
            ("nodesc", "names only, as `list`"),
            ("auth", "log in to a server"),
            ("logout", "forget the login of a server"),
            ("refresh", "connect to all servers anew"),
            ("test", "look closely at one server"),
            ("enable", "switch a server on (--session: for this session)"),
            ("disable", "switch a server off (--session: for this session)"),
            ("add", "write a server into your settings"),
            ("remove", "take a server out of your settings"),
        ],
        ..command("mcp", "[PART | FILTER]", "your servers and what they offer")
    },
    command("tools", "[SERVER] [--desc] [--schema]", "the tools of your servers"),
    command("call", "TOOL [KEY=VALUE …]", "call a tool"),
    command("prompts", "[SERVER]", "the prompts of your servers; each is a command too"),
    command("prompt", "NAME [KEY=VALUE …]", "show a prompt, filled in by its server"),
    command("resources", "[SERVER]", "what there is to read"),
    command("read", "URI", "read a resource"),
    SlashCommand {
        parts: &[
            ("list", "the rules in force"),
            ("explain", "what would be decided about a call, and why"),
            ("check", "what is wrong with your policies"),
            ("simulate", "what rules would have decided about earlier calls"),
            ("suggest", "rules that would save you questions"),
            ("review", "permissions that are not needed"),
            ("preset", "policies to begin with"),
        ],
        ..command("policy", "[PART]", "what is allowed, asked about and denied")
    },
    SlashCommand {
        parts: &[("list", "what you allowed for good"), ("revoke", "take it back")],
        ..command("grants", "[PART]", "what you allowed for good")
    },
    SlashCommand {
        parts: &[
            ("show", "the latest calls"),
            ("verify", "whether the record is whole"),
            ("stats", "how often, how fast, how well"),
        ],
        ..command("audit", "[PART]", "the record of every call")
    },
    command("trust", "[PATH]", "whether this folder is trusted"),
    command("doctor", "", "what is wrong with your set-up"),
    SlashCommand {
        parts: &[
            ("plan", "only looking runs without a question"),
            ("default", "reading the workspace runs without a question"),
            ("autoEdit", "changing files does too"),
            ("yolo", "everything does"),
        ],
        ..command("mode", "[MODE]", "what runs without a question")
    },
    command("model", "[NAME]", "which model answers, or another one for this session"),
    command("stats", "", "what happened in this session"),
    command("clear", "", "clear the screen, and begin a new conversation"),
    command("help", "[COMMAND]", "what there is to type"),
    command("quit", "", "leave (Ctrl-D does the same)"),
    command("exit", "", "leave"),
    command("settings", "schema|reference", "what can be written into a settings file"),
];

/// What was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// Nothing.
    Empty,
    /// `/name rest`.
    Slash {
        /// What stands behind the slash.
        name: &'t str,
        /// What stands behind the name.
        rest: &'t str,
    },
    /// Anything else.
    Text(&'t str),
}

impl<'t> Line<'t> {
    /// What a line is.
    pub(crate) fn of(typed: &'t str) -> Self {
        let typed = typed.trim();
        let Some(slashed) = typed.strip_prefix('/') else {
            return if typed.is_empty() { Self::Empty } else { Self::Text(typed) };
        };
        let (name, rest) = slashed.split_once(char::is_whitespace).unwrap_or((slashed, ""));
        // A path is no command.
        if name.contains('/') { Self::Text(typed) } else { Self::Slash { name, rest: rest.trim_start() } }
    }
}

/// The command of that name.
pub(crate) fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The names of all of them: no prompt can have one.
pub(crate) fn command_names() -> Vec<&'static str> {
    COMMANDS.iter().map(|command| command.name).collect()
}

/// Names like that one, among the commands and those of prompts.
pub(crate) fn similar<'n>(typed: &str, prompts: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).chain(prompts).collect();
    nearest(typed, names.into_iter())
}

/// Whether what is typed goes on in the next line: it ends with a backslash, or a block of code is open.
pub(crate) fn goes_on(typed: &str) -> bool {
    let fences = typed.lines().filter(|line| line.trim_start().starts_with("```")).count();
    ends_with_backslash(typed) || fences % 2 == 1
}

fn ends_with_backslash(typed: &str) -> bool {
    typed.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1
}

/// Lines that were joined with a backslash, as they are meant.
pub(crate) fn joined(typed: &str) -> String {
    typed.replace("\\\r\n", "\n").replace("\\\n", "\n")
}

/// The words of the program for a command of the session; `None` when it is none of the program's.
pub(crate) fn program_words(name: &str, rest: Vec<String>) -> Option<Vec<String>> {
    let with = |start: &[&str], rest: Vec<String>| {
        let start = start.iter().map(|word| (*word).to_owned());
        Some(start.chain(rest).collect())
    };
    let or_part = |part: &str, rest: Vec<String>| {
        let has_part = rest.iter().any(|word| !word.starts_with('-')) || rest.iter().any(|word| word == "--help");
        if has_part { with(&[name], rest) } else { with(&[name, part], rest) }
    };
    match name {
        "mcp" => Some(mcp_words(rest)),
        "policy" | "grants" => or_part("list", rest),
        "audit" => or_part("show", rest),
        "tools" | "call" | "prompts" | "prompt" | "resources" | "read" | "trust" | "doctor" | "settings" => {
            with(&[name], rest)
        }
        _ => None,
    }
}

/// What the program says about its own words, as they are typed here: `toolgate mcp …` is `/mcp …`.
pub(crate) fn as_typed_here(text: &str) -> String {
    let names = COMMANDS.iter().filter(|command| program_words(command.name, Vec::new()).is_some());
    let behind_quote = names.fold(text.to_owned(), |text, SlashCommand { name, .. }| {
        text.replace(&format!("`toolgate {name} "), &format!("`/{name} "))
            .replace(&format!("`toolgate {name}`"), &format!("`/{name}`"))
    });
    behind_quote.replace("Usage: toolgate ", "Usage: /")
}

/// Parts of `/mcp` that the program has under the same name.
const MCP_PARTS: [&str; 12] =
    ["list", "auth", "logout", "test", "enable", "disable", "add", "remove", "refresh", "import", "export", "help"];

fn mcp_words(mut rest: Vec<String>) -> Vec<String> {
    let part = rest.first().map(String::as_str).unwrap_or_default();
    let start: &[&str] = match part {
        "ls" | "nodesc" | "nodescription" => &["mcp", "list"],
        "desc" | "description" => &["mcp", "list", "--desc"],
        "schema" => &["mcp", "list", "--schema"],
        "reload" => &["mcp", "refresh"],
        part if MCP_PARTS.contains(&part) => &["mcp"],
        // Whatever else was typed is looked for in the names of servers.
        _ => {
            let filter = rest.join(" ");
            let words = ["mcp", "list"].map(ToOwned::to_owned).to_vec();
            return if filter.is_empty() { words } else { words.into_iter().chain([filter]).collect() };
        }
    };
    if start != ["mcp"] {
        rest.remove(0);
    }
    start.iter().map(|word| (*word).to_owned()).chain(rest).collect()
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
