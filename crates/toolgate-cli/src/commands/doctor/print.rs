//! The report of the doctor, for people and for programs.

use toolgate::rulebook::Unmatched;
use toolgate::settings::SettingsOrigin;
use toolgate::shape::visible;
use toolgate::trust::{DecidedBy, FolderTrust};

use super::files::{State, places, policies};
use super::server::{Checkup, Command, layer};
use crate::commands::mcp::list::{trust_word, write_folder, write_origin};
use crate::configured::{Configured, of_broken};
use crate::error::Result;
use crate::json::{JsonWriter, ObjectWriter};
use crate::limits::{LIKE_LINES_MAX, STDERR_LINES_MAX};
use crate::listing::last_lines;
use crate::printer::Printer;
use crate::unmatched;

/// The width of the first column.
const LABEL: usize = 13;

pub(crate) fn print(
    printer: &mut Printer,
    configured: &Configured,
    (checkups, unmatched): (&[Checkup], &[Unmatched]),
    wants_environment: bool,
) -> Result<()> {
    print_surroundings(printer, configured)?;
    unmatched::print(unmatched, printer)?;
    for checkup in checkups {
        printer.line("")?;
        let mut report = Report { printer: &mut *printer };
        report.server(checkup)?;
        if wants_environment {
            report.environment(checkup)?;
        }
    }
    Ok(())
}

fn print_surroundings(printer: &mut Printer, configured: &Configured) -> Result<()> {
    let setup = configured.setup();
    let mut report = Report { printer };
    let folder = &setup.folder;
    let by = match folder.by() {
        DecidedBy::NothingBrought => "it brings nothing of its own".to_owned(),
        DecidedBy::ThisRun => "for this run".to_owned(),
        DecidedBy::SwitchedOff => "`security.folderTrust.enabled` is off".to_owned(),
        DecidedBy::Editor => "your editor says so".to_owned(),
        DecidedBy::Rule { path, .. } => format!("your rule about {}", path.display()),
        DecidedBy::Nobody => "nobody has decided; `toolgate trust`".to_owned(),
    };
    let about = format!("{}: {} ({by})", folder.path().display(), trust_word(folder.trust()));
    report.line(if folder.trust() == FolderTrust::Trusted { Mark::Good } else { Mark::Bad }, "folder", &about)?;
    for one in &setup.included {
        let text = format!("{} ({})", one.path.display(), named_by(&one.origin));
        report.line(Mark::Good, "included", &text)?;
    }
    for place in places(configured) {
        let mark = match place.state {
            State::Used => Mark::Good,
            State::Broken | State::Untrusted => Mark::Bad,
            State::Absent | State::NotAsked => Mark::Plain,
        };
        let state = place.state.as_str().replace('_', " ");
        report.line(mark, "settings", &format!("{}: {} ({state})", layer(place.source), place.path.display()))?;
    }
    for one in &setup.settings.extensions {
        let (extension, state) = (&one.extension, if one.is_enabled { "enabled" } else { "disabled" });
        let text = format!("{} {} in {} ({state})", extension.name, extension.version, extension.folder.display());
        report.line(Mark::Plain, "extension", &text)?;
    }
    if let Some(file) = &setup.env_file {
        report.line(Mark::Plain, "variables", &file.display().to_string())?;
    }
    for file in policies(configured) {
        report.line(Mark::Plain, "policy file", &file.display().to_string())?;
    }
    for (label, names, origin) in lists(configured) {
        report.line(Mark::Plain, label, &format!("{names} ({origin})"))?;
    }
    for tool in setup.settings.excluded_tools() {
        report.line(Mark::Plain, "tool hidden", &format!("{} ({})", tool.text, tool.origin))?;
    }
    Ok(())
}

/// The place that names an included folder, in words.
fn named_by(origin: &SettingsOrigin) -> String {
    match origin.path {
        Some(_) => format!("{}: {origin}", layer(origin.source)),
        None => "--include-directories".to_owned(),
    }
}

