//! `LiveSettings`: settings that are followed while a host runs. A change is read anew and made true; what cannot be read leaves everything
//! as it was.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::event::HostEvent;
use crate::host::{Host, Reconciled};
use crate::limits::SETTINGS_LOOK_MS;
use crate::rulebook::Rulebook;
use crate::servers::TransportConfig;
use crate::settings::Severity;
use crate::setup::{Setup, SetupOptions};
use crate::trust::FolderTrust;

/// The settings of a run, and what their files looked like when they were read.
#[derive(Debug)]
pub struct LiveSettings {
    env: HostEnv,
    options: SetupOptions,
    setup: Setup,
    seen: Vec<Seen>,
}

/// What a file looked like. Nothing when there was none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    about: Option<(SystemTime, u64, u64)>,
}

impl Seen {
    fn of(path: PathBuf) -> Self {
        // Files are looked at, not watched: that also works where they are replaced, made later, or on another machine.
        let about = std::fs::metadata(&path).ok();
        let about = about.and_then(|about| Some((about.modified().ok()?, about.len(), number_of(&about))));
        Self { path, about }
    }
}

/// A file that was replaced has another number, also when it was written in the same moment and has the same length.
#[cfg(unix)]
fn number_of(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number_of(_about: &Metadata) -> u64 {
    0
}

impl LiveSettings {
    /// Reads the settings of a run.
    ///
    /// # Errors
    /// Returns an error if the decisions about folders cannot be read, or a settings or policy file cannot be used.
    pub fn read(env: HostEnv, options: SetupOptions) -> Result<Self> {
        let setup = Setup::read(&env, &options)?;
        setup.usable()?;
        refuse_broken(&setup.rulebook())?;
        let seen = look(&setup);
        Ok(Self { env, options, setup, seen })
    }

    /// What is in force.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What this run was asked for; changes count from the next reading on.
    pub const fn options_mut(&mut self) -> &mut SetupOptions {
        &mut self.options
    }

    /// Waits until one of the files looks different.
    pub async fn changed(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(SETTINGS_LOOK_MS)).await;
            if self.seen.iter().any(|seen| Seen::of(seen.path.clone()) != *seen) {
                return;
            }
        }
    }

    /// Reads the settings anew and makes them true: only servers that mean something else are started or stopped. What concerns all servers
    /// (the variables of the host, limits, names) stays as it was when the host was made.
    ///
    /// # Errors
    /// When the new settings cannot be used. What was in force before stays so, in the host too.
    pub async fn reload(&mut self, host: &Host) -> Result<Reconciled> {
        let (env, options, old) = (self.env.clone(), self.options.clone(), self.setup.clone());
        // Another process may hold a lock, and files may be far away.
        let read = tokio::task::spawn_blocking(move || {
            // What changes while it is being read has to be seen as a change afterwards.
            let before = look(&old);
            let setup = Setup::read(&env, &options);
            let after = setup.as_ref().map_or(Vec::new(), look);
            let seen = before.iter().cloned().chain(after.into_iter().filter(|new| !has(&before, &new.path)));
            (seen.collect::<Vec<_>>(), setup)
        });
        let (seen, setup) = read.await.map_err(|error| Error::new(ErrorKind::Settings, error.to_string()))?;
        self.seen = seen;
        let setup = setup?;
        setup.usable()?;
        as_good_as(&setup, &self.setup)?;
        let servers = match setup.admitted() {
            Ok(servers) => servers,
            // The folder brings something new that nobody has decided about; what runs was decided about before.
            Err(error) if setup.folder.trust() == FolderTrust::Undecided => return Err(error),
            Err(_) => Default::default(),
        };
        let rules = setup.rulebook();
        refuse_broken(&rules)?;
        if host.include(setup.env.workspace.included()) && host.borrows() {
            // A server that is shared was told the roots of the others. It is borrowed again, from among those that were told these.
            host.reconcile(servers.clone().only(|server| !matches!(server.transport, TransportConfig::Stdio(_))));
        }
        let changed = host.reconcile(servers);
        host.use_rules(&rules)?;
        note_rules(host, &setup, rules).await;
        self.setup = setup;
        Ok(changed)
    }

    /// Follows the settings for as long as the host lives. What cannot be used is told as an event.
    pub async fn follow(mut self, host: &Host) {
        loop {
            self.changed().await;
            if let Err(error) = self.reload(host).await {
                host.tell(HostEvent::SettingsRefused(error));
            }
        }
    }
}

fn refuse_broken(rules: &Rulebook) -> Result<()> {
    rules.error().map_or(Ok(()), Err)
}

/// Records that the rules are others now, away from what waits for servers.
async fn note_rules(host: &Host, setup: &Setup, rules: Rulebook) {
    let (setup, audit) = (setup.clone(), host.calls().audit().clone());
    let noted = tokio::task::spawn_blocking(move || audit.rules_in_force(&setup.rules_in_force(&rules)));
    if let Ok(Err(error)) = noted.await {
        tracing::warn!("cannot record the changed rules: {error}");
    }
}

/// What could be read before and cannot be read now, such as the file of switched-off servers, must not decide by its absence.
fn as_good_as(new: &Setup, old: &Setup) -> Result<()> {
    let errors = |setup: &Setup| -> Vec<String> {
        let told = setup.settings.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        setup.troubles.iter().map(ToString::to_string).chain(told.map(ToString::to_string)).collect()
    };
    let known = errors(old);
    match errors(new).into_iter().find(|error| !known.contains(error)) {
        Some(error) => Err(Error::new(ErrorKind::Settings, error)),
        None => Ok(()),
    }
}

fn has(seen: &[Seen], path: &Path) -> bool {
    seen.iter().any(|one| one.path == path)
}

fn look(setup: &Setup) -> Vec<Seen> {
    setup.files().into_iter().map(Seen::of).collect()
}
