//! What a folder would start, in words for a person and as data for a program. Everything in it was written by whoever wrote the folder, so
//! none of it reaches a terminal as it is.

use std::io::Result;
use std::path::Path;

use toolgate::settings::{SettingsOrigin, SettingsSource};
use toolgate::shape::visible;
use toolgate::trust::{ReplacedServer, Survey, SurveyWarning, SurveyedEnvFile, SurveyedServer};

use crate::columns::short;
use crate::json::{JsonWriter, ObjectWriter};
use crate::limits::{LABEL_CHARS_MAX, REPLACED_NAMED_MAX};
use crate::listing::counted;
use crate::terminal::Paint;

/// Lines about a folder: what it would start, what else it brings, and what deserves a second look.
pub(crate) fn lines(survey: &Survey, folder: &Path, paint: Paint) -> Vec<String> {
    if survey.is_empty() {
        return vec![format!("{} brings nothing of its own", shown(folder))];
    }
    let mut lines = vec![format!("{} would bring:", paint.bold(shown(folder)))];
    for server in &survey.servers {
        lines.extend(server_lines(server, folder, paint));
    }
    for extension in &survey.extensions {
        let state = if extension.is_enabled { "" } else { ", disabled" };
        let (name, version) = (visible::line(&extension.name), visible::line(&extension.version));
        lines.push(format!("  extension {name} {version}{state}: {}", within(&extension.manifest, folder)));
    }
    lines.extend(survey.policies.iter().map(|path| policy_line(path, folder)));
    lines.extend(survey.env_file.iter().map(|file| env_line(file, folder)));
    if !survey.keys.is_empty() {
        let keys: Vec<_> = survey.keys.iter().map(|key| key.key.as_str()).collect();
        lines.push(format!("  settings: {}", listed(&keys)));
    }
    if survey.left_out > 0 {
        lines.push(format!(
            "  and {} that {} not listed here",
            counted(survey.left_out, "more thing"),
            are(survey.left_out)
        ));
    }
    lines.extend(survey.warnings.iter().map(|warning| warning_line(warning, folder, paint)));
    lines
}

const fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A policy file. What it says can only restrict.
pub(crate) fn policy_line(file: &Path, folder: &Path) -> String {
    format!("  policies: {}", within(file, folder))
}

/// A server and what it is given, below its name.
pub(crate) fn server_lines(server: &SurveyedServer, folder: &Path, paint: Paint) -> Vec<String> {
    let name = visible::line(&server.name);
    let kind = server.transport.map(|transport| format!(" ({transport})")).unwrap_or_default();
    let owner = server.extension.as_ref().map(|extension| format!(" of extension {}", visible::line(extension)));
    let change = server.change.map(|change| format!(", {} since it was trusted", paint.yellow(change.as_str())));
    let (owner, change) = (owner.unwrap_or_default(), change.unwrap_or_default());
    let mut lines =
        vec![format!("  server {}{kind}{owner}{change}: {}", paint.bold(name), place(&server.origin, folder))];
    lines.push(format!("    {}", visible::line(&server.target)));
    lines.extend(server.cwd.as_ref().map(|cwd| format!("    in the folder {}", visible::line(cwd))));
    let lists = [("variables", &server.env), ("headers", &server.headers), ("refers to", &server.references)];
    for (what, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        lines.push(format!("    {what}: {}", listed(names)));
    }
    lines.extend(server.replaces.iter().map(|own| replaced_line(own, folder, paint)));
    if server.is_unasked {
        lines.push(format!(
            "    {} it wants its tools to run without asking you (`trust`), which a folder cannot have",
            paint.yellow("warning:")
        ));
    }
    lines
}

fn replaced_line(own: &ReplacedServer, folder: &Path, paint: Paint) -> String {
    let whose = match own.origin.source {
        SettingsSource::BuiltIn => "the built-in server of this name".to_owned(),
        _ => format!("your server of this name ({})", place(&own.origin, folder)),
    };
    let target = own.target.as_ref().filter(|_| own.origin.source != SettingsSource::BuiltIn);
    let target = target.map(|target| format!(": {}", visible::line(target))).unwrap_or_default();
    format!("    {} it replaces {whose}{target}", paint.yellow("warning:"))
}