/// Every list of servers that is in force: what it is, what stands in it, and where it is written.
fn lists(configured: &Configured) -> Vec<(&'static str, String, SettingsOrigin)> {
    let mut lists = Vec::new();
    for layer in &configured.setup().settings.layers {
        let mcp = &layer.settings.mcp;
        for (label, list) in [("allowed", &mcp.allowed), ("excluded", &mcp.excluded)] {
            if let Some(list) = list {
                let names: Vec<&str> = list.value.iter().map(|name| name.value.as_str()).collect();
                let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                lists.push((label, names, layer.origin(list.at.line)));
            }
        }
    }
    lists
}

#[derive(Clone, Copy)]
enum Mark {
    Good,
    Bad,
    Plain,
}

struct Report<'p> {
    printer: &'p mut Printer,
}

impl Report<'_> {
    fn line(&mut self, mark: Mark, label: &str, text: &str) -> Result<()> {
        let paint = self.printer.paint();
        let mark = match mark {
            Mark::Good => paint.green("✓").to_string(),
            Mark::Bad => paint.red("✗").to_string(),
            Mark::Plain => "·".to_owned(),
        };
        Ok(self.printer.line(&format!("  {mark} {label:<LABEL$}{}", visible::line(text)))?)
    }

    fn server(&mut self, checkup: &Checkup) -> Result<()> {
        let paint = self.printer.paint();
        let (name, target) = (visible::line(&checkup.name), visible::line(&checkup.target));
        self.printer.line(&format!("{}  {}", paint.bold(name), paint.dim(target)))?;
        let origin = |origin: &SettingsOrigin| format!("{}: {origin}", layer(origin.source));
        self.line(Mark::Good, "settings", &origin(&checkup.origin))?;
        for loser in &checkup.replaces {
            self.line(Mark::Plain, "replaces", &origin(loser))?;
        }
        if let Some(extension) = &checkup.extension {
            self.line(Mark::Plain, "extension", extension)?;
        }
        match &checkup.held_back {
            Some(why) => self.line(Mark::Bad, checkup.status.as_str(), why)?,
            None => self.line(Mark::Good, "enabled", "no list and nobody holds it back")?,
        }
        if !checkup.trust.is_empty() {
            self.line(Mark::Plain, "trust", checkup.trust)?;
        }
        if !checkup.policy.is_empty() {
            self.line(Mark::Plain, "policy", &checkup.policy)?;
        }
        match &checkup.command {
            Command::None => (),
            Command::Found(path) => self.line(Mark::Good, "command", &path.display().to_string())?,
            Command::Missing(command) => {
                self.line(Mark::Bad, "command", &format!("`{command}` is not there, or no program"))?;
            }
        }
        if !checkup.auth.is_empty() {
            self.line(Mark::Plain, "auth", checkup.auth)?;
        }
        if let Some(offers) = &checkup.offers {
            self.line(Mark::Good, "connected", offers)?;
        }
        for tool in checkup.hidden.iter().take(LIKE_LINES_MAX) {
            self.line(Mark::Plain, "hidden", tool)?;
        }
        if checkup.hidden.len() > LIKE_LINES_MAX {
            let more = checkup.hidden.len() - LIKE_LINES_MAX;
            self.line(Mark::Plain, "hidden", &format!("{more} more tools; `toolgate tools --all` gives the reasons"))?;
        }
        for problem in &checkup.problems {
            self.line(Mark::Bad, "problem", problem)?;
        }
        if let Some(error) = &checkup.error {
            self.line(Mark::Bad, "last error", error)?;
            for line in last_lines(&checkup.stderr, STDERR_LINES_MAX) {
                self.line(Mark::Plain, "stderr", line)?;
            }
        }
        Ok(())
    }

    fn environment(&mut self, checkup: &Checkup) -> Result<()> {
        for (name, why) in &checkup.environment.received {
            self.line(Mark::Good, "variable", &format!("{name}: {why}"))?;
        }
        for (name, why) in &checkup.environment.held_back {
            self.line(Mark::Plain, "held back", &format!("{name}: {why}"))?;
        }
        Ok(())
    }
}

