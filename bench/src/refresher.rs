//! One of many processes that keep the same login: asks for it again and again, and tells how that went.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolgate::auth::keeper::Keeper;
use toolgate::auth::login::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
use toolgate::auth::renew::{Renew, RenewError};
use toolgate::auth::store::{LoginKey, LoginStore, TokenStore};
use toolgate::{HostDirs, HostEnv, Secret, ServerName, SystemClock};

use crate::token_server::post;
use crate::{Outcome, block_on, say};

/// How it went for one process.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// How long it waited for each login, in microseconds.
    pub(crate) waits: Vec<u64>,
    /// How often there was none, and a person would have been asked.
    pub(crate) lost: u64,
    /// What else went wrong.
    pub(crate) errors: Vec<String>,
}

/// The kept logins in that home.
pub(crate) fn store(home: &Path) -> LoginStore {
    let dirs = HostDirs { user: home.to_owned(), system: home.join("system"), home: None };
    let clock = Arc::new(SystemClock);
    // Without variables there is no keychain, so the key is in a file.
    let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: home.into(), clock };
    LoginStore::open(Arc::new(env), TokenStore::Auto)
}

/// The one login that all of them keep.
pub(crate) fn key() -> Outcome<LoginKey> {
    Ok(LoginKey::new(&ServerName::new("bench")?, &"https://bench.example/mcp".parse()?))
}

/// A login that ends at once.
pub(crate) fn login(access_token: &str, refresh_token: &str) -> Login {
    let now = SystemTime::now();
    let client = ClientIdentity {
        issuer: "https://as.example".to_owned(),
        client_id: "bench".to_owned(),
        client_secret: None,
        method: ClientMethod::None,
        origin: ClientOrigin::Settings,
        redirect_uri: None,
        expires_at: None,
    };
    Login {
        access_token: Secret::new(access_token),
        token_type: TokenType::Bearer,
        refresh_token: Some(Secret::new(refresh_token)),
        expires_at: Some(now),
        obtained_at: now,
        scopes: Vec::new(),
        issuer: "https://as.example".to_owned(),
        token_endpoint: "https://as.example/token".to_owned(),
        resource: None,
        client,
        proof_key: None,
        generation: 0,
    }
}

/// Asks for the login `count` times and prints its report.
pub(crate) fn run(home: &str, address: &str, count: &str) -> Outcome {
    let count: u64 = count.parse()?;
    let renew = Arc::new(OverHttp { address: address.to_owned() });
    let keeper = Keeper::new(Arc::new(store(Path::new(home))), key()?, renew);
    let report = block_on(async move {
        let mut report = Report::default();
        for _ in 0..count {
            let asked = Instant::now();
            match keeper.current().await {
                Ok(Some(_)) => report.waits.push(in_us(asked.elapsed())),
                Ok(None) => report.lost += 1,
                Err(error) => report.errors.push(error.to_string()),
            }
        }
        Ok(report)
    })?;
    say(&serde_json::to_string(&report)?);
    Ok(())
}

fn in_us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Renews a login at a token endpoint.
#[derive(Debug)]
struct OverHttp {
    address: String,
}

#[derive(Deserialize)]
struct Answer {
    access_token: String,
    refresh_token: String,
}

impl Renew for OverHttp {
    fn renew<'a>(&'a self, old: Option<&'a Login>) -> BoxFuture<'a, Result<Login, RenewError>> {
        async move {
            let Some(token) = old.and_then(|old| old.refresh_token.as_ref()) else {
                return Err(RenewError::NeedsPerson("there is nothing to renew it with".to_owned()));
            };
            let form = format!("grant_type=refresh_token&refresh_token={}", token.expose());
            let transient = |error: &dyn std::fmt::Display| RenewError::Transient(error.to_string());
            let (status, body) = post(&self.address, &form).await.map_err(|error| transient(&error))?;
            if status.contains(" 400 ") {
                return Err(RenewError::NeedsPerson("the refresh token was refused".to_owned()));
            }
            let answer: Answer = serde_json::from_str(&body).map_err(|error| transient(&error))?;
            Ok(login(&answer.access_token, &answer.refresh_token))
        }
        .boxed()
    }
}
