//! `toolgate resources`: what there is to read, and the templates of what more there could be.

use clap::Args;
use toolgate::registry::{Catalog, CatalogResource, CatalogTemplate};
use toolgate::{Interest, ServerName};

use crate::commands::completions::complete_server;
use crate::commands::offers::Offers;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::listing::{Row, counted, heading, print_unusable, rows};
use crate::printer::Printer;
use crate::session::Session;

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
    /// Ask the servers, also when what they offered last is still good
    #[arg(long)]
    fresh: bool,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let resources = Offers {
        interest: Interest::RESOURCES,
        plural: "resources",
        kinds: &KINDS,
        block: &print_block,
        json: |object, catalog| {
            object.array("resources", catalog.resources(), write_resource)?;
            object.array("templates", catalog.templates(), write_template)
        },
    };
    resources.list(session, arguments.only.as_deref(), arguments.fresh)
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
