//! The terminal as a guide through a login: one question, an address to open, and a line for what the browser could not bring back itself.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use toolgate::auth::guide::{Brought, ClientNeeded, EnteredClient, LoginGuide, LoginPage, LoginReason};
use toolgate::shape::visible;
use toolgate::{Secret, ServerName};

use crate::echo::Echo;
use crate::limits::PASTED_LINE_BYTES_MAX;
use crate::prompt::{Prompt, Typed};
use crate::question::Asker;
use crate::talk::Talk;

/// How long a look at stdin lasts before it is seen whether the login has ended in another way.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Leads the person at the terminal through a login.
#[derive(Debug, Clone)]
pub(crate) struct TerminalGuide {
    /// Where they are talked to.
    pub(crate) talk: Arc<Talk>,
    /// Whether they are asked before a login begins; whoever typed `mcp auth` wants one.
    pub(crate) asks_first: bool,
    /// Whether a browser may be opened.
    pub(crate) opens_browser: bool,
    /// Whether somebody can be asked something.
    pub(crate) somebody_types: bool,
    /// Whether somebody can type something, or has put it into a pipe.
    pub(crate) reads_lines: bool,
}

impl LoginGuide for TerminalGuide {
    fn wants_to_log_in(&self, server: ServerName, why: LoginReason) -> BoxFuture<'static, bool> {
        if !self.asks_first {
            return Box::pin(async { true });
        }
        let talk = self.talk.clone();
        // Whoever types something else is told, and logs in when they like.
        if talk.is_typed_at() {
            return Box::pin(async { false });
        }
        let (asker, waiting) = Asker::new();
        let asking = tokio::task::spawn_blocking(move || {
            let question = format!("{} Log in now?", reason(&server, &why));
            let prompt = Prompt { asker: &asker, paint: talk.paint() };
            let ask = || prompt.yes_or_no(&question, Some(true), None).unwrap_or(false);
            talk.asking(&asker, ask).unwrap_or(false)
        });
        Box::pin(async move {
            let answer = asking.await.unwrap_or(false);
            drop(waiting);
            answer
        })
    }

    fn ask_for_client(&self, server: ServerName, needed: ClientNeeded) -> BoxFuture<'static, Option<EnteredClient>> {
        let (talk, can_type) = (self.talk.clone(), self.somebody_types);
        let (asker, waiting) = Asker::new();
        let asking = tokio::task::spawn_blocking(move || {
            if !can_type {
                return None;
            }
            let prompt = Prompt { asker: &asker, paint: talk.paint() };
            talk.asking(&asker, || ask_for_client(prompt, &server, &needed)).flatten()
        });
        Box::pin(async move {
            let answer = asking.await.ok().flatten();
            drop(waiting);
            answer
        })
    }

    fn visit(&self, server: ServerName, page: LoginPage) -> BoxFuture<'static, Brought> {
        let guide = self.clone();
        let (asker, waiting) = Asker::new();
        let visiting = tokio::task::spawn_blocking(move || {
            let talk = guide.talk.clone();
            talk.asking(&asker, || guide.lead(&asker, &server, &page)).flatten()
        });
        Box::pin(async move {
            let brought = visiting.await.ok().flatten();
            drop(waiting);
            match brought {
                Some(brought) => brought,
                // The browser may still come back by itself.
                None => std::future::pending().await,
            }
        })
    }
}

