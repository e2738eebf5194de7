//! From what was typed and the world around the process to a host. The only file that reads the environment, the home folder and the
//! current folder: everything else is handed what it needs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate::audit::{AuditOptions, FileAudit};
use toolgate::call::Confirmer;
use toolgate::connect::Lender;
use toolgate::grants::Grants;
use toolgate::policy::Mode;
use toolgate::{HostDirs, HostEnv, Setup, SetupOptions, SystemClock};

use crate::args::Options;
use crate::arrival::Waiting;
use crate::chat::LastingHost;
use crate::configured::{Configured, of_broken};
use crate::confirm::PersonConfirms;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::interrupt::Interrupts;
use crate::kept_revision;
use crate::log_file::LogFile;
use crate::printer::{Form, Printer};
use crate::runtime::borrow::RuntimeLender;
use crate::runtime::conditions::{Conditions, number};
use crate::runtime::frames::Errand;
use crate::runtime::place::Place;
use crate::runtime::visit::{Visit, VisitorConfirms, World};
use crate::runtime::words::is_shared;
use crate::terminal::Terminal;
use crate::trouble::Surroundings;
use crate::trust_question::{self, Settled};

mod hosting;

/// Where the administrator's files are.
const SYSTEM_FOLDER: &str = "/etc/toolgate";

/// Stands for a home where there is none: a place that holds nothing.
const NO_HOME: &str = "/nonexistent";

/// Does without the runtime, when it is set.
const NO_RUNTIME: &str = "TOOLGATE_NO_RUNTIME";

/// Where sockets of a person may be that live as long as they are logged in.
const RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    options: Options,
    env: HostEnv,
    /// Where results go.
    pub(crate) printer: Printer,
    /// Whoever brought the command, when it is run for somebody else.
    visit: Option<Arc<Visit>>,
    /// The host that outlives the command, when it is one of many that are typed one after the other.
    lasting: Option<Arc<LastingHost>>,
}

impl Session {
    /// Looks around.
    pub(crate) fn new(options: Options) -> Self {
        let vars = variables();
        let form = if options.json { Form::Json } else { Form::Text };
        let terminal = Terminal::around(&vars, options.no_color);
        let printer = Printer::new(form, terminal);
        let (dirs, workspace) = (folders(variable), current_folder());
        let env = HostEnv { vars, dirs, workspace: workspace.into(), clock: Arc::new(SystemClock) };
        Self { options, env, printer, visit: None, lasting: None }
    }

    /// Looks around in the world of somebody who brought a command.
    pub(crate) fn visiting(options: Options, visit: Arc<Visit>) -> Self {
        let World { vars, folder: workspace, terminal, .. } = visit.world().clone();
        let form = if options.json { Form::Json } else { Form::Text };
        let terminal = Terminal { colours: terminal.colours && !options.no_color, ..terminal };
        let printer = visit.printer(form, terminal);
        let dirs = folders(|name| vars.get(name).map(Into::into));
        let env = HostEnv { vars, dirs, workspace: workspace.into(), clock: Arc::new(SystemClock) };
        Self { options, env, printer, visit: Some(visit), lasting: None }
    }

    /// Opens the log file of `--log-file`.
    pub(crate) fn begin_log(&self) -> Result<()> {
        let Some(path) = &self.options.log_file else { return Ok(()) };
        let file = LogFile::open(&self.env.workspace.join(path), self.env.clock.clone())?;
        self.printer.talk().logs_to(file);
        Ok(())
    }

    /// For one command of many, with what was typed for it alone. The window may have another size than before.
    pub(crate) fn for_line(&self, typed: Options) -> Self {
        let options = typed.over(&self.options);
        let form = if options.json { Form::Json } else { Form::Text };
        let terminal = Terminal::around(&self.env.vars, options.no_color);
        let printer = Printer::beside(form, terminal, self.printer.talk().clone());
        Self { options, env: self.env.clone(), printer, visit: None, lasting: self.lasting.clone() }
    }

    /// From now on commands use this host, which outlives them.
    pub(crate) fn lasts_with(&mut self, host: Arc<LastingHost>) {
        self.lasting = Some(host);
    }

