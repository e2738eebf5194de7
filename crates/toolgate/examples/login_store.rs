//! Keeps and finds a login, as a process of its own: `login_store HOME auto|keychain|file put SERVER TOKEN`, `login_store HOME auto get SERVER`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is how it answers")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use toolgate::auth::login::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
use toolgate::auth::store::{LoginKey, LoginStore, TokenStore};
use toolgate::{HostDirs, HostEnv, Secret, ServerName, SystemClock};

type Outcome = Result<String, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match answer(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer(words: &[&str]) -> Outcome {
    let [home, choice, what, server, rest @ ..] = words else {
        return Err("a home, a choice, a verb and a server".into());
    };
    let choice = match *choice {
        "keychain" => TokenStore::Keychain,
        "file" => TokenStore::File,
        _ => TokenStore::Auto,
    };
    #[expect(clippy::disallowed_methods, reason = "a program's own entry reads the environment")]
    let vars = std::env::vars().collect();
    let dirs = HostDirs { user: (*home).into(), system: (*home).into(), home: None };
    let env = HostEnv { vars, dirs, workspace: (*home).into(), clock: Arc::new(SystemClock) };
    let store = LoginStore::open(Arc::new(env), choice);
    let key = LoginKey::new(&ServerName::new(server)?, &"https://server.example/mcp".parse()?);
    match (*what, rest) {
        ("put", [token]) => {
            store.put(&key, login(token))?;
            Ok(format!("sealed with {}", store.sealed_with()?.map_or("nothing", |with| with.as_str())))
        }
        _ => Ok(store.get(&key)?.map_or_else(|| "-".to_owned(), |login| login.access_token.into_exposed())),
    }
}

fn login(token: &str) -> Login {
    let client = ClientIdentity {
        issuer: String::new(),
        client_id: "example".to_owned(),
        client_secret: None,
        method: ClientMethod::None,
        origin: ClientOrigin::Settings,
        redirect_uri: None,
        expires_at: None,
    };
    Login {
        access_token: Secret::new(token),
        token_type: TokenType::Bearer,
        refresh_token: None,
        expires_at: None,
        obtained_at: SystemTime::now(),
        scopes: Vec::new(),
        issuer: String::new(),
        token_endpoint: String::new(),
        resource: None,
        client,
        proof_key: None,
        generation: 0,
    }
}
