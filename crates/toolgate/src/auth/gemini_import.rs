//! Logins that Gemini CLI keeps, taken over: its plain file (`mcp-oauth-tokens.json`) and its encrypted one (`gemini-credentials.json`).
//!
//! It keeps less than we do. Which authorization server a login is from is found again when it is next looked for; a client secret is
//! not kept at all.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::{Map, Value};
use url::Url;

use super::login::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
use super::store::LoginKey;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{FOREIGN_LOGINS_BYTES_MAX, FOREIGN_LOGINS_MAX};
use crate::secret::Secret;
use crate::server_name::ServerName;
use crate::settings::diagnostic::visible;

/// What logins are filed under there, and the password of the encrypted file.
const SERVICE: &str = "gemini-cli-oauth";

/// What extensions keep beside logins begins with this.
const NOT_A_LOGIN: &str = "__";

/// Tags of AES-GCM.
const TAG_BYTES: usize = 16;

/// What was found.
#[derive(Debug, Default)]
pub struct GeminiLogins {
    /// The logins.
    pub logins: Vec<GeminiLogin>,
    /// What could not be taken over, and why.
    pub left: Vec<String>,
}

/// One login.
#[derive(Debug)]
pub struct GeminiLogin {
    /// What it is for.
    pub key: LoginKey,
    /// The login, as far as it is known.
    pub login: Login,
    /// What is missing.
    pub notes: Vec<String>,
}

/// Whose file it is: the key of the encrypted one is made of it.
#[derive(Clone, Copy, Debug)]
pub struct GeminiOwner<'a> {
    /// The name of the machine.
    pub hostname: &'a str,
    /// The name of the user.
    pub username: &'a str,
}

/// What is known besides the file.
#[derive(Clone, Copy)]
pub struct GeminiContext<'a> {
    /// The time now.
    pub now: SystemTime,
    /// Where the settings say that a server is, for logins that do not say it.
    pub address: &'a dyn Fn(&str) -> Option<Url>,
}

impl std::fmt::Debug for GeminiContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeminiContext").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Reads the plain file.
///
/// # Errors
/// When it is not the file of logins it should be.
pub fn from_plain(text: &str, context: GeminiContext<'_>) -> Result<GeminiLogins> {
    check_size(text)?;
    match serde_json::from_str(text) {
        Ok(Value::Array(credentials)) => Ok(take_over(credentials, context)),
        Ok(_) => Err(unusable("it is not a list of logins")),
        Err(error) => Err(unusable(&format!("no JSON at line {}, column {}", error.line(), error.column()))),
    }
}

/// Reads the encrypted file.
///
/// # Errors
/// When it is not the file of logins it should be, or was made by another user or on another machine.
pub fn from_encrypted(text: &str, owner: GeminiOwner<'_>, context: GeminiContext<'_>) -> Result<GeminiLogins> {
    check_size(text)?;
    let plain = decrypt(text.trim(), owner)?;
    let Ok(Value::Object(services)) = serde_json::from_str(plain.expose()) else {
        return Err(unusable("what is encrypted in it is not JSON of the form that is known"));
    };
    let mut found = Vec::new();
    let mut left = Vec::new();
    for (account, secret) in services.get(SERVICE).and_then(Value::as_object).into_iter().flatten() {
        if account.starts_with(NOT_A_LOGIN) {
            continue;
        }
        match secret.as_str().and_then(|secret| serde_json::from_str(secret).ok()) {
            Some(credential) => found.push(credential),
            None => left.push(format!("`{}`: it cannot be understood", visible(account))),
        }
    }
    let mut logins = take_over(found, context);
    logins.left.append(&mut left);
    Ok(logins)
}

fn check_size(text: &str) -> Result<()> {
    if text.len() > FOREIGN_LOGINS_BYTES_MAX {
        return Err(unusable(&format!("larger than {FOREIGN_LOGINS_BYTES_MAX} bytes, the most it may have")));
    }
    Ok(())
}

/// `hex(iv):hex(tag):hex(ciphertext)`.
fn decrypt(text: &str, owner: GeminiOwner<'_>) -> Result<Secret> {
    let parts: Option<Vec<Vec<u8>>> = text.split(':').map(from_hex).collect();
    let Some([iv, tag, ciphertext]) = parts.as_deref() else {
        return Err(unusable("it is not encrypted the way that is known"));
    };
    if tag.len() != TAG_BYTES {
        return Err(unusable("it is not encrypted the way that is known"));
    }
    let Ok(nonce) = <[u8; NONCE_LEN]>::try_from(iv.as_slice()) else {
        return Err(unusable(&format!("it is encrypted with a nonce of {} bytes, and we know {NONCE_LEN}", iv.len()))
            .hinting("let a newer Gemini CLI write it again: a login to any server is enough"));
    };
    let mut bytes = ciphertext.clone();
    bytes.extend_from_slice(tag);
    let opened = key_of(owner).and_then(|key| {
        let opened = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes).ok()?;
        std::str::from_utf8(opened).ok().map(Secret::new)
    });
    opened.ok_or_else(|| {
        let (user, host) = (visible(owner.username), visible(owner.hostname));
        unusable(&format!("it was not encrypted by the user `{user}` on the machine `{host}`, or is not as it was"))
            .hinting("take it over where it was made, and bring the logins here with `toolgate mcp auth --export`")
    })
}