    /// The host that outlives the command.
    pub(crate) const fn lasting(&self) -> Option<&Arc<LastingHost>> {
        self.lasting.as_ref()
    }

    /// Which servers a command waits for that are still starting.
    pub(crate) fn waiting(&self) -> Waiting {
        self.lasting.as_ref().map_or(Waiting::ForAll, |host| host.waiting())
    }

    /// Lets more or less through without a question, from the next command on.
    pub(crate) const fn set_mode(&mut self, mode: Mode) {
        self.options.set_mode(mode);
    }

    /// For somebody who reads JSON, when what was typed could not be read.
    pub(crate) fn for_programs() -> Self {
        Self::new(Options { json: true, ..Options::default() })
    }

    /// What was typed for every command.
    pub(crate) const fn options(&self) -> &Options {
        &self.options
    }

    /// The world, for the library.
    pub(crate) const fn env(&self) -> &HostEnv {
        &self.env
    }

    /// Where the runtime of this person is found.
    pub(crate) fn runtime_place(&self) -> Place {
        Place::of(&self.env.dirs.user, self.env.vars.get(RUNTIME_DIR).map(Path::new))
    }

    /// Whether something runs in a sandbox, from which not everything can be reached.
    pub(crate) fn surroundings(&self) -> Surroundings {
        let is_set = self.env.vars.get("SANDBOX").is_some_and(|value| !value.is_empty());
        if is_set { Surroundings::Sandbox } else { Surroundings::Open }
    }

    /// Whether there is a browser that the person would see: over SSH and in a container there is none, unless they say so.
    pub(crate) fn has_a_browser(&self) -> bool {
        let is_set = |name: &str| self.env.vars.get(name).is_some_and(|value| !value.is_empty());
        // Over SSH only a display that was forwarded is in front of the person.
        let is_far = is_set("SSH_CONNECTION") && !is_set("DISPLAY");
        let has_display = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
        is_set("BROWSER") || (has_display && !is_far)
    }

    /// The names of this machine and of the person, as far as they are known.
    pub(crate) fn machine_and_user(&self) -> (String, String) {
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let user = ["USER", "LOGNAME"].iter().find_map(|name| self.env.vars.get(*name)).cloned();
        (machine, user.unwrap_or_default())
    }

    /// The servers of the settings, for a command that uses them. What is odd in them is said; what is wrong ends the command, and what nobody
    /// has decided about the folder is asked where somebody can be.
    pub(crate) fn configured(&self) -> Result<Configured> {
        let mut setup = self.setup()?;
        if let Some(error) = setup.settings.broken.first() {
            return Err(of_broken(error));
        }
        let talk = self.printer.talk();
        // A session asked when it began.
        if trust_question::can_ask(self) && self.lasting.is_none() {
            if self.visit.is_some() {
                // There is no terminal here on which the person could be asked.
                if trust_question::has_to_ask(&setup.folder) {
                    self.hand_back()?;
                }
            } else if trust_question::settle(&self.env, &setup.settings, &setup.folder, talk)? == Settled::Anew {
                setup = self.setup()?;
            }
        }
        if let Err(error) = setup.record_first_use() {
            talk.error(&error.into());
        }
        // What is odd has been said when the session began, and is when it changes.
        Ok(if self.lasting.is_some() { Configured::known(setup) } else { Configured::new(setup, talk) })
    }

    /// The servers of the settings, for a command that shows them and has no place to say what could not be read.
    pub(crate) fn whole(&self) -> Result<Configured> {
        let setup = self.setup()?;
        match setup.settings.broken.first() {
            Some(error) => Err(of_broken(error)),
            None => Ok(Configured::new(setup, self.printer.talk())),
        }
    }

    /// The servers of the settings, for a command that shows them, whatever state they are in.
    pub(crate) fn looked_at(&self) -> Result<Configured> {
        let setup = self.setup()?;
        match setup.settings.broken.first() {
            // There is nothing to show when the one file that was asked for cannot be read.
            Some(error) if self.options.config.is_some() => Err(of_broken(error)),
            _ => Ok(Configured::new(setup, self.printer.talk())),
        }
    }

