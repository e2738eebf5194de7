//! News of servers: who is ready, who is not, who offers something else. What happens together is told together, above the line that is typed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolgate::connect::{Kind, ServerView, trouble};
use toolgate::expose::SlashCommand;
use toolgate::expose::slash::Renamed;
use toolgate::shape::visible;
use toolgate::{Catalog, HostEvent, HostEvents, ServerName, ServerStatus, Severity};

use super::LastingHost;
use super::line::as_typed_here;
use super::status::is_ready;
use crate::error::CommandError;
use crate::limits::{AWAITED_NAMES_MAX, LIKE_LINES_MAX};
use crate::listing::{counted, offer_counts};
use crate::talk::Talk;

/// What happens within this of each other is told together.
const TOGETHER: Duration = Duration::from_millis(250);

/// However much goes on, nobody waits longer than this for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells the news of a host for as long as it lives. `events` are those since before it was started, so that none is missed.
pub(super) async fn tell(host: Arc<LastingHost>, mut events: HostEvents, talk: Arc<Talk>, repaint: impl Fn()) {
    let mut news = News::default();
    loop {
        let event = match news.due {
            None => events.next().await,
            Some(due) => match tokio::time::timeout_at(due.min(Instant::now() + TOGETHER), events.next()).await {
                Ok(event) => event,
                Err(_) => {
                    let told = news.take(&host.host().servers(), &host.host().catalog());
                    told.iter().for_each(|line| talk.line(line));
                    let _all = host.prompts();
                    host.take_renamed().iter().for_each(|command| talk.line(&renamed_line(command)));
                    repaint();
                    continue;
                }
            },
        };
        match event {
            None => return,
            Some(HostEvent::SettingsRefused(error)) => talk.error(&CommandError::from(error)),
            Some(event) => news.note(&event),
        }
        repaint();
    }
}

/// How a server stood when it was told of last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Ready,
    Down,
}

/// What is to be told.
#[derive(Debug, Default)]
struct News {
    /// When it has to be told.
    due: Option<Instant>,
    /// Servers about which there may be something.
    about: BTreeSet<ServerName>,
    changed: BTreeMap<ServerName, BTreeSet<&'static str>>,
    /// What went wrong, in words.
    troubles: Vec<(ServerName, String)>,
    known: BTreeMap<ServerName, Known>,
}

impl News {
    fn note(&mut self, event: &HostEvent) {
        match event {
            HostEvent::Settled(server) | HostEvent::Status { server, .. } => {
                self.about.insert(server.clone());
            }
            HostEvent::Changed { server, kind } => {
                self.changed.entry(server.clone()).or_default().insert(kind_word(*kind));
            }
            HostEvent::Diagnostic(one) if one.severity >= Severity::Warning => {
                self.troubles.push((one.server.clone(), one.text.clone()));
            }
            HostEvent::Reconciled(changes) => {
                changes.removed.iter().chain(&changes.restarted).for_each(|server| {
                    self.known.remove(server);
                });
            }
            _ => return,
        }
        self.due.get_or_insert_with(|| Instant::now() + PATIENCE);
    }

    /// The news in words.
    fn take(&mut self, views: &[ServerView], catalog: &Catalog) -> Vec<String> {
        self.due = None;
        let about = std::mem::take(&mut self.about);
        let changed = std::mem::take(&mut self.changed);
        let troubles = std::mem::take(&mut self.troubles);
        let (mut ready, mut down) = (Vec::new(), Vec::new());
        let mut told: BTreeSet<&ServerName> = BTreeSet::new();
        for view in views.iter().filter(|view| about.contains(view.name())) {
            let Some(now) = stands(view) else { continue };
            if self.known.insert(view.name().clone(), now) == Some(now) {
                continue;
            }
            told.insert(view.name());
            match now {
                // Nothing has happened to one that is only remembered.
                Known::Ready if view.is_remembered => {}
                Known::Ready => ready.push(view.name()),
                Known::Down => down.push(view),
            }
        }
        let mut lines: Vec<String> = ready_line(&ready, catalog).into_iter().collect();
        lines.extend(down.iter().take(LIKE_LINES_MAX).map(|view| down_line(view)));
        if down.len() > LIKE_LINES_MAX {
            lines.push(format!("🔴 {} more are not there; /mcp says why", down.len() - LIKE_LINES_MAX));
        }
        let untold = troubles.iter().filter(|(server, text)| !is_why_down(views, server, text));
        lines.extend(untold.map(|(server, text)| visible::line(&format!("{server}: {text}")).into_owned()));
        let others = changed.iter().filter(|(server, _)| !told.contains(server) && self.known.contains_key(*server));
        lines.extend(others.take(LIKE_LINES_MAX).map(|(server, kinds)| changed_line(server, kinds, catalog)));
        lines
    }
}

fn stands(view: &ServerView) -> Option<Known> {
    if is_ready(view) {
        return Some(Known::Ready);
    }
    let is_down = matches!(view.status, ServerStatus::Failed | ServerStatus::NeedsLogin | ServerStatus::Disconnected);
    (view.is_settled && is_down).then_some(Known::Down)
}

const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tools",
        Kind::Prompts => "prompts",
        Kind::Resources => "resources",
    }
}

/// `🟢 a, b, c and 2 more are ready: 12 tools`.
fn ready_line(ready: &[&ServerName], catalog: &Catalog) -> Option<String> {
    if ready.is_empty() {
        return None;
    }
    let named: Vec<_> = ready.iter().take(AWAITED_NAMES_MAX).map(|name| visible::line(name)).collect();
    let more = match ready.len().saturating_sub(AWAITED_NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let is = if ready.len() == 1 { "is" } else { "are" };
    let tools: usize = ready.iter().map(|server| offer_counts(server, catalog)[0]).sum();
    Some(format!("🟢 {}{more} {is} ready: {}", named.join(", "), counted(tools, "tool")))
}

fn down_line(view: &ServerView) -> String {
    let name = view.name();
    let sentence = trouble(view).unwrap_or_else(|| format!("MCP server {name}: {}", view.status.as_str()));
    visible::line(&format!("🔴 {}", as_typed_here(&sentence))).into_owned()
}

/// Whether these words are why that server is not there, which is told once.
fn is_why_down(views: &[ServerView], server: &ServerName, text: &str) -> bool {
    let is_it = |view: &&ServerView| view.name() == server && stands(view) == Some(Known::Down);
    views.iter().find(is_it).and_then(trouble).is_some_and(|sentence| sentence == text)
}

/// `prompt review of docs is the command /docs.review: a prompt of git has its name`.
fn renamed_line(command: &SlashCommand) -> String {
    let SlashCommand { name, prompt, renamed } = command;
    let why = match renamed {
        Some(Renamed::Taken(server)) => format!("a prompt of {server} has its name"),
        Some(Renamed::BuiltIn) | None => "its name is that of a command".to_owned(),
    };
    let line = format!("prompt {} of {} is the command /{name}: {why}", prompt.prompt.name, prompt.server);
    visible::line(&line).into_owned()
}

fn changed_line(server: &ServerName, kinds: &BTreeSet<&'static str>, catalog: &Catalog) -> String {
    let [tools, ..] = offer_counts(server, catalog);
    let kinds: Vec<&str> = kinds.iter().copied().collect();
    let line = format!("{server} offers other {} now: {}", kinds.join(" and "), counted(tools, "tool"));
    visible::line(&line).into_owned()
}