fn key_of(owner: GeminiOwner<'_>) -> Option<LessSafeKey> {
    let salt = format!("{}-{}-gemini-cli", owner.hostname, owner.username);
    let cost = scrypt::Params::new(14, 8, 1, 32).ok()?;
    let mut key = [0; 32];
    scrypt::scrypt(SERVICE.as_bytes(), salt.as_bytes(), &cost, &mut key).ok()?;
    UnboundKey::new(&AES_256_GCM, &key).ok().map(LessSafeKey::new)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|letter| letter.to_digit(16)).collect();
    let bytes = digits?;
    if bytes.len() % 2 != 0 {
        return None;
    }
    bytes.chunks_exact(2).map(|pair| u8::try_from(pair.iter().fold(0, |byte, digit| byte * 16 + digit)).ok()).collect()
}

fn take_over(credentials: Vec<Value>, context: GeminiContext<'_>) -> GeminiLogins {
    let mut logins = GeminiLogins::default();
    if credentials.len() > FOREIGN_LOGINS_MAX {
        logins.left.push(format!("all after the first {FOREIGN_LOGINS_MAX} logins"));
    }
    for credential in credentials.into_iter().take(FOREIGN_LOGINS_MAX) {
        let server = text_of(credential.as_object(), "serverName").unwrap_or_default().to_owned();
        match take_over_one(&credential, &server, context) {
            Ok(login) => logins.logins.push(login),
            Err(why) => logins.left.push(format!("`{}`: {why}", visible(&server))),
        }
    }
    logins
}

fn take_over_one(
    credential: &Value,
    server: &str,
    context: GeminiContext<'_>,
) -> std::result::Result<GeminiLogin, &'static str> {
    let credential = credential.as_object();
    let name = ServerName::new(server).map_err(|_| "it is for a server that cannot be called so")?;
    let token = credential.and_then(|credential| credential.get("token")).and_then(Value::as_object);
    let access_token = text_of(token, "accessToken").ok_or("there is no token in it")?;
    if !text_of(token, "tokenType").unwrap_or("Bearer").eq_ignore_ascii_case("bearer") {
        return Err("its token is of a kind that is not known");
    }
    let written = text_of(credential, "mcpServerUrl").and_then(|url| Url::parse(url).ok());
    let url =
        written.or_else(|| (context.address)(server)).ok_or("its address stands neither there nor in the settings")?;
    let client_id = text_of(credential, "clientId");
    let token_endpoint = text_of(credential, "tokenUrl");
    let mut notes = Vec::new();
    let refresh_token = text_of(token, "refreshToken").filter(|_| {
        let missing = match (client_id, token_endpoint) {
            (Some(_), Some(_)) => return true,
            (None, _) => "which client it belongs to",
            (_, None) => "where that is done",
        };
        notes.push(format!("it cannot be renewed: {missing} is not written there"));
        false
    });
    let expires_at = moment(token, "expiresAt");
    if expires_at.is_some_and(|end| end <= context.now) && refresh_token.is_none() {
        return Err("it is over and cannot be renewed");
    }
    if refresh_token.is_some() {
        notes.push("a client secret is not written there: if there is one, put it into the settings".to_owned());
    }
    let scopes = text_of(token, "scope").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let client = ClientIdentity {
        issuer: String::new(),
        client_id: client_id.unwrap_or_default().to_owned(),
        client_secret: None,
        method: ClientMethod::None,
        origin: ClientOrigin::Registered,
        redirect_uri: None,
        expires_at: None,
    };
    let login = Login {
        access_token: Secret::new(access_token),
        token_type: TokenType::Bearer,
        refresh_token: refresh_token.map(Secret::new),
        expires_at,
        obtained_at: moment(credential, "updatedAt").unwrap_or(context.now),
        scopes,
        issuer: String::new(),
        token_endpoint: token_endpoint.unwrap_or_default().to_owned(),
        resource: None,
        client,
        proof_key: None,
        generation: 0,
    };
    Ok(GeminiLogin { key: LoginKey::new(&name, &url), login, notes })
}

fn text_of<'v>(object: Option<&'v Map<String, Value>>, key: &str) -> Option<&'v str> {
    object?.get(key)?.as_str().filter(|text| !text.is_empty())
}

fn moment(object: Option<&Map<String, Value>>, key: &str) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(object?.get(key)?.as_u64()?))
}

fn unusable(why: &str) -> Error {
    Error::new(ErrorKind::State, format!("the logins of Gemini CLI cannot be taken over: {why}"))
}

#[cfg(test)]
#[path = "gemini_import_tests.rs"]
mod tests;
