//! `toolgate prompts`: the prompts that servers offer.

use clap::Args;
use toolgate::registry::{Catalog, CatalogPrompt};
use toolgate::trust::AdmittedServers;
use toolgate::{Host, Interest, ServerName};

use crate::arrival::{Arrivals, all_settled};
use crate::commands::completions::complete_server;
use crate::configured::one_server;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::listing::{Row, counted, heading, print_unusable, rows, write_unusable};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// List the prompts of your servers
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate prompts
  toolgate prompts github --json")]
pub(crate) struct Arguments {
    /// Only this server; no other is started
    #[arg(value_name = "SERVER", add = complete_server())]
    only: Option<String>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let only = one_server(session.options(), arguments.only.as_deref())?;
    let configured = session.configured()?;
    let servers = configured.chosen(only.as_deref())?;
    let troubles = Troubles::new(session, only.is_some());
    session.with_host(&configured.plan(Interest::PROMPTS), async |host, printer| match printer.form() {
        Form::Json => print_json(host, servers, troubles, printer).await,
        Form::Text => print_text(host, servers, troubles, printer).await,
    })
}

async fn print_json(
    host: &Host,
    servers: AdmittedServers,
    troubles: Troubles,
    printer: &mut Printer,
) -> Result<Ending> {
    host.start(servers);
    all_settled(host, printer.talk()).await;
    let views = host.servers();
    let ending = troubles.judge(&views)?;
    troubles.tell_all(&views, printer.talk());
    let catalog = host.catalog_now();
    printer.json(|json| {
        json.object(|object| {
            object.array("prompts", catalog.prompts(), write_prompt)?;
            write_unusable(object, &catalog, &["prompt"])
        })
    })?;
    Ok(ending)
}

async fn print_text(
    host: &Host,
    servers: AdmittedServers,
    troubles: Troubles,
    printer: &mut Printer,
) -> Result<Ending> {
    let talk = printer.talk().clone();
    let mut arrivals = Arrivals::new(host, &talk);
    host.start(servers);
    let mut is_any = false;
    while let Some(arrived) = arrivals.next().await {
        let catalog = host.catalog_now();
        for view in &arrived {
            troubles.tell(view, &talk);
            is_any |= print_block(view.name(), &catalog, is_any, printer)?;
        }
        printer.flush()?;
    }
    if !is_any && host.servers().iter().all(|view| view.agreed.is_some()) {
        talk.line("there are no prompts");
    }
    troubles.judge(&host.servers())
}

/// Prints what a server offers. Whether that is anything.
fn print_block(server: &ServerName, catalog: &Catalog, is_any: bool, printer: &mut Printer) -> Result<bool> {
    let prompts: Vec<&CatalogPrompt> = catalog.prompts().iter().filter(|prompt| prompt.server == *server).collect();
    print_unusable(printer, catalog, server, &["prompt"]);
    if prompts.is_empty() {
        return Ok(false);
    }
    if is_any {
        printer.line("")?;
    }
    heading(printer, server, &counted(prompts.len(), "prompt"))?;
    let names: Vec<String> = prompts.iter().map(|prompt| typed(prompt)).collect();
    let lines = names.iter().zip(&prompts).map(|(name, prompt)| Row {
        name,
        about: prompt.prompt.description.as_deref().or(prompt.prompt.title.as_deref()),
    });
    rows(printer, &lines.collect::<Vec<_>>())?;
    Ok(true)
}

/// What to type: `review file=… [style=…]`.
pub(crate) fn typed(prompt: &CatalogPrompt) -> String {
    let mut text = prompt.name.to_string();
    for argument in prompt.arguments() {
        let word = format!("{}=…", argument.name);
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
