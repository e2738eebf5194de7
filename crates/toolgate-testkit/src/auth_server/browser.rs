//! A browser of a few lines: opens an address, follows redirects, wherever they lead, and presses a button of a page.

use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::auth_server::form::Form;
use crate::limits::{BROWSER_REDIRECTS_MAX, CLIENT_TEXT_BYTES_MAX, REQUEST_HEAD_BYTES_MAX};

/// What the browser shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it ended up.
    pub url: String,
    /// The status of the last answer.
    pub status: u16,
    /// What it shows.
    pub body: String,
    /// Every address on the way, the first one included.
    pub visited: Vec<String>,
}

/// Opens an address.
///
/// # Errors
/// When a server on the way cannot be reached, or redirects do not end.
pub async fn open(url: &str) -> io::Result<Page> {
    visit("GET", url, "").await
}

/// Opens an address on a machine that others cannot reach: follows the first redirect no further than to where it leads, and gives that address.
///
/// # Errors
/// When the server cannot be reached, or does not redirect.
pub async fn lead(url: &str) -> io::Result<String> {
    let answer = exchange("GET", url, "").await?;
    let no_redirect = || io::Error::new(io::ErrorKind::InvalidData, "the page leads nowhere");
    answer.location.map(|location| seen_from(url, &location)).ok_or_else(no_redirect)
}

impl Page {
    /// Presses the button of this value in the form of the page.
    ///
    /// # Errors
    /// When the page has no form, or where it leads cannot be reached.
    pub async fn press(&self, decision: &str) -> io::Result<Self> {
        let attribute = |before: &str| {
            let (_, rest) = self.body.split_once(before)?;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        let no_form = || io::Error::new(io::ErrorKind::InvalidData, "the page has no form");
        let action = attribute("action=\"").ok_or_else(no_form)?;
        let ticket = attribute("name=\"ticket\" value=\"").ok_or_else(no_form)?;
        let form = Form(vec![("ticket".to_owned(), ticket), ("decision".to_owned(), decision.to_owned())]);
        visit("POST", &seen_from(&self.url, &action), &form.write()).await
    }
}

async fn visit(method: &str, url: &str, form: &str) -> io::Result<Page> {
    let (mut method, mut url, mut form) = (method, url.to_owned(), form);
    let mut visited = Vec::new();
    while visited.len() <= BROWSER_REDIRECTS_MAX {
        visited.push(url.clone());
        let answer = exchange(method, &url, form).await?;
        match answer.location {
            Some(location) if (300..400).contains(&answer.status) => url = seen_from(&url, &location),
            _ => return Ok(Page { url, status: answer.status, body: answer.body, visited }),
        }
        (method, form) = ("GET", "");
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("redirects do not end: {visited:?}")))
}

fn seen_from(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let origin: Vec<&str> = base.splitn(4, '/').take(3).collect();
    format!("{}/{}", origin.join("/"), reference.trim_start_matches('/'))
}

struct Answer {
    status: u16,
    location: Option<String>,
    body: String,
}

async fn exchange(method: &str, url: &str, form: &str) -> io::Result<Answer> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{url}: {what}"));
    let url = url.split('#').next().unwrap_or_default();
    let rest = url.strip_prefix("http://").ok_or_else(|| broken("only `http` can be opened"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/html\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    stream.get_mut().write_all(head.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let before = head.len();
        stream.read_until(b'\n', &mut head).await?;
        if head.len() == before || head.len() > REQUEST_HEAD_BYTES_MAX {
            return Err(broken("the head of the answer is cut off or too long"));
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let header = |wanted: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned())
    };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = if header("transfer-encoding").is_some() {
        chunks(&mut stream).await?
    } else {
        let length = header("content-length").and_then(|length| length.parse().ok());
        let mut body = Vec::new();
        (&mut stream).take(length.unwrap_or(CLIENT_TEXT_BYTES_MAX as u64)).read_to_end(&mut body).await?;
        body
    };
    let status = status.ok_or_else(|| broken("no status"))?;
    Ok(Answer { status, location: header("location"), body: String::from_utf8_lossy(&body).into_owned() })
}

async fn chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "a broken chunk");
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let size = usize::from_str_radix(line.trim(), 16).map_err(|_| broken())?;
        if size == 0 {
            return Ok(body);
        }
        if body.len().saturating_add(size) > CLIENT_TEXT_BYTES_MAX {
            return Err(broken());
        }
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).await?;
        chunk.truncate(size);
        body.extend(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_seen_from_where_the_browser_is() {
        let base = "http://127.0.0.1:1/a/b?c=d";
        assert_eq!(seen_from(base, "/x?y"), "http://127.0.0.1:1/x?y");
        assert_eq!(seen_from(base, "http://other:2/z"), "http://other:2/z");
        assert_eq!(seen_from("http://127.0.0.1:1", "/x"), "http://127.0.0.1:1/x");
    }
}
