//! `Setup`: everything that is decided before a server is started: settings read, the folder judged, variables gathered, servers found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::audit::{PolicyInForce, RulesInForce};
use crate::auth::store::TokenStore;
use crate::call::CallRules;
use crate::env::{HostDirs, HostEnv};
use crate::error::{Error, ErrorKind, Result};
use crate::filter::{self, EntryError};
use crate::formats;
use crate::grants::Grants;
use crate::host::{Host, HostBuilder};
use crate::own_files;
use crate::policy::{Mode, Permissions};
use crate::registry::Naming;
use crate::rulebook::{Rulebook, RulebookOptions, grants_last_in_run, lasting_of_run, mode_of_run, named_policies};
use crate::servers::{Enablement, ServerConfig, ServerSet, Switches, folded, resolve, untrusted};
use crate::settings::brought::{POLICIES_FOLDER, WORKSPACE_FOLDER, policy_files};
use crate::settings::dotenv::{self, DOTENV_FILE, Owner};
use crate::settings::extensions::EXTENSIONS_FOLDER;
use crate::settings::include_directories::{Ground, IncludedFolder, real_folder};
use crate::settings::load::{SETTINGS_FILE, SYSTEM_DEFAULTS_FILE};
use crate::settings::raw::ToolNaming;
use crate::settings::{self, Diagnostic, EnvExceptions, LoadOptions, Settings, Severity};
use crate::trust::{self, AdmittedServers, ENV_FILE_ENTRY, EntryChange, Folder};
use crate::workspace_folders::WorkspaceFolders;

/// What a run was asked for.
#[derive(Clone, Debug, Default)]
pub struct SetupOptions {
    /// A settings file, also of another client, that is used alone (`--config`).
    pub config: Option<PathBuf>,
    /// The servers of this run, in place of every `mcp.allowed` (`--allowed-mcp-server-names`).
    pub allowed_servers: Option<Vec<String>>,
    /// Whether the folder is trusted for this run (`--trust-folder`).
    pub trust_folder: Option<bool>,
    /// Servers that are switched off for as long as the session lasts.
    pub disabled_for_session: BTreeSet<String>,
    /// Folders beside the workspace for this run, besides those of the settings (`--include-directories`).
    pub include_directories: Vec<String>,
    /// The rules of this run.
    pub rules: RulebookOptions,
}

/// What the settings of a run come to. Nothing has been started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The world with the variables of `.env` files and the folders beside the workspace in it.
    pub env: Arc<HostEnv>,
    /// The settings in force; what the folder brings is among the layers when the folder is trusted, else beside them.
    pub settings: Arc<Settings>,
    /// What was decided about the workspace folder.
    pub folder: Folder,
    /// The folders beside the workspace, which `env` has too, with the places that name them.
    pub included: Vec<IncludedFolder>,
    /// The servers.
    pub servers: ServerSet,
    /// The `.env` file that was used.
    pub env_file: Option<PathBuf>,
    /// What could not be read besides settings files. None of it stops the rest.
    pub troubles: Vec<Error>,
    rules: RulebookOptions,
    /// Whether options of this run change the servers, settings or rules.
    has_options: bool,
    /// The names that only the `.env` file of the project has.
    of_project: Vec<String>,
}

impl SetupOptions {
    /// Whether they change the servers, settings or rules.
    fn change_something(&self) -> bool {
        self.config.is_some()
            || self.allowed_servers.is_some()
            || self.trust_folder.is_some()
            || !self.disabled_for_session.is_empty()
            || self.rules.policies.is_some()
            || self.rules.allowed_tools.is_some()
    }
}

/// Takes access of others to the person's own folder away. A user folder that is the home folder itself also belongs to other programs.
fn narrow_own_folder(env: &HostEnv) -> Option<Error> {
    if env.dirs.home.as_deref() == Some(env.dirs.user.as_path()) {
        return None;
    }
    let error = own_files::narrow(&env.dirs.user).err()?;
    let what = format!("cannot restrict access to {}: {error}", env.dirs.user.display());
    Some(Error::new(ErrorKind::State, what).hinting("check who owns its files"))
}

fn unused_env_file(change: EntryChange) -> Error {
    let how = if change == EntryChange::New { "is new" } else { "changed" };
    let message = format!("the `.env` file {how} since the folder was trusted, and is not used");
    Error::new(ErrorKind::Untrusted, message).hinting("`toolgate trust` shows it and asks you")
}

