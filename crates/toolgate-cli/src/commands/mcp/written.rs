//! Where servers are written, in whatever settings there are: also those that are not in force. Nothing of it is expanded or started.

use std::collections::BTreeSet;
use std::path::Path;

use toolgate::HostEnv;
use toolgate::as_word;
use toolgate::audit::{PermissionChange, PermissionKind};
use toolgate::formats;
use toolgate::servers::{HeldBack, folded, held_back};
use toolgate::settings::{self, LoadOptions, Settings, SettingsLayer, SettingsOrigin, SettingsSource};
use toolgate::trust::{DecidedBy, FolderTrust, TrustLevel, confirm, confirm_all, judge, set_rule};

use crate::commands::mcp::scope::Target;
use crate::configured::of_broken;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::permission_record::Reason;
use crate::session::Session;
use crate::similar::did_you_mean;

/// All settings, as they are written; what the workspace folder brings stands beside the rest, whatever anybody thinks of it.
#[derive(Debug)]
pub(crate) struct Written(Settings);

/// One entry of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where it stands.
    pub(crate) origin: SettingsOrigin,
    /// The extension that brings it.
    pub(crate) extension: Option<String>,
    /// Whether it came with the workspace folder, and so counts only where that is trusted.
    pub(crate) is_brought: bool,
}

impl Written {
    /// Reads what can be read.
    pub(crate) fn read(session: &Session) -> Self {
        Self::of(session.env(), session.options().config.as_deref())
    }

    /// The same without a session.
    pub(crate) fn of(env: &HostEnv, config: Option<&Path>) -> Self {
        let options = LoadOptions { config: config.map(Path::to_owned), other_formats: Some(formats::layer) };
        Self(settings::load(env, &options))
    }

    /// The same, when all of it can be read.
    pub(crate) fn whole(session: &Session) -> Result<Self> {
        let written = Self::read(session);
        match written.0.broken.first() {
            Some(error) => Err(of_broken(error)),
            None => Ok(written),
        }
    }

    /// Every layer, whether it is in force or not.
    fn layers(&self) -> impl Iterator<Item = &SettingsLayer> + Clone {
        self.0.layers.iter().chain(&self.0.brought.layers)
    }

    /// The names of all servers, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let entries = self.layers().flat_map(|layer| &layer.settings.mcp_servers);
        let mut names: Vec<&str> = entries.map(|entry| entry.name.value.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The entries of a name, those first that win.
    pub(crate) fn entries(&self, name: &str) -> Vec<Entry> {
        let own = self.0.layers.iter().map(|layer| (layer, false));
        let brought = self.0.brought.layers.iter().map(|layer| (layer, true));
        let mut entries: Vec<Entry> = Vec::new();
        for (layer, is_brought) in own.chain(brought) {
            for entry in layer.settings.mcp_servers.iter().filter(|entry| entry.name.value == name) {
                let extension = layer.extension.as_ref().map(|extension| extension.name.clone());
                entries.push(Entry { origin: layer.origin(entry.name.at.line), extension, is_brought });
            }
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.origin.source));
        entries
    }

    /// The entry of a name that counts.
    pub(crate) fn in_force(&self, session: &Session, name: &str) -> Option<Entry> {
        let is_trusted = self.is_folder_trusted(session);
        self.entries(name).into_iter().find(|entry| is_trusted || !entry.is_brought)
    }

    /// The name as it is written of a server that was typed without regard to letter case and blanks.
    pub(crate) fn spelled(&self, typed: &str) -> Option<&str> {
        let names = self.names();
        let exact = names.iter().find(|name| **name == typed);
        exact.or_else(|| names.iter().find(|name| folded(name) == folded(typed))).copied()
    }

    /// There is no server of that name.
    pub(crate) fn unknown(&self, typed: &str) -> CommandError {
        let hint = did_you_mean(typed, self.names()).unwrap_or_else(|| "no servers are configured".to_owned());
        CommandError::new(Ending::Unknown, "unknown_server", format!("there is no server `{typed}`"))
            .about(typed)
            .hint(hint)
    }

