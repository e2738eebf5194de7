//! `toolgate prompt`: one prompt, filled in by its server.

use std::collections::BTreeMap;

use clap::Args;
use toolgate::registry::CatalogPrompt;
use toolgate::shape::for_display;
use toolgate::wire::view::PromptResult;
use toolgate::{ErrorKind, Interest};

use crate::commands::prompts::typed;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// Print a prompt, filled in by its server
///
/// Arguments are given as KEY=VALUE or --KEY=VALUE.
///
/// Words without `=` fill the required ones in their order; when there is one, it gets all of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate prompt review file=src/main.rs
  toolgate prompt review --file=src/main.rs --style='very short'
  toolgate prompt summarise 'the last meeting'")]
pub(crate) struct Arguments {
    /// The prompt, as `toolgate prompts` shows it, or SERVER.PROMPT
    name: String,
    /// Arguments of the prompt
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let only = session.options().server.clone();
    let configured = session.configured()?;
    let servers = configured.chosen(only.as_deref())?;
    let troubles = Troubles::new(session, only.is_some());
    let plan = configured.plan(Interest::PROMPTS).with_memory().starting(&servers);
    // In a session a prompt has the name of its command too.
    let command = session.lasting().and_then(|host| host.prompt(arguments.name.trim_start_matches('/')));
    session.with_host(&plan, async |host, printer| {
        host.start(servers);
        let prompt = match (host.find_prompt(&arguments.name).await, command) {
            (Ok(prompt), _) => prompt,
            (Err(_), Some(command)) => command.prompt,
            (Err(error), None) => return Err(troubles.not_had(&error, &host.servers())),
        };
        let values = values(&prompt, &arguments.words)?;
        let result = host.get_prompt(&prompt, &values).await.map_err(|error| explained(&prompt, &error.into()))?;
        print(&prompt, &result, printer)
    })
}

/// With what to type, when something was typed wrong.
fn explained(prompt: &CatalogPrompt, error: &CommandError) -> CommandError {
    let error = error.clone();
    if error.ending() == Ending::Usage { error.hint(format!("toolgate prompt {}", typed(prompt))) } else { error }
}

/// The words as the arguments they are meant for.
fn values(prompt: &CatalogPrompt, words: &[String]) -> Result<BTreeMap<String, String>> {
    let wrong = |message: String| {
        let error = CommandError::new(Ending::Usage, ErrorKind::InvalidArguments.as_str(), message);
        explained(prompt, &error.about(&prompt.server))
    };
    let is_declared = |name: &str| prompt.arguments().iter().any(|argument| argument.name == name);
    let mut values = BTreeMap::new();
    let mut positional = Vec::new();
    for word in words {
        let flag = word.strip_prefix("--");
        match flag.unwrap_or(word).split_once('=') {
            Some((name, value)) if is_declared(name) => {
                values.insert(name.to_owned(), value.to_owned());
            }
            Some((name, _)) if flag.is_some() => {
                return Err(wrong(format!("`{}` takes no argument `--{name}`", prompt.name)));
            }
            _ => positional.push(word.as_str()),
        }
    }
    let required = prompt.arguments().iter().filter(|argument| argument.required);
    let open: Vec<&str> =
        required.map(|argument| argument.name.as_str()).filter(|name| !values.contains_key(*name)).collect();
    match open.as_slice() {
        _ if positional.is_empty() => {}
        [] => return Err(wrong(format!("`{}` takes no argument for `{}`", prompt.name, positional.join(" ")))),
        [only] => {
            values.insert((*only).to_owned(), positional.join(" "));
        }
        several if positional.len() <= several.len() => {
            let filled = several.iter().zip(&positional);
            values.extend(filled.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
        _ => return Err(wrong(format!("`{}` takes fewer arguments than were given", prompt.name))),
    }
    Ok(values)
}

/// Prints the messages of a prompt.
pub(crate) fn print(prompt: &CatalogPrompt, result: &PromptResult, printer: &mut Printer) -> Result<Ending> {
    if result.messages.is_empty() {
        let error = CommandError::new(Ending::Unreachable, "protocol", "the server returned no usable prompt text");
        return Err(error.about(&prompt.server));
    }
    match printer.form() {
        Form::Text => printer.result(&for_display::prompt(result))?,
        Form::Json => printer.json(|json| {
            json.object(|object| {
                object.string("name", &prompt.name)?;
                object.string("server", &prompt.server)?;
                object.string("prompt", &prompt.prompt.name)?;
                object.optional_string("description", result.description.as_deref())?;
                object.raw("messages", result.raw.member("messages").as_ref())
            })
        })?,
    }
    Ok(Ending::Done)
}
