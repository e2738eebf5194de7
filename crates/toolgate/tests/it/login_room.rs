//! A room with one protected server in it and a person who can log in to it; what comes of a login, as data that can be compared.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use toolgate::auth::LoginWish;
use toolgate::auth::guide::{Brought, ClientNeeded, EnteredClient, LoginGuide, LoginPage, LoginReason};
use toolgate::auth::journal::{Journal, StepOutcome};
use toolgate::auth::store::TokenStore;
use toolgate::trust::AdmittedServers;
use toolgate::{Clock, Error, FrontEnd, Host, HostEnv, Secret, ServerName};
use toolgate_testkit::auth_server::browser;
use toolgate_testkit::world::TestClock;
use toolgate_testkit::{AuthScript, AuthServer};

use crate::support::{LONG, Room, lets_everything_through, names};

/// What a person does with a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// Opens it, goes where it leads, and gives up when that is not the end of the login.
    #[default]
    Opens,
    /// Opens it and presses the button of that value.
    Presses(&'static str),
    /// Opens it on another machine and pastes the address it ends at.
    PastesAddress,
    /// Opens it on another machine and pastes the code alone.
    PastesCode,
    /// Has registered a client with a secret by hand and says so when asked, then opens it.
    KnowsClient(&'static str, &'static str),
    /// Does nothing.
    Stays,
    /// Does not want to log in.
    Declines,
}

/// A person at a front end.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    way: Way,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    reasons: Vec<LoginReason>,
    visits: usize,
    pages: Vec<String>,
    browsers: Vec<JoinHandle<()>>,
}

impl Person {
    fn new(way: Way) -> Self {
        Self { way, seen: Arc::default() }
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why they were asked to log in.
    pub(crate) fn reasons(&self) -> Vec<LoginReason> {
        self.seen(|seen| seen.reasons.clone())
    }

    /// How often they were sent to a page.
    pub(crate) fn visits(&self) -> usize {
        self.seen(|seen| seen.visits)
    }

    /// What their browsers showed in the end.
    pub(crate) async fn pages(&self) -> Vec<String> {
        for browser in self.seen(|seen| std::mem::take(&mut seen.browsers)) {
            browser.await.unwrap();
        }
        self.seen(|seen| seen.pages.clone())
    }

    async fn goes_to(self, url: String) -> Brought {
        match self.way {
            Way::Stays | Way::Declines => std::future::pending().await,
            Way::PastesAddress => Brought::Text(browser::lead(&url).await.unwrap()),
            Way::PastesCode => {
                let address = browser::lead(&url).await.unwrap();
                let (_, code) = address.split_once("code=").unwrap();
                Brought::Text(code.split('&').next().unwrap().to_owned())
            }
            Way::Opens | Way::Presses(_) | Way::KnowsClient(..) => self.opens(url).await,
        }
    }

    /// The browser goes on when the login has ended already, as real ones do.
    async fn opens(self, url: String) -> Brought {
        let (ended, has_ended) = tokio::sync::oneshot::channel();
        let (person, way) = (self.clone(), self.way);
        let browser = tokio::spawn(async move {
            let page = match (browser::open(&url).await, way) {
                (Ok(page), Way::Presses(button)) => page.press(button).await,
                (page, _) => page,
            };
            let shown = page.map_or_else(|error| error.to_string(), |page| page.body);
            let is_good = shown.contains("You are logged in");
            person.seen(|seen| seen.pages.push(shown));
            let _the_login_is_over = ended.send(is_good).is_err();
        });
        self.seen(|seen| seen.browsers.push(browser));
        if has_ended.await == Ok(true) { std::future::pending().await } else { Brought::GaveUp }
    }
}

impl FrontEnd for Person {
    fn login_guide(&self) -> Option<Arc<dyn LoginGuide>> {
        Some(Arc::new(self.clone()))
    }
}

impl LoginGuide for Person {
    fn wants_to_log_in(&self, _server: ServerName, why: LoginReason) -> BoxFuture<'static, bool> {
        self.seen(|seen| seen.reasons.push(why));
        let wants = self.way != Way::Declines;
        Box::pin(async move { wants })
    }

