//! A browser that comes back, played by a bare connection.

use super::{Callback, Page};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn get(port: u16, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn port(callback: &Callback) -> u16 {
    url::Url::parse(callback.redirect_uri()).unwrap().port().unwrap()
}

#[tokio::test]
async fn a_browser_learns_how_the_login_ended() {
    let mut callback = Callback::listen(None, None, None).await.unwrap();
    let port = port(&callback);
    assert_eq!(callback.redirect_uri(), format!("http://127.0.0.1:{port}/oauth/callback"));
    let browser = tokio::spawn(async move { get(port, "/oauth/callback?code=c&state=s").await });
    let arrival = callback.next().await.unwrap();
    assert_eq!(arrival.query, "code=c&state=s");
    arrival.show(Page::good("files")).await;
    let page = browser.await.unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("You are logged in to files"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
}

#[tokio::test]
async fn strays_are_told_so_and_disturb_nothing() {
    let mut callback = Callback::listen(None, None, None).await.unwrap();
    let port = port(&callback);
    let cases = [
        ("/favicon.ico", "404 Not Found", "only waits for the end of a login"),
        ("/oauth/callback", "400 Bad Request", "came back without an answer"),
    ];
    for (target, status, words) in cases {
        let page = get(port, target).await;
        assert!(page.contains(status) && page.contains(words), "{target}: {page}");
    }
    let browser = tokio::spawn(async move { get(port, "/oauth/callback?code=c").await });
    callback.next().await.unwrap().show(Page::bad("files", "the login was denied")).await;
    let page = browser.await.unwrap();
    assert!(page.contains("400 Bad Request") && page.contains("the login was denied. The terminal says"), "{page}");
}

#[tokio::test]
async fn the_port_and_path_of_the_settings_are_used() {
    let free = Callback::listen(None, None, None).await.unwrap();
    let wanted = port(&free);
    drop(free);
    tokio::task::yield_now().await;
    let uri = format!("http://localhost:{wanted}/back");
    let mut callback = Callback::listen(Some(&uri), None, None).await.unwrap();
    assert_eq!(callback.redirect_uri(), uri);
    let error = Callback::listen(Some(&uri), None, None).await.unwrap_err();
    assert!(error.to_string().contains(&format!("on port {wanted}")), "{error}");
    let browser = tokio::spawn(async move { get(wanted, "/back?code=c").await });
    callback.next().await.unwrap().show(Page::good("x")).await;
    assert!(browser.await.unwrap().contains("200 OK"));
}

#[tokio::test]
async fn the_port_of_the_last_time_is_taken_again_when_it_is_free() {
    let first = Callback::listen(None, None, None).await.unwrap();
    let uri = first.redirect_uri().to_owned();
    let other = Callback::listen(None, None, Some(&uri)).await.unwrap();
    assert_ne!(other.redirect_uri(), uri);
    drop(first);
    tokio::task::yield_now().await;
    assert_eq!(Callback::listen(None, None, Some(&uri)).await.unwrap().redirect_uri(), uri);
}
