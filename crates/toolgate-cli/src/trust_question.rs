//! Asks the person at the terminal about a folder nobody has decided about, and about servers of a trusted one that changed since. They see
//! what they decide about first, and leaving the question decides nothing.

use std::collections::BTreeSet;

use toolgate::HostEnv;
use toolgate::settings::Settings;
use toolgate::shape::visible;
use toolgate::trust::{
    ENV_FILE_ENTRY, Folder, FolderTrust, POLICIES_ENTRY, Survey, TrustLevel, confirm, confirm_all, set_rule, survey,
};

use crate::columns::short;
use crate::commands::trust::change_of;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::LABEL_CHARS_MAX;
use crate::permission_record::record;
use crate::prompt::{List, Prompt};
use crate::question::Asker;
use crate::session::Session;
use crate::survey_text;
use crate::talk::Talk;

/// What a person decided about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A rule that is kept.
    Keep(TrustLevel),
    /// Nothing for now.
    Later,
}

/// Whether there is something new to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing was decided.
    AsBefore,
    /// Something was, and is recorded: the settings are to be read again.
    Anew,
}

/// Whether somebody can be asked.
pub(crate) fn can_ask(session: &Session) -> bool {
    let options = session.options();
    session.printer.terminal().can_ask() && !options.headless && !options.json && !options.yes
}

/// Whether there is something to ask about a folder.
pub(crate) fn has_to_ask(folder: &Folder) -> bool {
    folder.trust() == FolderTrust::Undecided || !folder.unconfirmed().is_empty()
}

/// Asks what has to be known before anything of the folder is used, and keeps the answers.
pub(crate) fn settle(env: &HostEnv, settings: &Settings, folder: &Folder, talk: &Talk) -> Result<Settled> {
    let found = survey(settings, folder);
    if folder.trust() == FolderTrust::Undecided {
        survey_text::lines(&found, folder.path(), talk.paint()).iter().for_each(|line| talk.line(line));
        let Answer::Keep(level) = ask_about_folder(talk, folder)? else { return Ok(Settled::AsBefore) };
        keep(env, settings, folder, level)?;
        record(env, talk, &change_of(folder.path(), (None, level), &[]));
        return Ok(Settled::Anew);
    }
    if folder.unconfirmed().is_empty() {
        return Ok(Settled::AsBefore);
    }
    let wanted = ask_about_entries(talk, folder, &found)?;
    if wanted.is_empty() {
        return Ok(Settled::AsBefore);
    }
    confirm(env, folder.path(), settings, &wanted)?;
    let wanted: Vec<String> = wanted.into_iter().collect();
    record(env, talk, &change_of(folder.path(), (None, TrustLevel::Folder), &wanted));
    Ok(Settled::Anew)
}

/// Writes a decision down. What the folder brings is trusted as it is now, not as it may become.
pub(crate) fn keep(env: &HostEnv, settings: &Settings, folder: &Folder, level: TrustLevel) -> Result<()> {
    // The record comes first: without it a rule would trust whatever the folder has by then.
    if level != TrustLevel::Not {
        confirm_all(env, folder.path(), settings)?;
    }
    set_rule(env, folder.path(), level)?;
    Ok(())
}

/// One of the answers, in words.
struct Choice(Answer, String);

fn choices(folder: &Folder) -> Vec<Choice> {
    let named = |path: &std::path::Path| {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        short(&name, LABEL_CHARS_MAX)
    };
    let mut choices =
        vec![Choice(Answer::Keep(TrustLevel::Folder), format!("Trust this folder ({})", named(folder.path())))];
    choices.extend(folder.path().parent().map(|parent| {
        let words = format!("Trust the parent folder ({}) and everything in it", named(parent));
        Choice(Answer::Keep(TrustLevel::Parent), words)
    }));
    choices.push(Choice(Answer::Keep(TrustLevel::Not), "Do not trust it".to_owned()));
    choices.push(Choice(Answer::Later, "Decide later".to_owned()));
    choices
}

/// Asks about a folder; what it brings has been shown. A key pressed too early decides nothing.
pub(crate) fn ask_about_folder(talk: &Talk, folder: &Folder) -> Result<Answer> {
    let (asker, _waiting) = Asker::new();
    let answer = talk.asking(&asker, || {
        let choices = choices(folder);
        let at = choices.iter().position(|choice| choice.0 == Answer::Later).unwrap_or(0);
        asker.forget_until_shown();
        let words = choices.iter().map(|choice| choice.1.clone()).collect();
        let prompt = Prompt { asker: &asker, paint: talk.paint() };
        let picked = prompt.pick(List::new("Do you trust it?", words).starting_at(at));
        picked.map(|at| choices.get(at).map_or(Answer::Later, |choice| choice.0))
    });
    match answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(_)) | None => Err(undecided(folder)),
    }
}

/// Asks about each server that is new or changed. The names of those that may be used.
pub(crate) fn ask_about_entries(talk: &Talk, folder: &Folder, found: &Survey) -> Result<BTreeSet<String>> {
    let (asker, _waiting) = Asker::new();
    let prompt = Prompt { asker: &asker, paint: talk.paint() };
    let mut wanted = BTreeSet::new();
    for name in folder.unconfirmed() {
        let entries = found.servers.iter().filter(|server| server.name == *name);
        let mut lines: Vec<String> =
            entries.flat_map(|server| survey_text::server_lines(server, folder.path(), talk.paint())).collect();
        let is_variables = name == ENV_FILE_ENTRY;
        lines.extend(
            found.env_file.iter().filter(|_| is_variables).map(|file| survey_text::env_line(file, folder.path())),
        );
        let are_policies = name == POLICIES_ENTRY;
        if are_policies {
            let files = found.policies.iter().map(|file| survey_text::policy_line(file, folder.path()));
            lines.extend(files);
            lines.extend(found.policies.is_empty().then(|| "  its policies are gone".to_owned()));
        }
        // What was not shown is not asked about.
        if lines.is_empty() {
            continue;
        }
        lines.iter().for_each(|line| talk.line(line));
        let change = folder.change_of(name).map_or("changed", |change| change.as_str());
        let what = if is_variables {
            "The `.env` file".to_owned()
        } else if are_policies {
            "What its policies say".to_owned()
        } else {
            format!("Server {}", short(name, LABEL_CHARS_MAX))
        };
        let question = format!("{what} is {change}. Use it?");
        match talk.asking(&asker, || prompt.yes_or_no(&question, Some(false), None)) {
            Some(Ok(true)) => drop(wanted.insert(name.clone())),
            Some(Ok(false)) => {}
            Some(Err(_)) | None => return Err(undecided(folder)),
        }
    }
    Ok(wanted)
}

fn undecided(folder: &Folder) -> CommandError {
    let path = folder.path().display().to_string();
    let message = format!("nothing was decided about {}", visible::line(&path));
    CommandError::new(Ending::Untrusted, "untrusted", message).hint("`toolgate trust` asks again")
}
