//! `headersHelper`: a command of the person that prints the headers for a server as a JSON object. Run before the first request, and again when
//! the server refuses what it printed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use toolgate_wire::transport::http_client::{Credentials, Refusal, RequestFacts};
use toolgate_wire::{Error as WireError, Result as WireResult};

use super::secrets::command;
use crate::env::HostEnv;
use crate::server_name::ServerName;
use crate::servers::remote::{HeaderCheck, Refusal as Unsendable, check_header};

/// Runs the command of one server.
pub(super) struct HeaderHelper {
    env: Arc<HostEnv>,
    server: ServerName,
    command: String,
    kept: Mutex<Option<HeaderMap>>,
    /// One run at a time: it may ask the person something.
    running: tokio::sync::Mutex<()>,
}

impl HeaderHelper {
    pub(super) fn new(env: Arc<HostEnv>, server: ServerName, command: String) -> Self {
        Self { env, server, command, kept: Mutex::default(), running: tokio::sync::Mutex::default() }
    }

    fn kept(&self) -> Option<HeaderMap> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Other headers than `refused`: those that somebody else got meanwhile, or those of a new run.
    async fn other_than(&self, refused: Option<&HeaderMap>) -> WireResult<HeaderMap> {
        let _one_at_a_time = self.running.lock().await;
        match self.kept() {
            Some(kept) if Some(&kept) != refused => return Ok(kept),
            _ => {}
        }
        let failed =
            |why: String| WireError::Credentials(format!("`headersHelper` of `{}`: {why}", self.server).into());
        let printed = command::run(&self.env, &self.command).await.map_err(|why| failed(why.message))?;
        let headers = read(&printed).map_err(failed)?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(headers.clone());
        Ok(headers)
    }
}

impl fmt::Debug for HeaderHelper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderHelper").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Credentials for HeaderHelper {
    fn headers<'a>(&'a self, _request: RequestFacts<'a>) -> BoxFuture<'a, WireResult<HeaderMap>> {
        Box::pin(async move {
            match self.kept() {
                Some(kept) => Ok(kept),
                None => self.other_than(None).await,
            }
        })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal<'a>) -> BoxFuture<'a, WireResult<bool>> {
        Box::pin(async move {
            if refusal.attempt > 1 {
                return Ok(false);
            }
            let fresh = self.other_than(Some(refusal.sent)).await?;
            Ok(&fresh != refusal.sent)
        })
    }
}

/// The headers in what a command printed. What is said about them never repeats a value.
fn read(printed: &[u8]) -> Result<HeaderMap, String> {
    let printed: BTreeMap<String, String> = serde_json::from_slice(printed).map_err(|_| {
        "what it prints is no JSON object with texts, such as {\"Authorization\": \"Bearer …\"}".to_owned()
    })?;
    let mut headers = HeaderMap::new();
    for (name, value) in &printed {
        match check_header(name, value) {
            HeaderCheck::Send => {}
            HeaderCheck::LeaveOut => continue,
            HeaderCheck::Refuse(Unsendable { message, .. }) => {
                return Err(format!("`{}`: {message}", name.escape_debug()));
            }
        }
        if let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn printed_headers_are_checked() {
        let none = "what it prints is no JSON object with texts, such as {\"Authorization\": \"Bearer …\"}";
        let cases = [
            (r#"{"Authorization": "Bearer sesame", "X-A": "b"}"#, Ok(vec!["authorization", "x-a"])),
            ("{}", Ok(vec![])),
            (r#"{"Content-Length": "1", "X-A": "b"}"#, Ok(vec!["x-a"])),
            ("", Err(none)),
            ("Bearer sesame", Err(none)),
            (r#"{"A": 1}"#, Err(none)),
            (r#"["A"]"#, Err(none)),
            (r#"{"a b": "c"}"#, Err("`a b`: not the name of a header")),
            ("{\"A\": \"b\\r\\nX: y\"}", Err("`A`: the value cannot be sent as a header")),
        ];
        for (printed, expected) in cases {
            let found = read(printed.as_bytes());
            let mut names = found.as_ref().map(|headers| headers.keys().map(|name| name.as_str()).collect::<Vec<_>>());
            names.iter_mut().for_each(|names| names.sort_unstable());
            assert_eq!(names.map_err(String::as_str), expected, "{printed}");
        }
    }
}
