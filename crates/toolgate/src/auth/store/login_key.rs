//! What a login is kept for: one server at one address.

use ring::digest::{SHA256, digest};
use url::Url;

use crate::hex::hex;
use crate::server_name::ServerName;

/// What a login is kept for: one server at one address. At another address the same server has another login.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoginKey {
    pub(super) server: ServerName,
    pub(super) address: String,
}

impl LoginKey {
    /// The login to a server at an address. Its fragment and what it says of a user are no part of it; of its query only a hash is kept, because
    /// some put secrets there and the file can be read.
    #[must_use]
    pub fn new(server: &ServerName, url: &Url) -> Self {
        let mut address = url.clone();
        address.set_fragment(None);
        let _cannot_have_any = address.set_username("").and_then(|()| address.set_password(None)).is_err();
        if let Some(query) = url.query() {
            address.set_query(Some(&format!("sha256={}", short_hash(query))));
        }
        Self { server: server.clone(), address: address.into() }
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The address, as far as it is kept.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How the entry is called in the file. An address has no spaces, a server may.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.server, self.address)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        let (server, address) = name.rsplit_once(' ')?;
        Some(Self { server: ServerName::new(server).ok()?, address: address.to_owned() })
    }

    /// A name for files that are about this login, without anything of it.
    pub(crate) fn hash(&self) -> String {
        short_hash(&self.name())
    }
}

fn short_hash(text: &str) -> String {
    let hash = digest(&SHA256, text.as_bytes());
    hex(hash.as_ref().get(..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::LoginKey;
    use crate::server_name::ServerName;

    #[test]
    fn a_login_is_for_one_address_and_its_name_tells_nothing_secret() {
        let cases = [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://A.example:443/mcp#part", "https://a.example/mcp"),
            ("https://me:sesame@a.example/mcp", "https://a.example/mcp"),
            ("https://a.example/mcp/", "https://a.example/mcp/"),
            ("https://a.example/a b", "https://a.example/a%20b"),
            ("https://a.example/mcp?", "https://a.example/mcp?sha256=e3b0c44298fc1c149afbf4c8996fb924"),
        ];
        let server = ServerName::new("my server").unwrap();
        for (url, expected) in cases {
            let key = LoginKey::new(&server, &url.parse().unwrap());
            assert_eq!(key.address(), expected, "{url}");
            assert_eq!(key.name(), format!("my server {expected}"));
            assert_eq!(LoginKey::from_name(&key.name()).as_ref(), Some(&key));
        }
        let of_query = |query: &str| LoginKey::new(&server, &format!("https://a.example/?{query}").parse().unwrap());
        assert_ne!(of_query("key=sesame"), of_query("key=other"));
        assert!(!of_query("key=sesame").name().contains("sesame"));
        assert_eq!(of_query("key=sesame").hash().len(), 32);
        assert_eq!(LoginKey::from_name("nothing"), None);
        assert_eq!(LoginKey::from_name(" https://a.example/"), None);
    }
}