/// The names of the person's own servers that a folder would replace, for the question about it.
pub(crate) fn replaced_names(survey: &Survey) -> Option<String> {
    let names: Vec<_> = survey.servers.iter().filter(|server| server.replaces.is_some()).collect();
    let shown: Vec<_> =
        names.iter().take(REPLACED_NAMED_MAX).map(|server| short(&server.name, LABEL_CHARS_MAX)).collect();
    let more = names.len().saturating_sub(REPLACED_NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

pub(crate) fn env_line(file: &SurveyedEnvFile, folder: &Path) -> String {
    let path = within(&file.path, folder);
    match &file.problem {
        Some(problem) => format!("  variables of {path} cannot be read: {}", visible::line(problem)),
        None if file.names.is_empty() => format!("  {path}, with no variables"),
        None => format!("  variables of {path}: {}", listed(&file.names)),
    }
}

fn warning_line(warning: &SurveyWarning, folder: &Path, paint: Paint) -> String {
    let message = visible::line(&warning.message);
    format!("{} {}: {message}", paint.yellow("warning:"), place(&warning.origin, folder))
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| visible::line(name.as_ref())).collect::<Vec<_>>().join(", ")
}

fn place(origin: &SettingsOrigin, folder: &Path) -> String {
    let path = origin.path.as_deref().map(|path| within(path, folder)).unwrap_or_default();
    origin.line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"))
}

/// A path as somebody in the folder would write it.
fn within(path: &Path, folder: &Path) -> String {
    shown(path.strip_prefix(folder).unwrap_or(path))
}

fn shown(path: &Path) -> String {
    visible::line(&path.display().to_string()).into_owned()
}

/// The same as members of an object.
pub(crate) fn write(object: &mut ObjectWriter<'_>, survey: &Survey) -> Result<()> {
    object.array("servers", &survey.servers, write_server)?;
    object.array("extensions", &survey.extensions, |json, extension| {
        json.object(|object| {
            object.string("name", &extension.name)?;
            object.string("version", &extension.version)?;
            object.flag("enabled", extension.is_enabled)?;
            object.string("path", &extension.manifest.display().to_string())
        })
    })?;
    object.array("policies", &survey.policies, |json, path| json.string(&path.display().to_string()))?;
    object.member("envFile", |json| match &survey.env_file {
        None => json.null(),
        Some(file) => json.object(|object| {
            object.string("path", &file.path.display().to_string())?;
            object.array("names", &file.names, |json, name| json.string(name))?;
            object.optional_string("problem", file.problem.as_deref())
        }),
    })?;
    object.array("settings", &survey.keys, |json, key| {
        json.object(|object| {
            object.string("key", &key.key)?;
            write_origin(object, &key.origin)
        })
    })?;
    object.array("warnings", &survey.warnings, |json, warning| {
        json.object(|object| {
            object.string("message", &warning.message)?;
            write_origin(object, &warning.origin)
        })
    })?;
    object.number("notListed", survey.left_out as u64)
}

fn write_server(json: &mut JsonWriter<'_>, server: &SurveyedServer) -> Result<()> {
    json.object(|object| {
        object.string("name", &server.name)?;
        object.optional_string("transport", server.transport)?;
        object.string("target", &server.target)?;
        object.optional_string("cwd", server.cwd.as_deref())?;
        for (key, names) in [("env", &server.env), ("headers", &server.headers), ("references", &server.references)] {
            object.array(key, names, |json, name| json.string(name))?;
        }
        object.flag("trust", server.is_unasked)?;
        object.optional_string("change", server.change.map(|change| change.as_str()))?;
        object.optional_string("extension", server.extension.as_deref())?;
        object.member("replaces", |json| match &server.replaces {
            None => json.null(),
            Some(own) => json.object(|object| {
                object.optional_string("target", own.target.as_deref())?;
                object.string("source", own.origin.source.as_str())?;
                write_origin(object, &own.origin)
            }),
        })?;
        write_origin(object, &server.origin)
    })
}

fn write_origin(object: &mut ObjectWriter<'_>, origin: &SettingsOrigin) -> Result<()> {
    object.optional_string("path", origin.path.as_ref().map(|path| path.display().to_string()).as_deref())?;
    object.optional_number("line", origin.line.map(|line| line as u64))
}