    fn setup(&self) -> Result<Setup> {
        kept_revision::finish_interrupted(self)?;
        Ok(Setup::read(&self.env, &self.setup_options())?)
    }

    /// What the options say about the settings of this run.
    pub(crate) fn setup_options(&self) -> SetupOptions {
        SetupOptions {
            config: self.options.config.clone(),
            allowed_servers: self.options.allowed_servers(),
            trust_folder: self.options.trust_folder.then_some(true),
            disabled_for_session: self.lasting.as_ref().map(|host| host.switched_off()).unwrap_or_default(),
            include_directories: self.options.include_directories(),
            rules: self.options.rules(),
        }
    }

    /// Whether somebody can be asked something.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.printer.terminal().can_ask() && !self.options.headless && !self.options.json
    }

    /// Who is asked before a call.
    pub(crate) fn confirmer(&self) -> Arc<dyn Confirmer> {
        let talk = self.printer.talk();
        match &self.visit {
            Some(visit) => Arc::new(VisitorConfirms::new(visit.clone(), talk.paint())),
            None => Arc::new(PersonConfirms::new(talk.clone())),
        }
    }

    /// Who keeps the record of calls.
    pub(crate) fn audit(&self, env: &HostEnv, options: AuditOptions) -> FileAudit {
        match &self.visit {
            Some(visit) => visit.hosts().audit(env, options),
            None => FileAudit::open(env, options),
        }
    }

    /// What the person allowed before.
    pub(crate) fn grants(&self, env: &HostEnv) -> Arc<Grants> {
        self.lasting.as_ref().map_or_else(|| Arc::new(Grants::open(env)), |host| host.grants().clone())
    }

    /// What stands in stdin. Nothing, where commands are read from it.
    pub(crate) fn stdin(&self) -> Box<dyn std::io::Read> {
        match (&self.visit, &self.lasting) {
            (Some(visit), _) => Box::new(visit.stdin()),
            (None, Some(_)) => Box::new(std::io::empty()),
            (None, None) => Box::new(std::io::stdin().lock()),
        }
    }

    /// Who may want the command to stop.
    pub(crate) fn interrupts(&self) -> Interrupts {
        match (&self.visit, &self.lasting) {
            (Some(visit), _) => visit.interrupts(),
            (None, Some(host)) => host.interrupts(),
            (None, None) => Interrupts::Signals,
        }
    }

    /// Ends a command that is run for somebody else, unless it has begun: they run it themselves, with a terminal and servers of their own.
    fn hand_back(&self) -> Result<()> {
        match &self.visit {
            Some(visit) if visit.hand_back() => Err(CommandError::handed_back()),
            _ => Ok(()),
        }
    }

    /// The names of the servers in the settings, as far as they can be read.
    pub(crate) fn server_names(config: Option<&Path>) -> Vec<String> {
        let options = Options { config: config.map(Path::to_owned), ..Options::default() };
        let session = Self::new(options);
        Configured::names(&session.env, &session.setup_options())
    }
}

/// The words of the command line.
pub(crate) fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// Whether a shell asks what could be typed next.
pub(crate) fn is_asked_by_shell() -> bool {
    variable("COMPLETE").is_some_and(|shell| !shell.is_empty() && shell != "0")
}

/// Variables that are not text are of no use to settings.
fn variables() -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// Where the runtime is found that may run the words that were typed; nothing when they are not for it, or nobody wants it.
pub(crate) fn runtime_for_words() -> Option<Place> {
    let typed: Vec<OsString> = words().collect();
    let is_text = typed.iter().map(|word| word.to_str());
    let typed: Vec<&str> = is_text.collect::<Option<_>>()?;
    if is_shared(typed.iter().copied()) { runtime() } else { None }
}

