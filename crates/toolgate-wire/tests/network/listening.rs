//! A server on our wire behind TLS or plain HTTP, which notes the HTTP version of every request.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use toolgate_wire::server::{About, Interruption, Reply, RequestContext, Server, Service};
use toolgate_wire::transport::http_server::{HttpOptions, HttpService};

struct Echo;

impl Service for Echo {
    fn about(&self) -> Arc<About> {
        Arc::new(About::new("echo", "1", json!({"tools": {}}).into()))
    }

    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>> {
        Box::pin(async move { Ok(json!({"content": [{"type": "text", "text": cx.arguments().to_string()}]}).into()) })
    }
}

/// A server that listens.
pub(crate) struct Listening {
    pub(crate) port: u16,
    /// The certificate to trust, for a server behind TLS.
    pub(crate) authority: Vec<u8>,
    versions: Arc<Mutex<Vec<Version>>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Listening {
    /// On plain HTTP.
    pub(crate) async fn plainly() -> Self {
        Self::start(None, Vec::new()).await
    }

    /// Behind TLS, with a certificate for `localhost` that an authority of its own has signed.
    pub(crate) async fn securely() -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_certificate = authority.self_signed(&authority_key).unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut tls = tls.with_no_client_auth().with_single_cert(chain, key).unwrap();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self::start(Some(TlsAcceptor::from(Arc::new(tls))), authority_certificate.pem().into_bytes()).await
    }

    async fn start(tls: Option<TlsAcceptor>, authority: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let versions = Arc::new(Mutex::new(Vec::new()));
        let service = HttpService::new(&Server::new(Echo), HttpOptions::new().path("/mcp"));
        let seen = versions.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (service, seen, tls) = (service.clone(), seen.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(socket, service, seen).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(socket).await {
                                serve(stream, service, seen).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, authority, versions, accepting }
    }

    /// The HTTP versions of all requests so far, each once.
    pub(crate) fn versions(&self) -> Vec<Version> {
        let mut versions = self.versions.lock().unwrap().clone();
        versions.dedup();
        versions
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    service: HttpService,
    seen: Arc<Mutex<Vec<Version>>>,
) {
    let handle = service_fn(move |request: Request<Incoming>| {
        seen.lock().unwrap().push(request.version());
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.handle(request).await) }
    });
    let _ended = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), handle).await.is_ok();
}
