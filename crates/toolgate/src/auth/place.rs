//! Which addresses may be used on behalf of a server. A public server must not make us talk to this machine or this network, and nothing
//! of a login travels in the clear, except to where nobody else listens. Pure; what a name stands for is handed in.

use std::net::{IpAddr, Ipv6Addr};

use url::{Host, Origin, Url};

/// Where a server is, as far as it matters to what may be asked of others on its behalf.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    server: Url,
    is_local: bool,
    /// What the settings name themselves. Somebody who may write settings may reach it anyhow.
    trusted: Vec<Origin>,
}

impl Place {
    /// The place of a server whose host stands for `addresses`; for a host that is an address itself they do not matter.
    pub(crate) fn of(server: &Url, addresses: &[IpAddr]) -> Self {
        let is_local = looks_local(server)
            || (is_name(server) && !addresses.is_empty() && addresses.iter().copied().all(is_local_address));
        Self { server: server.clone(), is_local, trusted: Vec::new() }
    }

    /// The same, where also these may be reached; they come from the settings.
    #[must_use]
    pub(crate) fn trusting<'a>(mut self, urls: impl IntoIterator<Item = &'a str>) -> Self {
        self.trusted.extend(urls.into_iter().filter_map(|url| Url::parse(url).ok()).map(|url| url.origin()));
        self
    }

    /// Whether the server is on this machine or in this network, and so may lead anywhere.
    pub(crate) const fn is_local(&self) -> bool {
        self.is_local
    }

    /// Whether the settings themselves name this host.
    pub(crate) fn trusts(&self, url: &Url) -> bool {
        self.trusted.contains(&url.origin())
    }

    /// Whether something public may be read from `url`; else why not.
    pub(crate) fn may_read(&self, url: &Url) -> Result<(), String> {
        self.is_reachable(url)?;
        // Whoever listens there hears everything else that is said to the server as well.
        let is_the_server = url.origin() == self.server.origin();
        if url.scheme() == "https" || is_the_server || self.is_unheard(url) {
            return Ok(());
        }
        Err("it is not `https`".to_owned())
    }

    /// Whether something secret may be sent to `url`; else why not.
    pub(crate) fn may_trust(&self, url: &Url) -> Result<(), String> {
        self.is_reachable(url)?;
        if url.fragment().is_some() {
            return Err("it has a fragment".to_owned());
        }
        if url.scheme() == "https" || self.is_unheard(url) {
            return Ok(());
        }
        Err("it is not `https`".to_owned())
    }

    fn is_reachable(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}:` is not `https:`", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a name or password in it".to_owned());
        }
        if !self.is_local && !self.trusts(url) && looks_local(url) {
            return Err("it is on this machine or in this network, and the server is not".to_owned());
        }
        Ok(())
    }

    /// Whether plain `http` to there stays on this machine, or in the network in which the server itself is spoken to in the clear.
    fn is_unheard(&self, url: &Url) -> bool {
        let may = self.is_local || self.trusts(url);
        let is_near = looks_local(url) || is_unqualified(url) || url.host() == self.server.host();
        may && (is_loopback(url) || (self.server.scheme() == "http" && is_near))
    }
}

fn is_name(url: &Url) -> bool {
    matches!(url.host(), Some(Host::Domain(_)))
}

/// Whether the text of a host says that it is on this machine or in this network.
fn looks_local(url: &Url) -> bool {
    is_loopback(url) || address_of(url).is_some_and(is_local_address)
}

/// Whether the text of a host says that it is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        _ => address_of(url).is_some_and(|address| plain(address).is_loopback()),
    }
}

/// Whether a name has one part only, as machines of one network call each other.
fn is_unqualified(url: &Url) -> bool {
    matches!(url.host(), Some(Host::Domain(name)) if !name.contains('.'))
}

fn address_of(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

/// An IPv4 address in the dress of IPv6 is what it is underneath.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether an address is of this machine, this link or this network.
fn is_local_address(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || is_shared || a == 0 || v4.is_broadcast()
        }
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6 == Ipv6Addr::UNSPECIFIED || v6.is_unique_local() || v6.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
