//! `toolgate prompts`: the prompts that servers offer.

use clap::Args;
use toolgate::registry::{Catalog, CatalogPrompt};
use toolgate::{Interest, ServerName};

use crate::commands::completions::complete_server;
use crate::commands::offers::Offers;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::listing::{Row, counted, heading, print_unusable, rows};
use crate::printer::Printer;
use crate::session::Session;

/// List the prompts of your servers
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate prompts
  toolgate prompts github --json")]
pub(crate) struct Arguments {
    /// Only this server; no other is started
    #[arg(value_name = "SERVER", add = complete_server())]
    only: Option<String>,
    /// Ask the servers, also when what they offered last is still good
    #[arg(long)]
    fresh: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    // In a session a prompt is a command, which may be called otherwise.
    let lasting = session.lasting().cloned();
    let typed = |prompt: &CatalogPrompt| match &lasting {
        Some(host) => typed_in_session(&host.command_of(prompt), prompt),
        None => typed(prompt),
    };
    let prompts = Offers {
        interest: Interest::PROMPTS,
        plural: "prompts",
        kinds: &["prompt"],
        block: &|server, catalog, is_any, printer| {
            print_block(catalog, server, printer, Shown { is_any, typed: &typed })
        },
        json: |object, catalog| object.array("prompts", catalog.prompts(), write_prompt),
    };
    prompts.list(session, arguments.only.as_deref(), arguments.fresh)
}

/// How prompts are shown.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// Whether others stand before them.
    is_any: bool,
    /// What to type.
    typed: &'a dyn Fn(&CatalogPrompt) -> String,
}

/// Prints what a server offers. Whether that is anything.
fn print_block(catalog: &Catalog, server: &ServerName, printer: &mut Printer, shown: Shown<'_>) -> Result<bool> {
    let prompts: Vec<&CatalogPrompt> = catalog.prompts().iter().filter(|prompt| prompt.server == *server).collect();
    print_unusable(printer, catalog, server, &["prompt"]);
    if prompts.is_empty() {
        return Ok(false);
    }
    if shown.is_any {
        printer.line("")?;
    }
    heading(printer, server, &counted(prompts.len(), "prompt"))?;
    let names: Vec<String> = prompts.iter().map(|prompt| (shown.typed)(prompt)).collect();
    let lines = names.iter().zip(&prompts).map(|(name, prompt)| Row {
        name,
        about: prompt.prompt.description.as_deref().or(prompt.prompt.title.as_deref()),
    });
    rows(printer, &lines.collect::<Vec<_>>())?;
    Ok(true)
}

/// What to type: `review file=… [style=…]`.
pub(crate) fn typed(prompt: &CatalogPrompt) -> String {
    with_arguments(prompt.name.to_string(), "", prompt)
}

/// What to type in a session: `/review --file=… [--style=…]`.
fn typed_in_session(command: &str, prompt: &CatalogPrompt) -> String {
    with_arguments(format!("/{command}"), "--", prompt)
}

fn with_arguments(command: String, before: &str, prompt: &CatalogPrompt) -> String {
    let mut text = command;
    for argument in prompt.arguments() {
        let word = format!("{before}{}=…", argument.name);
        text.push_str(&if argument.required { format!(" {word}") } else { format!(" [{word}]") });
    }
    text
}

fn write_prompt(json: &mut JsonWriter<'_>, prompt: &CatalogPrompt) -> std::io::Result<()> {
    json.object(|object| {
        object.string("name", &prompt.name)?;
        object.string("server", &prompt.server)?;
        object.string("prompt", &prompt.prompt.name)?;
        object.optional_string("title", prompt.prompt.title.as_deref())?;
        object.optional_string("description", prompt.prompt.description.as_deref())?;
        object.array("arguments", prompt.arguments(), |json, argument| {
            json.object(|object| {
                object.string("name", &argument.name)?;
                object.optional_string("description", argument.description.as_deref())?;
                object.flag("required", argument.required)
            })
        })
    })
}
