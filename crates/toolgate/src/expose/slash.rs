//! Prompts as slash commands: what each is called, what it says about itself, and what a line behind it means.
//!
//! Built-in commands keep their names. Prompts are named in the order in which they are given, which is that of the settings: the first keeps its own name, a
//! later one is `server.name`, and when that is taken too it gets a number. Nothing is ever overwritten, and a name once given stays with its prompt.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::slash_arguments::{Given, Mistake, read};
use super::slash_completion::{self, Completion};
use crate::registry::{Catalog, CatalogPrompt};
use crate::server_name::ServerName;

/// The sub-command of every prompt.
const HELP: &str = "help";

/// A prompt as a command.
#[derive(Debug, Clone)]
pub struct SlashCommand {
    /// What is typed behind the slash.
    pub name: Arc<str>,
    /// The prompt.
    pub prompt: CatalogPrompt,
    /// Why it is not called by its own name.
    pub renamed: Option<Renamed>,
}

/// Why a prompt has another name than its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renamed {
    /// A command of toolgate has it.
    BuiltIn,
    /// A prompt of that server has it.
    Taken(ServerName),
}

/// What a line behind a command asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The help of the command.
    Help,
    /// The prompt, with these values.
    Prompt(Given),
}

/// The commands, in the order in which they were named. Kept for a whole session, and told again whenever the catalog changes.
#[derive(Debug, Clone, Default)]
pub struct SlashCommands {
    commands: Vec<SlashCommand>,
    /// What every prompt that was ever there is called.
    given: HashMap<(ServerName, String), (Arc<str>, Option<Renamed>)>,
    owners: HashMap<Arc<str>, ServerName>,
}

impl SlashCommands {
    /// Takes over the prompts of a catalog. `built_in` are the names that prompts cannot have. A prompt whose name is not final yet is called
    /// `server.name`, which is its own also later. Returns those that were renamed now, to be reported.
    pub fn follow(&mut self, catalog: &Catalog, built_in: &[&str]) -> Vec<SlashCommand> {
        let servers: HashMap<&ServerName, usize> =
            catalog.servers().enumerate().map(|(at, offer)| (offer.server(), at)).collect();
        let mut prompts: Vec<CatalogPrompt> = catalog.prompts().to_vec();
        prompts.sort_by_key(|prompt| servers.get(&prompt.server).copied().unwrap_or(usize::MAX));
        self.follow_prompts(prompts, built_in)
    }

    /// The same, of prompts in the order in which they are to be named.
    pub fn follow_prompts(&mut self, prompts: Vec<CatalogPrompt>, built_in: &[&str]) -> Vec<SlashCommand> {
        let mut renamed = Vec::new();
        self.commands.clear();
        for prompt in prompts {
            let key = (prompt.server.clone(), prompt.prompt.name.clone());
            let known = self.given.get(&key).cloned();
            let is_new = known.is_none();
            if is_new && !prompt.is_name_final {
                let name = qualified_name(&prompt).into();
                self.commands.push(SlashCommand { name, prompt, renamed: None });
                continue;
            }
            let (name, why) = known.unwrap_or_else(|| self.choose(&prompt, built_in));
            self.owners.entry(name.clone()).or_insert_with(|| prompt.server.clone());
            self.given.entry(key).or_insert_with(|| (name.clone(), why.clone()));
            let command = SlashCommand { name, prompt, renamed: why };
            if is_new && command.renamed.is_some() {
                renamed.push(command.clone());
            }
            self.commands.push(command);
        }
        renamed
    }

    fn choose(&self, prompt: &CatalogPrompt, built_in: &[&str]) -> (Arc<str>, Option<Renamed>) {
        let own = command_name(&prompt.prompt.name);
        let owner = |name: &str| match built_in.contains(&name) {
            true => Some(Renamed::BuiltIn),
            false => self.owners.get(name).cloned().map(Renamed::Taken),
        };
        let Some(why) = owner(&own) else { return (own.into(), None) };
        let qualified = qualified_name(prompt);
        let numbered = (1_u32..).map(|number| format!("{qualified}{number}"));
        let mut candidates = std::iter::once(qualified.clone()).chain(numbered);
        let name = candidates.find(|name| owner(name).is_none()).unwrap_or_default();
        (name.into(), Some(why))
    }

