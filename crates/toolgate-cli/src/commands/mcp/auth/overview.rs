//! `toolgate mcp auth` without a server: who needs a login, who has one, and how long it lasts.

use jiff::Timestamp;
use toolgate::auth::store::KeptLogin;
use toolgate::connect::ServerView;
use toolgate::servers::TransportConfig;
use toolgate::shape::visible;
use toolgate::{Interest, ServerStatus, as_word};

use crate::arrival::all_settled;
use crate::columns::table;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::{JsonWriter, ObjectWriter};
use crate::printer::{Form, Printer};
use crate::session::Session;

/// One remote server.
struct Line {
    name: String,
    state: &'static str,
    why: String,
    kept: Option<KeptLogin>,
}

/// Runs the command: asks every remote server whether it lets us in.
pub(super) fn run(session: &mut Session) -> Result<Ending> {
    let configured = session.configured()?;
    let is_remote = |transport: &TransportConfig| matches!(transport.kind(), "http" | "sse");
    let servers = configured.chosen(None)?.only(|server| is_remote(&server.transport));
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host, printer| {
        host.start(servers);
        all_settled(host, printer.talk()).await;
        let kept = host.kept_logins()?;
        let lines: Vec<Line> = host.servers().iter().map(|view| line(view, &kept)).collect();
        match printer.form() {
            Form::Json => printer.json(|json| write(json, &lines))?,
            Form::Text => print(printer, &lines)?,
        }
        Ok(Ending::Done)
    })
}

fn line(view: &ServerView, kept: &[KeptLogin]) -> Line {
    let name = view.name().to_string();
    let kept = kept.iter().find(|kept| kept.server == *view.name()).cloned();
    let words = view.error.as_ref().map(ToString::to_string);
    let (state, why) = match (view.status, &kept) {
        (ServerStatus::NeedsLogin, None) => ("needs a login", words.unwrap_or_default()),
        (ServerStatus::NeedsLogin, Some(_)) => {
            ("needs a login", "the login that is kept has ended or was refused".to_owned())
        }
        (ServerStatus::Connected, Some(kept)) => ("logged in", life(kept)),
        (ServerStatus::Connected, None) => ("open", "it asks for no login, or the settings say who you are".to_owned()),
        (_, _) => ("not reached", words.unwrap_or_default()),
    };
    Line { name, state, why, kept }
}

/// How long a login lasts, in words.
pub(super) fn life(kept: &KeptLogin) -> String {
    let renewed = "renewed by itself";
    let until = kept
        .expires_at
        .and_then(|end| Timestamp::try_from(end).ok())
        .map(|end| end.strftime("%Y-%m-%d %H:%M UTC").to_string());
    match (until, kept.can_renew) {
        (_, true) => renewed.to_owned(),
        (Some(until), false) => format!("until {until}"),
        (None, false) => "until the server ends it".to_owned(),
    }
}

fn print(printer: &mut Printer, lines: &[Line]) -> Result<()> {
    if lines.is_empty() {
        printer.line("no server with a `url` is configured, so there is nothing to log in to")?;
        return Ok(());
    }
    let columns = printer.terminal().columns;
    let rows = lines.iter().map(|line| {
        [line.name.as_str(), line.state, line.why.as_str()].map(|text| visible::line(text).into_owned()).to_vec()
    });
    for row in table(&["SERVER", "STATE", "WHY"], rows.collect(), columns) {
        printer.line(&row)?;
    }
    if let Some(needy) = lines.iter().find(|line| line.state == "needs a login") {
        printer.line("")?;
        printer.line(&format!("log in with `toolgate mcp auth {}`", visible::line(&as_word(&needy.name))))?;
    }
    Ok(())
}

fn write(json: &mut JsonWriter<'_>, lines: &[Line]) -> std::io::Result<()> {
    json.object(|object| {
        object.array("servers", lines, |json, line| {
            json.object(|object| {
                object.string("server", &line.name)?;
                object.flag("needsLogin", line.state == "needs a login")?;
                object.flag("loggedIn", line.state == "logged in")?;
                object.string("state", line.state)?;
                object.string("why", &line.why)?;
                line.kept.iter().try_for_each(|kept| write_kept(object, kept))
            })
        })
    })
}

/// What is known of a login.
pub(super) fn write_kept(object: &mut ObjectWriter<'_>, kept: &KeptLogin) -> std::io::Result<()> {
    let time = |time| Timestamp::try_from(time).ok().map(|time| time.to_string());
    object.string("issuer", &kept.issuer)?;
    object.array("scopes", &kept.scopes, |json, scope| json.string(scope))?;
    object.optional_string("obtainedAt", time(kept.obtained_at).as_deref())?;
    object.optional_string("expiresAt", kept.expires_at.and_then(time).as_deref())?;
    object.flag("renewable", kept.can_renew)
}
