//! The way to providers: one HTTP client with this program's TLS, the certificates of the machine, and the proxy that the variables name.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, NoProxy, Proxy};
use toolgate::HostEnv;
use url::Url;

use crate::config::is_here;
use crate::error::{ModelError, ModelErrorKind};
use crate::limits::CONNECT_MS;

/// A client for that address; for any, when none is named.
pub(crate) fn client(env: &HostEnv, url: Option<&Url>) -> Result<Client, ModelError> {
    let failed = |what: String| ModelError::new(ModelErrorKind::Unreachable, what);
    let is_plain = url.is_some_and(|url| url.scheme() == "http");
    let mut roots = rustls::RootCertStore::empty();
    // Looking at all certificates of the machine takes its time, and is for nothing where none is used.
    if !is_plain {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(format!("cannot set up TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(Duration::from_millis(CONNECT_MS))
        // A key goes where the settings say, and nowhere else.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    let builder = match proxy(env, url) {
        Some(Ok(proxy)) => builder.proxy(proxy),
        Some(Err(error)) => return Err(failed(format!("the proxy of the variables cannot be used: {error}"))),
        None => builder,
    };
    builder.build().map_err(|error| failed(format!("cannot set up the way to the model: {error}")))
}

fn proxy(env: &HostEnv, url: Option<&Url>) -> Option<reqwest::Result<Proxy>> {
    if url.is_some_and(is_here) {
        return None;
    }
    let variable = |names: &[&str]| names.iter().find_map(|name| env.vars.get(*name)).filter(|value| !value.is_empty());
    let address = match url.map(Url::scheme) {
        Some("http") => variable(&["http_proxy", "all_proxy", "ALL_PROXY"]),
        _ => variable(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
    }?;
    let exceptions = variable(&["no_proxy", "NO_PROXY"]).and_then(|list| NoProxy::from_string(list));
    Some(Proxy::all(address).map(|proxy| proxy.no_proxy(exceptions)))
}