impl TerminalGuide {
    fn lead(&self, asker: &Asker, server: &ServerName, page: &LoginPage) -> Option<Brought> {
        let say = |line: &str| {
            #[expect(clippy::print_stderr, reason = "the terminal is ours while this question stands on it")]
            {
                eprintln!("{line}");
            }
        };
        let name = visible::line(server);
        match page {
            LoginPage::Browser { url } => {
                let is_open = self.opens_browser && open(url);
                let opened = if is_open { "A browser was opened. If it does not show the page, open" } else { "Open" };
                say(&format!("{opened} this address to log in to {name}:\n\n  {}\n", visible::line(url)));
                if !self.reads_lines {
                    say("Waiting for the browser to come back (Ctrl-C gives up).");
                    return None;
                }
                say(
                    "Waiting for the browser to come back. If it runs elsewhere, paste the address it ended at and press Enter:",
                );
                read_line(asker)
            }
            LoginPage::Device { url, code, complete_url } => {
                let target = complete_url.as_deref().unwrap_or(url);
                let is_open = self.opens_browser && open(target);
                let opened = if is_open { "A browser was opened. If it does not show the page, open" } else { "Open" };
                say(&format!(
                    "{opened} this address, on any device, to log in to {name}:\n\n  {}\n\nand enter the code  {}\n",
                    visible::line(url),
                    self.talk.paint().bold(visible::line(code)),
                ));
                say("Waiting until that is done (Ctrl-C gives up).");
                None
            }
        }
    }
}

/// Whoever registered a client by hand knows its name. No name gives up.
fn ask_for_client(prompt: Prompt<'_>, server: &ServerName, needed: &ClientNeeded) -> Option<EnteredClient> {
    let (name, issuer) = (visible::line(server), visible::line(&needed.issuer));
    let address = needed.redirect_uri.as_deref().map(|uri| format!(" It comes back to {}", visible::line(uri)));
    let tried = match needed.tried.as_slice() {
        [] => String::new(),
        tried => format!(" ({})", visible::line(&tried.join("; "))),
    };
    let address = address.unwrap_or_default();
    let state = match needed.is_silent {
        true => format!("no metadata of {issuer} was found"),
        false => format!("{issuer} registers no clients by itself"),
    };
    let help = format!("{state}{tried}: register a client there by hand.{address}");
    let question = format!("Client ID for {name} (empty gives up):");
    let client_id = prompt.line(Typed::new(&question).help(Some(&help))).ok()?;
    let client_id = client_id.trim().to_owned();
    if client_id.is_empty() {
        return None;
    }
    let secret = prompt.line(Typed::new("Client secret (empty if it has none):").secret()).ok()?;
    Some(EnteredClient { client_id, client_secret: (!secret.is_empty()).then(|| Secret::new(secret)) })
}

fn reason(server: &ServerName, why: &LoginReason) -> String {
    let name = visible::line(server);
    match why {
        LoginReason::New => format!("MCP server {name} needs a login."),
        LoginReason::Ended => format!("The login to MCP server {name} has ended."),
        LoginReason::MoreScopes(scopes) if scopes.is_empty() => {
            format!("MCP server {name} needs more rights than it was given.")
        }
        LoginReason::MoreScopes(scopes) => {
            format!("MCP server {name} needs more rights: {}.", visible::line(&scopes.join(", ")))
        }
    }
}

/// Opens a browser; whether there was one.
fn open(url: &str) -> bool {
    let mut options = webbrowser::BrowserOptions::new();
    options.with_suppress_output(true);
    webbrowser::open_browser_with_options(webbrowser::Browser::Default, url, &options).is_ok()
}

/// A line from stdin, unless the login ends in another way meanwhile. Read letter by letter: what follows the line is not ours yet, and what
/// was read ahead would not be seen by whoever looks whether there is more.
fn read_line(asker: &Asker) -> Option<Brought> {
    let _shown = Echo::on();
    let stdin = rustix::stdio::stdin();
    let mut line = Vec::new();
    while !asker.is_gone() {
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut waiting, Some(&LOOK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
        }
        let mut letter = [0];
        match rustix::io::read(stdin, &mut letter) {
            Ok(1..) if letter != *b"\n" && line.len() < PASTED_LINE_BYTES_MAX => line.extend(letter),
            // Enter alone is a key that was pressed too often.
            Ok(1..) if line.trim_ascii().is_empty() => line.clear(),
            Err(rustix::io::Errno::INTR) => {}
            // An end of input without a line is no answer.
            Ok(0) | Err(_) if line.is_empty() => return None,
            _ => return Some(Brought::Text(String::from_utf8_lossy(&line).into_owned())),
        }
    }
    None
}