pub(crate) fn write(
    json: &mut JsonWriter<'_>,
    configured: &Configured,
    checkups: &[Checkup],
    unmatched: &[Unmatched],
) -> std::io::Result<()> {
    let setup = configured.setup();
    json.object(|object| {
        object.member("folder", |json| write_folder(json, &setup.folder))?;
        object.array("includedFolders", &setup.included, |json, one| {
            json.object(|object| {
                object.string("path", &one.path.display().to_string())?;
                object.member("origin", |json| write_origin(json, &one.origin))
            })
        })?;
        object.array("settings", places(configured), |json, place| {
            json.object(|object| {
                object.string("source", place.source.as_str())?;
                object.string("file", &place.path.display().to_string())?;
                object.string("state", place.state.as_str())
            })
        })?;
        object.array("extensions", &setup.settings.extensions, |json, one| {
            json.object(|object| {
                object.string("name", &one.extension.name)?;
                object.string("version", &one.extension.version)?;
                object.string("folder", &one.extension.folder.display().to_string())?;
                object.flag("enabled", one.is_enabled)
            })
        })?;
        let env_file = setup.env_file.as_ref().map(|file| file.display().to_string());
        object.optional_string("envFile", env_file.as_deref())?;
        object.array("policies", policies(configured), |json, file| json.string(&file.display().to_string()))?;
        object.array("lists", lists(configured), |json, (list, names, origin)| {
            json.object(|object| {
                object.string("list", list)?;
                object.string("servers", &names)?;
                object.member("origin", |json| write_origin(json, &origin))
            })
        })?;
        object.array("excludedTools", setup.settings.excluded_tools(), |json, tool| {
            json.object(|object| {
                object.string("name", &tool.text)?;
                object.member("origin", |json| write_origin(json, &tool.origin))
            })
        })?;
        object.array("fitsNothing", unmatched, unmatched::write)?;
        object.array("diagnostics", setup.diagnostics(), |json, one| json.string(&one.to_string()))?;
        object.array("broken", &setup.settings.broken, |json, error| of_broken(error).write_inner(json))?;
        object.array("servers", checkups, |json, one| json.object(|object| write_server(object, one)))?;
        match setup.settings.broken.first() {
            Some(error) => object.member("error", |json| of_broken(error).write_inner(json)),
            None => Ok(()),
        }
    })
}

fn write_server(object: &mut ObjectWriter<'_>, one: &Checkup) -> std::io::Result<()> {
    object.string("name", &one.name)?;
    object.flag("ok", !one.is_ill())?;
    object.string("status", one.status.as_str())?;
    object.string("target", &one.target)?;
    object.member("origin", |json| write_origin(json, &one.origin))?;
    object.array("replaces", &one.replaces, write_origin)?;
    object.optional_string("extension", one.extension.as_deref())?;
    object.optional_string("heldBack", one.held_back.as_deref())?;
    object.string("trust", one.trust)?;
    object.string("policy", &one.policy)?;
    let program = if let Command::Found(path) = &one.command { Some(path.display().to_string()) } else { None };
    object.optional_string("program", program.as_deref())?;
    object.flag("programMissing", matches!(one.command, Command::Missing(_)))?;
    object.string("auth", one.auth)?;
    let variable = |json: &mut JsonWriter<'_>, (name, why): (&str, &str)| {
        json.object(|object| {
            object.string("name", name)?;
            object.string("why", why)
        })
    };
    let received = one.environment.received.iter().map(|(name, why)| (name.as_str(), why.as_str()));
    object.array("environment", received, variable)?;
    let held_back = one.environment.held_back.iter().map(|(name, why)| (name.as_str(), why.as_str()));
    object.array("environmentHeldBack", held_back, variable)?;
    object.optional_string("offers", one.offers.as_deref())?;
    object.array("hidden", &one.hidden, |json, tool| json.string(tool))?;
    object.array("problems", &one.problems, |json, problem| json.string(problem))?;
    object.optional_string("error", one.error.as_deref())?;
    object.optional_string("stderr", Some(one.stderr.as_str()).filter(|text| !text.is_empty()))
}
