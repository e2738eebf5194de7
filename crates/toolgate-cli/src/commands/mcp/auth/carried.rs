//! Logins from one machine to another, sealed, and those of another client taken over.

use std::path::Path;

use toolgate::auth::gemini_import::{self, GeminiContext, GeminiLogins, GeminiOwner};
use toolgate::auth::store::{BundleKey, BundleLock};
use toolgate::shape::visible;
use toolgate::{Host, Interest, Secret, ServerName};

use crate::configured::Configured;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::LOGIN_FILE_BYTES_MAX;
use crate::printer::{Form, Printer};
use crate::prompt::{Prompt, Typed};
use crate::question::Asker;
use crate::session::Session;

/// The variable that holds the passphrase where nobody can be asked.
const PASSPHRASE: &str = "TOOLGATE_BUNDLE_PASSPHRASE";

/// Where Gemini CLI keeps its logins, in the home of the person.
const GEMINI_FILES: [&str; 2] = [".gemini/mcp-oauth-tokens.json", ".gemini/gemini-credentials.json"];

/// Writes a sealed file.
pub(super) fn export(
    session: &mut Session,
    name: Option<&str>,
    file: &Path,
    recipient: Option<&str>,
) -> Result<Ending> {
    let configured = session.looked_at()?;
    let servers: Vec<ServerName> = name.map(server_name).transpose()?.into_iter().collect();
    let lock = match recipient {
        Some(recipient) => BundleLock::Recipient(recipient.to_owned()),
        None => BundleLock::Passphrase(passphrase(session, Purpose::Seal)?),
    };
    let file = session.env().workspace.join(file);
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host: &Host, printer| {
        let bundle = host.login_store().export(&servers, &lock)?;
        write_new(&file, &bundle)?;
        let names: Vec<String> = host.kept_logins()?.iter().map(|kept| kept.server.to_string()).collect();
        let names: Vec<String> = names.into_iter().filter(|one| name.is_none_or(|name| name == one)).collect();
        tell(printer, "exported", &names, &[])?;
        if printer.form() == Form::Text {
            printer.line(&format!("sealed in {}", visible::line(&file.display().to_string())))?;
        }
        Ok(Ending::Done)
    })
}

/// Takes a sealed file in.
pub(super) fn import(session: &mut Session, file: &Path, identity: Option<&Path>) -> Result<Ending> {
    let configured = session.looked_at()?;
    let bundle = read(session, file)?;
    let key = match identity {
        Some(identity) => BundleKey::Identity(Secret::new(read(session, identity)?)),
        None => BundleKey::Passphrase(passphrase(session, Purpose::Open)?),
    };
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host: &Host, printer| {
        let taken = host.login_store().import(&bundle, &key)?;
        let names: Vec<String> = taken.iter().map(|key| key.server().to_string()).collect();
        configured.forget_offers(&names);
        tell(printer, "imported", &names, &[])?;
        Ok(Ending::Done)
    })
}

/// Takes over what Gemini CLI keeps.
pub(super) fn import_gemini(session: &mut Session, file: Option<&Path>) -> Result<Ending> {
    let configured = session.looked_at()?;
    let found = match file {
        Some(file) => vec![(file.to_owned(), read(session, file)?)],
        None => usual_files(session)?,
    };
    let Some((path, text)) = found.into_iter().next() else {
        let what = "Gemini CLI keeps no logins here".to_owned();
        let hint =
            format!("looked for `~/{}` and `~/{}`; name the file if it is elsewhere", GEMINI_FILES[0], GEMINI_FILES[1]);
        return Err(CommandError::usage(what).hint(hint));
    };
    let logins = read_gemini(session, &configured, &text)
        .map_err(|error| CommandError::from(error).detail(&path.display().to_string()))?;
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host: &Host, printer| {
        let mut names = Vec::new();
        let mut notes = logins.left;
        for one in logins.logins {
            names.push(one.key.server().to_string());
            notes.extend(one.notes.iter().map(|note| format!("{}: {note}", one.key.server())));
            host.login_store().put(&one.key, one.login)?;
        }
        configured.forget_offers(&names);
        tell(printer, "imported", &names, &notes)?;
        Ok(Ending::Done)
    })
}

