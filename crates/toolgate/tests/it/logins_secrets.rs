//! After many logins, good and bad, with everything written down that can be: no token, code, verifier or secret is found anywhere.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolgate::audit::{ArgumentsKept, AuditOptions, FileAudit};
use toolgate::auth::LoginWish;
use toolgate::auth::journal::Journal;
use toolgate::auth::store::TokenStore;
use toolgate::{CallRules, Host};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{Consent, Registration};
use toolgate_testkit::auth_server::{Answer, AnswerAt};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::login_room::{LoginRoom, Way};
use crate::support::{call, lets_everything_through, text};

/// Everything that is traced, in words.
#[derive(Clone, Default)]
struct Traces(Arc<Mutex<String>>);

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0, "{} {value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Traces {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Words(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words(&mut self.0.lock().unwrap()));
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        values.record(&mut Words(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

fn host(room: &LoginRoom) -> Host {
    let options = AuditOptions { arguments: ArgumentsKept::Full, ..AuditOptions::default() };
    let audit = Arc::new(FileAudit::open(&room.env(), options));
    let rules = CallRules { audit, ..lets_everything_through() };
    let builder = Host::builder(room.env()).front_end(Arc::new(room.person.clone()));
    builder.token_store(TokenStore::File).call_rules(rules).build()
}

#[tokio::test]
async fn nothing_secret_is_told_or_written() {
    let traces = Traces::default();
    let _traced = tracing::subscriber::set_default(traces.clone());
    let secret = |script: AuthScript| script.issuer(|issuer| issuer.registration = Registration::SecretPost);
    let refused = AnswerAt::new("/token", Answer::json(400, &json!({"error": "invalid_grant"}))).nth(3);
    let mut secrets = 0;
    for (script, way) in [
        (secret(AuthScript::new()), Way::Opens),
        (secret(AuthScript::new().answer_at(refused)), Way::PastesAddress),
        (secret(AuthScript::new()).token_says("token_type", json!("mac")), Way::Opens),
        (secret(AuthScript::new()).callback("state", Some("forged")), Way::PastesAddress),
        (secret(AuthScript::new()).callback("iss", Some("https://evil.example")), Way::Opens),
        (AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied), Way::Opens),
    ] {
        let room = LoginRoom::new(script, &json!({}), way).await;
        let host = host(&room);
        let mut told = room.connect(&host).await;
        if told == "connected" {
            for _ in 0..3 {
                room.clock().advance(Duration::from_secs(3_500));
                let outcome = call(&host, "echo", json!({"message": "hello"})).await;
                write!(told, "{} {outcome:?}", text(&outcome)).unwrap();
            }
            room.server.revoke_access_tokens();
            write!(told, "{:?}", call(&host, "echo", json!({"message": "hello"})).await).unwrap();
        }
        let journal = Journal::default();
        let again = host.log_in(room.servers(), &LoginWish::default(), &room.person, &journal).await;
        let explained = host.explain_login(room.servers()).await;
        let kept = host.kept_logins();
        write!(told, "{again:?} {journal:?} {explained:?} {kept:?} {:?} {:?}", host.servers(), room.env()).unwrap();
        let login = host.login_store().path().to_owned();
        write!(told, "{host:?} {}", traces.0.lock().unwrap()).unwrap();
        host.shutdown().await;
        room.assert_untold(&told);
        room.assert_unwritten();
        secrets += room.server.record().secrets_seen().len();
        assert!(login.starts_with(room.home()), "kept logins are among the files that were searched");
    }
    assert!(secrets > 30, "there were secrets to be found: {secrets}");
}