    /// All of them, in the order in which they were given.
    pub fn all(&self) -> &[SlashCommand] {
        &self.commands
    }

    /// The command of that name, without its slash. Every prompt answers to `server.name` too, unless another has that.
    pub fn find(&self, name: &str) -> Option<&SlashCommand> {
        let named = self.commands.iter().find(|command| &*command.name == name);
        named.or_else(|| self.commands.iter().find(|command| qualified_name(&command.prompt) == name))
    }
}

/// The name of a prompt as one word: trimmed, with `-` for every run of blanks.
fn command_name(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    if words.is_empty() { "prompt".to_owned() } else { words.join("-") }
}

/// The name of a prompt with its server.
fn qualified_name(prompt: &CatalogPrompt) -> String {
    command_name(&format!("{}.{}", prompt.server, command_name(&prompt.prompt.name)))
}

impl SlashCommand {
    /// Whether this is the name that its server gave the prompt, as a command.
    pub fn is_own_name(&self, name: &str) -> bool {
        command_name(&self.prompt.prompt.name) == name
    }

    /// What it does, in one text.
    pub fn description(&self) -> String {
        let prompt = &self.prompt.prompt;
        let said = prompt.description.as_deref().or(prompt.title.as_deref()).map(str::trim);
        match said {
            Some(said) if !said.is_empty() => said.to_owned(),
            _ => format!("The prompt {} of {}", prompt.name, self.prompt.server),
        }
    }

    /// Whether choosing it is enough: it takes nothing.
    pub fn runs_at_once(&self) -> bool {
        self.prompt.arguments().is_empty()
    }

    /// What the text behind the command asks for.
    ///
    /// # Errors
    /// When required arguments are missing, or a name has no value.
    pub fn read(&self, behind: &str) -> Result<Asked, Mistake> {
        if behind.trim() == HELP {
            return Ok(Asked::Help);
        }
        read(behind)?.assign(self.prompt.arguments()).map(Asked::Prompt)
    }

    /// What could stand at the end of `before`, the text between the command and the cursor.
    pub fn complete(&self, before: &str) -> Completion {
        slash_completion::complete(before, self.prompt.arguments())
    }

    /// What it takes and how that is typed.
    pub fn help(&self) -> String {
        let arguments = self.prompt.arguments();
        if arguments.is_empty() {
            return format!("/{} takes no arguments.", self.name);
        }
        let named: Vec<String> = arguments.iter().map(|argument| format!("--{}=\"…\"", argument.name)).collect();
        let required: Vec<&str> = arguments.iter().filter(|one| one.required).map(|one| one.name.as_str()).collect();
        let mut lines = vec![self.description(), String::new()];
        lines.push("By name, in any order:".to_owned());
        lines.push(format!("  /{} {}", self.name, named.join(" ")));
        match required.as_slice() {
            [] => lines.push("All of them can be left out, and each can only be given by name.".to_owned()),
            [only] => {
                lines.push(format!("Or only {only}, as everything behind the command:"));
                lines.push(format!("  /{} <{only}>", self.name));
            }
            several => {
                let places: Vec<String> = several.iter().map(|name| format!("<{name}>")).collect();
                lines.push("Or the required ones in their order; in quotes when they have blanks:".to_owned());
                lines.push(format!("  /{} {}", self.name, places.join(" ")));
            }
        }
        lines.extend([String::new(), "Arguments:".to_owned()]);
        for argument in arguments {
            lines.push(format!("  --{}", argument.name));
            if let Some(description) = &argument.description {
                lines.push(format!("    {}", description.trim()));
            }
            lines.push(format!("    required: {}", if argument.required { "yes" } else { "no" }));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("a command of toolgate has that name"),
            Self::Taken(server) => write!(f, "a prompt of {server} has that name"),
        }
    }
}

#[cfg(test)]
#[path = "slash_tests.rs"]
mod tests;