    fn ask_for_client(&self, _server: ServerName, _needed: ClientNeeded) -> BoxFuture<'static, Option<EnteredClient>> {
        let client = match self.way {
            Way::KnowsClient(id, secret) => {
                Some(EnteredClient { client_id: id.to_owned(), client_secret: Some(Secret::new(secret)) })
            }
            _ => None,
        };
        Box::pin(async move { client })
    }

    fn visit(&self, _server: ServerName, page: LoginPage) -> BoxFuture<'static, Brought> {
        self.seen(|seen| seen.visits += 1);
        match page {
            LoginPage::Browser { url } => Box::pin(self.clone().goes_to(url)),
            LoginPage::Device { .. } => Box::pin(std::future::pending()),
        }
    }
}

/// The clock of the room.
struct RoomClock(TestClock);

impl Clock for RoomClock {
    fn now(&self) -> SystemTime {
        self.0.now()
    }
}

/// A room with one protected server in it.
pub(crate) struct LoginRoom {
    room: Room,
    pub(crate) server: AuthServer,
    pub(crate) person: Person,
}

impl LoginRoom {
    /// A room with that server in it, whose entry has that `oauth`.
    pub(crate) async fn new(script: AuthScript, oauth: &Value, way: Way) -> Self {
        let server = AuthServer::start(script).await.unwrap();
        let filled = oauth.to_string().replace("$ORIGIN", server.url()).replace("$ISSUER", server.issuer());
        let oauth: Value = serde_json::from_str(&filled).unwrap();
        let entry = json!({"url": server.mcp_url(), "type": "http", "oauth": oauth});
        let room = Room::new().entry("protected", entry);
        Self { room, server, person: Person::new(way) }
    }

    pub(crate) fn env(&self) -> HostEnv {
        HostEnv { clock: Arc::new(RoomClock(self.clock().clone())), ..self.room.env() }
    }

    pub(crate) fn clock(&self) -> &TestClock {
        self.room.world.clock()
    }

    pub(crate) fn home(&self) -> std::path::PathBuf {
        self.room.world.home()
    }

    pub(crate) fn servers(&self) -> AdmittedServers {
        self.room.servers()
    }

    /// A host with the person in front of it and nothing started.
    pub(crate) fn host(&self) -> Host {
        self.host_for(Arc::new(self.person.clone()))
    }

    /// The same with another front end.
    pub(crate) fn host_for(&self, front_end: Arc<dyn FrontEnd>) -> Host {
        let builder = Host::builder(self.env()).front_end(front_end).token_store(TokenStore::File);
        builder.call_rules(lets_everything_through()).build()
    }

    /// Connects, and says what came of it: `connected`, or what went wrong and what to do about it.
    pub(crate) async fn connect(&self, host: &Host) -> String {
        let views = tokio::time::timeout(LONG, host.connect(self.servers())).await.expect("the server did not settle");
        let text = match &views[0].error {
            Some(error) => told(error),
            None if names(&host.catalog()) == ["echo"] => "connected".to_owned(),
            None => format!("{views:?}"),
        };
        self.assert_untold(&format!("{views:?} {text}"));
        self.plain(&text)
    }

    /// A login that the person wants, and says what came of it: `logged in`, or what went wrong and what to do about it; and the rule of the step
    /// that failed.
    pub(crate) async fn log_in(&self, host: &Host, wish: &LoginWish) -> (String, Option<&'static str>) {
        let journal = Journal::default();
        let logging_in = host.log_in(self.servers(), wish, &self.person, &journal);
        let ended = tokio::time::timeout(LONG, logging_in).await.expect("the login did not end");
        self.assert_untold(&format!("{ended:?} {journal:?}"));
        let failed = journal.steps().into_iter().rfind(|step| step.outcome == StepOutcome::Failed);
        (
            self.plain(&ended.map_or_else(|error| told(&error), |_| "logged in".to_owned())),
            failed.and_then(|step| step.rule),
        )
    }

    /// What was asked of the authorization server, in order, apart from what it publishes.
    pub(crate) fn seen(&self) -> String {
        let requests = self.server.record().requests();
        let named = requests.iter().filter_map(|request| {
            let is_refresh = request.parameter("grant_type").as_deref() == Some("refresh_token");
            match request.path.rsplit('/').next().unwrap_or_default() {
                "token" if is_refresh => Some("refresh"),
                name @ ("register" | "authorize" | "consent" | "token" | "evil") => Some(name),
                "device_authorization" => Some("device"),
                _ => None,
            }
        });
        named.collect::<Vec<_>>().join(" ")
    }