impl Setup {
    /// Reads everything and decides.
    ///
    /// # Errors
    /// When what the person decided about folders cannot be read: then nobody knows what may be used.
    pub fn read(env: &HostEnv, options: &SetupOptions) -> Result<Self> {
        let load = LoadOptions { config: options.config.clone(), other_formats: Some(formats::layer) };
        let mut settings = settings::load(env, &load);
        let mut troubles = Vec::new();
        troubles.extend(narrow_own_folder(env));
        let folder = trust::judge(env, &settings, options.trust_folder)?;
        if folder.is_trusted() {
            settings.take_in_brought();
        }
        let found = dotenv::find(env, &settings, |above, file| may_use((above, file), env, &folder, &settings));
        let found = found.unwrap_or_else(|error| {
            troubles.push(error);
            dotenv::Found::default()
        });
        let mut env = env.clone();
        let mut own_variables = env.vars.clone();
        let mut of_project = Vec::new();
        for (name, value) in found.variables {
            if found.owner == Owner::Project && !env.vars.contains_key(&name) {
                of_project.push(name.clone());
            } else if found.owner != Owner::Project {
                own_variables.entry(name.clone()).or_insert_with(|| value.clone());
            }
            env.vars.entry(name).or_insert(value);
        }
        let ground = Ground {
            workspace: &env.workspace,
            home: env.dirs.home.as_deref(),
            variables: &own_variables,
            own: env.own_folder_to_close(),
            look: &real_folder,
        };
        let included = settings.included(&options.include_directories, &ground);
        env.workspace = WorkspaceFolders::new(env.workspace.main(), included.paths());
        troubles.extend(folder.change_of(ENV_FILE_ENTRY).map(unused_env_file));
        let enablement = Enablement::read(&env).unwrap_or_else(|error| {
            troubles.push(error);
            Enablement::default()
        });
        let switches = Switches {
            allowed: options.allowed_servers.clone(),
            unconfirmed: folder.unconfirmed().clone(),
            disabled: enablement.disabled().clone(),
            disabled_for_session: options.disabled_for_session.iter().map(|name| folded(name)).collect(),
        };
        let mut servers = resolve(&settings.layers, &switches, &env);
        servers.diagnostics.extend(settings.diagnostics.iter().cloned());
        servers.diagnostics.extend(included.diagnostics);
        let included = included.folders;
        servers.set_aside.extend(untrusted(&settings.brought.layers));
        if let Some(origin) = settings.origin_of_restriction("security.strict") {
            servers.active.iter_mut().for_each(|server| Arc::make_mut(server).strict = Some(origin.clone()));
        }
        let entries = servers.active.iter().flat_map(|server| unreadable_entries(server));
        servers.diagnostics.extend(entries.collect::<Vec<_>>());
        let (env, settings) = (Arc::new(env), Arc::new(settings));
        Ok(Self {
            env,
            settings,
            folder,
            included,
            servers,
            env_file: found.file,
            of_project,
            troubles,
            rules: options.rules.clone(),
            has_options: options.change_something(),
        })
    }

    /// The rules of the run, with their errors. While a file is invalid, they deny every call.
    #[must_use]
    pub fn rulebook(&self) -> Rulebook {
        Rulebook::read(&self.env, &self.settings, &self.servers, &self.folder, &self.rules)
    }

    /// Refuses settings with an unreadable file, because that file may exclude a server.
    ///
    /// # Errors
    /// Returns an error if a settings file is broken.
    pub fn usable(&self) -> Result<()> {
        let Some(broken) = self.settings.broken.first() else { return Ok(()) };
        let error = Error::new(ErrorKind::Settings, broken.to_string());
        Err(broken.hint().map_or_else(|| error.clone(), |hint| error.clone().hinting(hint)))
    }

    /// The rules that every call of this run goes through: policy, safety checkers, mode, and earlier grants. No question
    /// is asked and no record is kept until the front end adds a confirmer and an audit sink.
    ///
    /// # Errors
    /// Returns an error if a settings or policy file cannot be used, or the mode is forbidden.
    pub fn call_rules(&self) -> Result<CallRules> {
        self.usable()?;
        let book = self.rulebook();
        if let Some(error) = book.error() {
            return Err(error);
        }
        Ok(CallRules { grants: Some(Arc::new(Grants::open(&self.env))), ..self.call_rules_of(book, None)? })
    }

    /// These rules from a rulebook that is already read, without earlier grants. `mode` wins over the mode of the settings.
    ///
    /// # Errors
    /// Returns an error if the mode is forbidden.
    pub fn call_rules_of(&self, book: Rulebook, mode: Option<Mode>) -> Result<CallRules> {
        Ok(CallRules {
            permissions: Permissions::new(book.policy),
            checkers: book.checkers,
            mode: mode_of_run(mode, &self.settings, &self.folder)?,
            folder: book.folder,
            lasting: lasting_of_run(&self.settings),
            grants_last: grants_last_in_run(&self.settings),
            ..CallRules::default()
        })
    }

    /// A host built from the settings: rules, variables of servers, names of tools, logins.
    ///
    /// # Errors
    /// As [`Setup::call_rules`].
    pub fn host(&self) -> Result<HostBuilder> {
        let rules = self.call_rules()?;
        let naming = match self.settings.naming() {
            ToolNaming::Short => Naming::Short,
            ToolNaming::Qualified => Naming::Qualified,
        };
        let builder = Host::builder(self.env.clone()).call_rules(rules).naming(naming);
        let builder = builder.connect_limit(self.settings.connect_limit()).env_exceptions(self.env_exceptions());
        Ok(builder.token_store(TokenStore::of(&self.settings)))
    }