fn read_gemini(session: &Session, configured: &Configured, text: &str) -> toolgate::Result<GeminiLogins> {
    let address = |name: &str| configured.setup().servers.active.iter().find(|one| &*one.name == name)?.url();
    let context = GeminiContext { now: session.env().clock.now(), address: &address };
    if text.trim_start().starts_with(['[', '{']) {
        return gemini_import::from_plain(text, context);
    }
    let (hostname, username) = session.machine_and_user();
    gemini_import::from_encrypted(text, GeminiOwner { hostname: &hostname, username: &username }, context)
}

fn usual_files(session: &Session) -> Result<Vec<(std::path::PathBuf, String)>> {
    let Some(home) = session.env().dirs.home.clone() else { return Ok(Vec::new()) };
    let paths = GEMINI_FILES.iter().map(|file| home.join(file)).filter(|path| path.exists());
    paths.map(|path| read(session, &path).map(|text| (path.clone(), text))).collect()
}

/// What a passphrase is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Seal,
    Open,
}

fn passphrase(session: &Session, purpose: Purpose) -> Result<Secret> {
    if let Some(given) = session.env().vars.get(PASSPHRASE).filter(|given| !given.is_empty()) {
        return Ok(Secret::new(given.clone()));
    }
    if !session.printer.terminal().can_ask() || session.options().headless {
        let hint = format!("set `{PASSPHRASE}`, or use `--recipient`/`--identity` with an age key");
        return Err(CommandError::usage("nobody is here to be asked for a passphrase").hint(hint));
    }
    let (asker, _waiting) = Asker::new();
    let prompt = Prompt { asker: &asker, paint: session.printer.talk().paint() };
    let typed = |question: &str| prompt.line(Typed::new(question).secret()).map_err(|_| CommandError::interrupted());
    if purpose == Purpose::Open {
        return typed("Passphrase:").map(Secret::new);
    }
    loop {
        let passphrase = typed("Passphrase to seal with:")?;
        if typed("The same once more:")? == passphrase {
            return Ok(Secret::new(passphrase));
        }
        session.printer.talk().line("these are two different ones");
    }
}

fn read(session: &Session, file: &Path) -> Result<String> {
    let path = session.env().workspace.join(file);
    let unreadable = |why: String| CommandError::usage(format!("cannot read {}: {why}", path.display()));
    let about = std::fs::metadata(&path).map_err(|error| unreadable(error.to_string()))?;
    if !about.is_file() || about.len() > LOGIN_FILE_BYTES_MAX {
        return Err(unreadable("not a file, or too large to hold logins".to_owned()));
    }
    std::fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))
}

/// Nobody else may read it, sealed as it is; what is there is not overwritten.
fn write_new(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let written = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let what = format!("{} is there already, and is not overwritten", path.display());
            CommandError::usage(what).hint("name another file, or remove that one")
        }
        _ => CommandError::usage(format!("cannot write {}: {error}", path.display())),
    })
}

fn server_name(name: &str) -> Result<ServerName> {
    ServerName::new(name).map_err(|error| CommandError::usage(format!("`{name}`: {error}")))
}

fn tell(printer: &mut Printer, done: &'static str, names: &[String], notes: &[String]) -> Result<()> {
    if printer.form() == Form::Json {
        printer.json(|json| {
            json.object(|object| {
                object.array(done, names, |json, name| json.string(name))?;
                object.array("notes", notes, |json, note| json.string(note))
            })
        })?;
        return Ok(());
    }
    let count = names.len();
    let logins = if count == 1 { "login" } else { "logins" };
    printer.line(&format!(
        "{done} {count} {logins}{}{}",
        if count == 0 { "" } else { ": " },
        visible::line(&names.join(", "))
    ))?;
    for note in notes {
        printer.line(&format!("  note: {}", visible::line(note)))?;
    }
    Ok(())
}
