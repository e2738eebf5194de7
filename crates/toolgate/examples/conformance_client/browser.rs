//! A browser without a person: it opens the page, and goes where it is sent. The login itself is the ordinary one, listener and all.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::LOCATION;
use http::{Request, Uri};
use http_body_util::Full;
use toolgate::ServerName;
use toolgate::auth::guide::{Brought, LoginGuide, LoginPage, LoginReason};
use toolgate::wire::transport::http_pool::HttpPool;

/// Pages that are followed.
const PAGES_MAX: usize = 10;

/// Follows redirects.
#[derive(Debug)]
pub(crate) struct RedirectFollower;

impl LoginGuide for RedirectFollower {
    fn wants_to_log_in(&self, _server: ServerName, _why: LoginReason) -> BoxFuture<'static, bool> {
        Box::pin(async { true })
    }

    fn visit(&self, _server: ServerName, page: LoginPage) -> BoxFuture<'static, Brought> {
        Box::pin(async move {
            let LoginPage::Browser { url } = page else { return Brought::GaveUp };
            match follow(&url).await {
                // The browser has come back by itself.
                Ok(()) => std::future::pending().await,
                Err(_) => Brought::GaveUp,
            }
        })
    }
}

async fn follow(url: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let pool = HttpPool::default();
    let mut url = url.to_owned();
    for _ in 0..PAGES_MAX {
        let uri: Uri = url.parse()?;
        let response = pool.request(Request::builder().uri(uri).body(Full::new(Bytes::new()))?).await?;
        let next = response.headers().get(LOCATION).map(|location| location.to_str().map(str::to_owned));
        match next.transpose()? {
            Some(next) if response.status().is_redirection() => url = next,
            _ => return Ok(()),
        }
    }
    Err("the pages lead in circles".into())
}