    /// The rules in the form that the record needs.
    #[must_use]
    pub fn rules_in_force<'a>(&'a self, book: &'a Rulebook) -> RulesInForce<'a> {
        let policies = book.files.iter().filter(|file| !file.is_named);
        RulesInForce {
            folder: &self.env.workspace,
            policies: policies.map(|file| PolicyInForce { path: &file.path, text: file.text() }).collect(),
            settings: self.settings.layers.iter().filter_map(|layer| layer.path.as_deref()).collect(),
            has_options: self.has_options,
            policy: &book.policy,
            servers: &self.servers.active,
            folder_is_trusted: self.folder.is_vouched_for(),
        }
    }

    /// The servers that may be started. What the folder brings is recorded when that is the first time.
    ///
    /// # Errors
    /// Returns an error if a settings file is broken, or the folder brings something of its own and is not trusted.
    pub fn admitted(&self) -> Result<AdmittedServers> {
        self.usable()?;
        let admitted = trust::admit(&self.servers, &self.folder)?;
        if let Err(error) = self.record_first_use() {
            tracing::warn!("{error}");
        }
        Ok(admitted)
    }

    /// Records what the folder brings when that has not been done, as [`Setup::admitted`] does, and says when it cannot be.
    ///
    /// # Errors
    /// When it cannot be recorded: a change goes unnoticed then.
    pub fn record_first_use(&self) -> Result<()> {
        self.folder.record_first_use(&self.env, &self.settings)
    }

    /// Which variables reach servers in spite of their names, or do not. Those of a project's `.env` are for its settings: a server gets one by
    /// naming it in its `env`.
    #[must_use]
    pub fn env_exceptions(&self) -> EnvExceptions {
        EnvExceptions { of_project: self.of_project.clone(), ..self.settings.env_exceptions() }
    }

    /// The files that decide, whether they are there or not: a change in one of them may change everything.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let HostDirs { user, system, home } = &self.env.dirs;
        let workspace = self.env.workspace.join(WORKSPACE_FOLDER);
        let mut files = vec![
            system.join(SYSTEM_DEFAULTS_FILE),
            system.join(SETTINGS_FILE),
            user.join(SETTINGS_FILE),
            workspace.join(SETTINGS_FILE),
            user.join(EXTENSIONS_FOLDER),
            workspace.join(EXTENSIONS_FOLDER),
            Enablement::file(&self.env),
            workspace.join(DOTENV_FILE),
            self.env.workspace.join(DOTENV_FILE),
            user.join(DOTENV_FILE),
        ];
        files.extend(home.iter().map(|home| home.join(DOTENV_FILE)));
        files.extend(self.settings.extensions.iter().map(|one| one.extension.manifest.clone()));
        files.extend(trust::files(&self.env));
        files.push(settings::extension_enablement_file(&self.env));
        let all = self.settings.layers.iter().chain(&self.settings.brought.layers);
        files.extend(all.filter_map(|layer| layer.path.clone()));
        files.extend(self.env_file.clone());
        files.extend(self.settings.brought.policies.iter().cloned());
        let named = self.rules.policies.iter().flatten().map(|path| self.env.workspace.join(path));
        let policies = [user, system, &workspace].map(|folder| folder.join(POLICIES_FOLDER)).into_iter();
        for path in policies.chain(named).chain(named_policies(&self.env, &self.settings)) {
            files.extend(policy_files(&path));
            files.push(path);
        }
        files.sort();
        files.dedup();
        files
    }

    /// What is odd in the settings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.servers.diagnostics
    }
}

/// What is wrong with the entries of a server's lists. They restrict what they could mean, and permit nothing.
fn unreadable_entries(server: &ServerConfig) -> Vec<Diagnostic> {
    let lists = [
        ("includeTools", server.include_tools.as_deref().unwrap_or_default()),
        ("excludeTools", &server.exclude_tools),
    ];
    let complaint = |list: &str, error: EntryError| Diagnostic {
        severity: Severity::Error,
        origin: server.origin.clone(),
        column: None,
        server: Some(server.name.to_string()),
        key: Some(format!("mcpServers.{}.{list}", server.name)),
        message: error.to_string(),
        hint: Some("an entry is a name, `*` for anything, or `name(what its arguments begin with)`".to_owned()),
    };
    let errors = lists
        .into_iter()
        .flat_map(|(list, entries)| filter::check(entries).into_iter().map(move |error| (list, error)));
    errors.map(|(list, error)| complaint(list, error)).collect()
}

/// The variables of a project count where its folder is trusted; those of folders above it where the person said so of that folder.
fn may_use((folder, file): (&Path, &Path), env: &HostEnv, workspace: &Folder, settings: &Settings) -> bool {
    if folder == env.workspace.main() {
        return workspace.is_trusted() && !workspace.unconfirmed().contains(ENV_FILE_ENTRY);
    }
    !settings.folder_trust().enabled || trust::trusts_env_file(env, folder, file)
}
