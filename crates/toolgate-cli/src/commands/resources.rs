//! `toolgate resources`: what there is to read, and the templates of what more there could be.

use clap::Args;
use toolgate::registry::{Catalog, CatalogResource, CatalogTemplate};
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

/// The kinds of entries this command lists.
const KINDS: [&str; 2] = ["resource", "template"];

/// List the resources and resource templates of your servers
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolgate resources
  toolgate resources docs --json")]
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
    session.with_host(&configured.plan(Interest::RESOURCES), async |host, printer| match printer.form() {
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
            object.array("resources", catalog.resources(), write_resource)?;
            object.array("templates", catalog.templates(), write_template)?;
            write_unusable(object, &catalog, &KINDS)
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
        talk.line("there are no resources");
    }
    troubles.judge(&host.servers())
}

/// Prints what a server offers. Whether that is anything.
fn print_block(server: &ServerName, catalog: &Catalog, is_any: bool, printer: &mut Printer) -> Result<bool> {
    print_unusable(printer, catalog, server, &KINDS);
    let resources: Vec<&CatalogResource> = catalog.resources().iter().filter(|one| one.server == *server).collect();
    let templates: Vec<&CatalogTemplate> = catalog.templates().iter().filter(|one| one.server == *server).collect();
    if resources.is_empty() && templates.is_empty() {
        return Ok(false);
    }
    if is_any {
        printer.line("")?;
    }
    let mut counts = counted(resources.len(), "resource");
    if !templates.is_empty() {
        counts.push_str(", ");
        counts.push_str(&counted(templates.len(), "template"));
    }
    heading(printer, server, &counts)?;
    let about = |name: &str, mime: Option<&str>, description: Option<&str>| {
        let mime = mime.map(|mime| format!(" [{mime}]")).unwrap_or_default();
        let description = description.map(|text| format!(": {text}")).unwrap_or_default();
        format!("{name}{mime}{description}")
    };
    let listed = resources.iter().map(|CatalogResource { resource, .. }| {
        let title = resource.title.as_deref().unwrap_or(&resource.name);
        (resource.uri.as_str(), about(title, resource.mime_type.as_deref(), resource.description.as_deref()))
    });
    let possible = templates.iter().map(|CatalogTemplate { template, .. }| {
        let title = template.title.as_deref().unwrap_or(&template.name);
        (template.uri_template.as_str(), about(title, template.mime_type.as_deref(), template.description.as_deref()))
    });
    let all: Vec<(&str, String)> = listed.chain(possible).collect();
    let lines: Vec<Row<'_>> = all.iter().map(|(uri, about)| Row { name: uri, about: Some(about) }).collect();
    rows(printer, &lines)?;
    Ok(true)
}

fn write_resource(
    json: &mut JsonWriter<'_>,
    CatalogResource { server, resource }: &CatalogResource,
) -> std::io::Result<()> {
    json.object(|object| {
        object.string("server", server)?;
        object.string("uri", &resource.uri)?;
        object.string("name", &resource.name)?;
        object.optional_string("title", resource.title.as_deref())?;
        object.optional_string("description", resource.description.as_deref())?;
        object.optional_string("mimeType", resource.mime_type.as_deref())?;
        object.optional_number("size", resource.size)
    })
}

fn write_template(
    json: &mut JsonWriter<'_>,
    CatalogTemplate { server, template }: &CatalogTemplate,
) -> std::io::Result<()> {
    json.object(|object| {
        object.string("server", server)?;
        object.string("uriTemplate", &template.uri_template)?;
        object.string("name", &template.name)?;
        object.optional_string("title", template.title.as_deref())?;
        object.optional_string("description", template.description.as_deref())?;
        object.optional_string("mimeType", template.mime_type.as_deref())
    })
}