/// Where the runtime is found; nothing when nobody wants it.
fn runtime() -> Option<Place> {
    let is_unwanted = variable(NO_RUNTIME).is_some_and(|value| !value.is_empty());
    let dirs = folders(variable);
    // What starts at the folder of whoever typed it would be another one there.
    if is_unwanted || !are_absolute(&dirs) {
        return None;
    }
    Some(Place::of(&dirs.user, variable(RUNTIME_DIR).map(PathBuf::from).as_deref()))
}

/// The runtime, for a session that uses its servers; nothing where there is none. To be asked before there is a second thread.
pub(crate) fn lender() -> Option<Arc<dyn Lender>> {
    let place = runtime().filter(|place| place.socket().exists())?;
    let (errand, _) = errand()?;
    Some(Arc::new(RuntimeLender::new(place, errand)))
}

/// What was typed, and the world it was typed in; nothing when a part of it is no text. In which form the results are wanted.
pub(crate) fn errand() -> Option<(Errand, Form)> {
    let typed: Vec<String> = words().map(|word| word.into_string().ok()).collect::<Option<_>>()?;
    let (folder, vars) = (current_folder(), variables());
    let is_same = folders(variable) == folders(|name| vars.get(name).map(Into::into));
    if !is_same || !folder.is_absolute() {
        return None;
    }
    let (folder_number, conditions) = (number(Path::new(".")), conditions());
    // What stands behind `--` belongs to the tool.
    let has = |option: &str| typed.iter().take_while(|word| *word != "--").any(|word| word == option);
    let form = if has("--json") { Form::Json } else { Form::Text };
    let terminal = Terminal::around(&vars, has("--no-color"));
    let talk_columns = if terminal.stderr { crate::confirm::measured_columns() } else { None };
    let folder = folder.into_os_string().into_string().ok()?;
    let errand = Errand { words: typed, folder, vars, terminal, talk_columns, folder_number, conditions };
    Some((errand, form))
}

/// What this process runs under.
pub(crate) fn conditions() -> Conditions {
    Conditions::here(std::env::current_exe().ok().as_deref(), variable)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the process")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Runs what was typed once more, in a process that does without the runtime, with what was read from stdin. Returns only when that cannot be
/// done.
pub(crate) fn run_again_here(stdin: Option<Vec<u8>>) -> Ending {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("toolgate"));
    let mut command = std::process::Command::new(program);
    command.args(words().skip(1)).env(NO_RUNTIME, "1");
    let failed = match stdin.map(|read| to_be_read_again(&read)).transpose() {
        Ok(None) => command.exec(),
        Ok(Some(stdin)) => command.stdin(stdin).exec(),
        Err(error) => error,
    };
    let error =
        CommandError::new(Ending::Unreachable, "runtime", format!("cannot run this without the runtime: {failed}"));
    Printer::new(Form::Text, Terminal::default()).report(&error)
}

/// A file without a name that has these bytes.
fn to_be_read_again(bytes: &[u8]) -> std::io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The program itself, to be started once more, to run in the background.
pub(crate) fn this_program() -> std::io::Result<std::process::Command> {
    std::env::current_exe().map(std::process::Command::new)
}

/// Where somebody with these variables keeps their settings.
pub(crate) fn user_folder(vars: &BTreeMap<String, String>) -> PathBuf {
    folders(|name| vars.get(name).map(Into::into)).user
}

/// A folder need not have a name that is text.
fn folders(variable: impl Fn(&str) -> Option<OsString>) -> HostDirs {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME");
    let user =
        set("TOOLGATE_HOME").unwrap_or_else(|| home.as_deref().unwrap_or_else(|| Path::new(NO_HOME)).join(".toolgate"));
    HostDirs { user, system: set("TOOLGATE_SYSTEM_DIR").unwrap_or_else(|| SYSTEM_FOLDER.into()), home }
}

/// Whether the folders of a person are the same wherever they are named.
pub(crate) fn are_absolute(dirs: &HostDirs) -> bool {
    let HostDirs { user, system, home } = dirs;
    user.is_absolute() && system.is_absolute() && home.as_deref().is_none_or(Path::is_absolute)
}

/// A folder that was removed under our feet is still the one we were started in; whoever uses it will say that it is gone.
pub(crate) fn current_folder() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the process")]
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