    /// A text with words in place of addresses that differ each time.
    pub(crate) fn plain(&self, text: &str) -> String {
        let text = text.replace(self.server.url(), "$ORIGIN");
        let issuer_origin: String = self.server.issuer().splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        let text = text.replace(&issuer_origin, "$AS");
        let mut parts = text.split("http://127.0.0.1:");
        let first = parts.next().unwrap_or_default().to_owned();
        let is_digit = |digit: char| digit.is_ascii_digit();
        parts.fold(first, |text, part| format!("{text}$HERE{}", part.trim_start_matches(is_digit)))
    }

    /// Nothing secret that has passed is in that text.
    pub(crate) fn assert_untold(&self, text: &str) {
        for secret in self.secrets() {
            assert!(!text.contains(&secret), "`{secret}` is told in: {text}");
        }
    }

    /// Nothing secret that has passed is in any file, except what the person wrote themselves.
    pub(crate) fn assert_unwritten(&self) {
        let mut files = Vec::new();
        gather(&self.home(), &mut files);
        for (path, bytes) in files {
            for secret in self.secrets() {
                let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!is_there, "`{secret}` is in {path}");
            }
        }
    }

    fn secrets(&self) -> BTreeSet<String> {
        self.server.record().secrets_seen().into_iter().filter(|secret| secret.len() > 6).collect()
    }
}

/// What went wrong, and what to do about it.
pub(crate) fn told(error: &Error) -> String {
    let mut text = error.to_string();
    if let Some(hint) = error.hint() {
        write!(text, " | {hint}").unwrap();
    }
    text
}

fn gather(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.file_name().is_some_and(|name| name != "settings.json") {
            files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

/// One way in which a login can go, and how it must end.
pub(crate) struct Case {
    what: &'static str,
    script: AuthScript,
    oauth: Value,
    way: Way,
    on_device: bool,
    /// The beginning of what is told; `logged in` when it works.
    told: String,
    rule: &'static str,
    seen: &'static str,
}

impl Case {
    /// A login that works, with one registration, one visit and one token.
    pub(crate) fn new(what: &'static str, script: AuthScript) -> Self {
        let (told, rule, seen) = ("logged in".to_owned(), "", "register authorize token");
        Self { what, script, oauth: json!({}), way: Way::Opens, on_device: false, told, rule, seen }
    }

    /// A login that fails with these words, by that rule; both are beginnings.
    pub(crate) fn fails(what: &'static str, script: AuthScript, told: impl Into<String>, rule: &'static str) -> Self {
        Self { told: told.into(), rule, seen: "", ..Self::new(what, script) }
    }

    pub(crate) fn oauth(self, oauth: Value) -> Self {
        Self { oauth, ..self }
    }

    pub(crate) fn way(self, way: Way) -> Self {
        Self { way, ..self }
    }

    pub(crate) fn on_device(self) -> Self {
        Self { on_device: true, ..self }
    }

    /// What is asked of the authorization server meanwhile, and nothing else.
    pub(crate) fn seen(self, seen: &'static str) -> Self {
        Self { seen, ..self }
    }

    /// Once because the person wants it, once because the server asks for it: both end in the same way. Gives what is not as it should be.
    async fn run(self) -> Option<String> {
        let asked = LoginRoom::new(self.script.clone(), &self.oauth, self.way).await;
        let wish = LoginWish { on_device: self.on_device, ..LoginWish::default() };
        let (told, rule) = asked.log_in(&asked.host(), &wish).await;
        let rule = rule.unwrap_or_default();
        let mut found = format!("told: {told}\n  rule: {rule}\n  seen: {}", asked.seen());
        let works = self.told == "logged in";
        let is_told = |told: &str| if works { told == self.told } else { told.starts_with(&self.told) };
        let mut is_right = is_told(&told) && asked.seen() == self.seen && (works || rule.starts_with(self.rule));
        is_right &= works || rule.is_empty() == self.rule.is_empty();
        asked.assert_unwritten();
        if !self.on_device {
            let unasked = LoginRoom::new(self.script, &self.oauth, self.way).await;
            let told = unasked.connect(&unasked.host()).await;
            is_right &= if works { told == "connected" } else { told.starts_with(&self.told) };
            is_right &= unasked.seen() == self.seen;
            unasked.assert_unwritten();
            write!(found, "\n  when connecting: {told}\n  seen: {}", unasked.seen()).unwrap();
        }
        (!is_right).then(|| format!("{}\n  {found}", self.what))
    }
}

/// Runs all cases at once.
pub(crate) async fn check(cases: Vec<Case>) {
    let wrong: Vec<String> = join_all(cases.into_iter().map(Case::run)).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} cases are not as they should be:\n{}", wrong.len(), wrong.join("\n"));
}