    /// Why a server is held back by a list, if it is.
    pub(crate) fn blocked(&self, session: &Session, name: &str) -> Option<CommandError> {
        let mut layers = self.0.layers.clone();
        if self.is_folder_trusted(session) {
            layers.extend(self.0.brought.layers.iter().cloned());
        }
        let (held_back, list) = held_back(&layers, name)?;
        let (message, hint) = match held_back {
            HeldBack::NotAllowed => ("is not in `mcp.allowed`", "add it there"),
            HeldBack::Excluded => ("is in `mcp.excluded`", "remove it there"),
        };
        let error = CommandError::new(Ending::Denied, "blocked", format!("{name} {message} of {list}"));
        Some(error.about(name).hint(format!("the list decides, whatever is enabled; {hint}")))
    }

    /// Whether the folder brings nothing so far, and nobody has decided about it.
    pub(crate) fn is_folder_empty(&self, env: &HostEnv) -> bool {
        judge(env, &self.0, None).is_ok_and(|folder| *folder.by() == DecidedBy::NothingBrought)
    }

    /// Whoever writes the first entry into the settings of a folder has seen all that it brings. Whatever comes later is asked about.
    pub(crate) fn vouch_for_all(&self, session: &Session, reason: &Reason) -> Result<()> {
        let env = session.env();
        let folder = judge(env, &self.0, None)?;
        if folder.trust() == FolderTrust::Undecided {
            confirm_all(env, folder.path(), &self.0)?;
            set_rule(env, folder.path(), TrustLevel::Folder)?;
            let change = PermissionChange::new(PermissionKind::Trust, folder.path().display().to_string());
            reason.record(session, change.after(TrustLevel::Folder.as_str()));
        }
        Ok(())
    }

    /// Whoever writes an entry into the settings of a folder they trust has seen it: it needs no confirmation of its own.
    pub(crate) fn vouch_for(&self, session: &Session, names: &[&str], reason: &Reason) -> Result<()> {
        let env = session.env();
        let folder = judge(env, &self.0, None)?;
        let unconfirmed = names.iter().filter(|name| folder.unconfirmed().contains(**name));
        let seen: BTreeSet<String> = unconfirmed.map(|name| (*name).to_owned()).collect();
        if folder.is_trusted() && !seen.is_empty() {
            confirm(env, folder.path(), &self.0, &seen)?;
            let names: Vec<String> = seen.into_iter().collect();
            let change = PermissionChange::new(PermissionKind::Trust, folder.path().display().to_string());
            reason.record(session, change.after(format!("confirmed: {}", names.join(", "))));
        }
        Ok(())
    }

    /// Whether what the workspace folder brings is used.
    pub(crate) fn is_folder_trusted(&self, session: &Session) -> bool {
        let this_run = session.options().trust_folder.then_some(true);
        judge(session.env(), &self.0, this_run).is_ok_and(|folder| folder.is_trusted())
    }
}

impl Entry {
    /// Where it is, and what can be done about it, when it is not in those files of which it was to be removed.
    pub(crate) fn way_out(&self, name: &str, looked_into: &[Target]) -> String {
        let Self { origin, extension, .. } = self;
        let off = format!("`toolgate mcp disable {}` switches it off", as_word(name));
        if looked_into.iter().any(|target| Some(&target.path) == origin.path.as_ref()) {
            return format!("it is made of `mcp.serverCommand` in {origin}; remove that by hand");
        }
        match (origin.source, extension) {
            (_, Some(extension)) => {
                format!("it comes with the extension `{extension}` and cannot be removed from here; {off}")
            }
            (SettingsSource::BuiltIn, _) => format!("`{name}` is built in and cannot be removed; {off}"),
            (SettingsSource::SystemDefaults | SettingsSource::SystemOverrides, _) => {
                format!("it stands in {origin}, the administrator's file, and cannot be removed from here; {off}")
            }
            (SettingsSource::User, _) => format!("it stands in {origin}; `-s user` removes it there"),
            (SettingsSource::Workspace, _) => format!("it stands in {origin}; `-s project` removes it there"),
            (SettingsSource::Extension | SettingsSource::CommandLine, _) => format!("it stands in {origin}"),
        }
    }
}
