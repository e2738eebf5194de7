//! Which addresses are public: reachable by everybody, and so nothing that only this machine or this network may talk to.
//!
//! A pool that is told to connect to public addresses only asks here twice: for a host that is written as an address, and for every
//! address that a name stands for. The second happens while connecting, so that a name cannot mean something else afterwards.

use std::error::Error as StdError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

/// Whether an address belongs to the public network. Not knowing counts as no.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Blocks that are reserved by the registry of special-purpose addresses: first address and length of the prefix.
const RESERVED_V4: [([u8; 4], u32); 15] = [
    ([0, 0, 0, 0], 8),       // this network
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // shared by the customers of one provider
    ([127, 0, 0, 0], 8),     // this machine
    ([169, 254, 0, 0], 16),  // this link, and what clouds tell their machines
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 88, 99, 0], 24),  // relays to IPv6, out of use
    ([192, 168, 0, 0], 16),  // private
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
    ([224, 0, 0, 0], 4),     // many receivers
    ([240, 0, 0, 0], 4),     // future use, and everybody on this network
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !RESERVED_V4.iter().any(|(block, length)| {
        let mask = u32::MAX << (u32::BITS - length);
        bits & mask == Ipv4Addr::from(*block).to_bits()
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let [high, low] = [g, h].map(u16::to_be_bytes);
    let embedded_last = Ipv4Addr::new(high[0], high[1], low[0], low[1]);
    match (a, b) {
        // An IPv4 address in another dress: mapped, or behind a translator.
        (0, 0) if [c, d, e, f] == [0, 0, 0, 0xffff] => is_public_v4(embedded_last),
        (0x64, 0xff9b) => [c, d, e, f] == [0; 4] && is_public_v4(embedded_last),
        (0x2002, _) => {
            let [high, low] = [b, c].map(u16::to_be_bytes);
            is_public_v4(Ipv4Addr::new(high[0], high[1], low[0], low[1]))
        }
        // Documentation, and protocol assignments with tunnels and benchmarks among them.
        (0x2001, 0x0db8 | 0..=0x01ff) | (0x3fff, 0..=0x0fff) => false,
        // Of everything else only global unicast is given out.
        _ => a & 0xe000 == 0x2000,
    }
}

/// A host that is not public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotPublic(String);

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` has no public address", self.0)
    }
}

impl StdError for NotPublic {}

/// Refuses a host whose text alone says that it is not public. This is all that can be known of a host that a proxy looks up.
pub(crate) fn check_host(host: &str) -> Result<(), NotPublic> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_fine = match name.parse::<IpAddr>() {
        Ok(address) => is_public(address),
        // Old ways to write an IPv4 address, such as `127.1` or `0x7f000001`, are read differently by everybody.
        Err(_) if last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()) => false,
        Err(_) => last != "localhost",
    };
    if is_fine { Ok(()) } else { Err(NotPublic(host.to_owned())) }
}

/// Looks up names; where that is wanted, leaves only public addresses.
#[derive(Debug, Clone)]
pub(crate) struct Resolver {
    system: GaiResolver,
    public_only: bool,
}

impl Resolver {
    pub(crate) fn of_all_addresses() -> Self {
        Self { system: GaiResolver::new(), public_only: false }
    }

    pub(crate) fn of_public_addresses() -> Self {
        Self { public_only: true, ..Self::of_all_addresses() }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn StdError + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.system.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (public_only, host) = (self.public_only, name.as_str().to_owned());
        let looking_up = self.system.call(name);
        Box::pin(async move {
            let mut addresses: Vec<SocketAddr> = looking_up.await?.collect();
            if public_only {
                addresses.retain(|address| is_public(address.ip()));
                if addresses.is_empty() {
                    return Err(NotPublic(host).into());
                }
            }
            Ok(addresses.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_told_from_all_others() {
        let cases = [
            (true, "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0"),
            (true, "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 223.255.255.255"),
            (false, "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254"),
            (false, "169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1"),
            (false, "198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1"),
            (false, "255.255.255.255"),
            (true, "2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450::1 3ffe::1 2001:200::1"),
            (
                false,
                ":: ::1 fe80::1 febf::1 fec0::1 fc00::1 fdff::1 ff02::1 100::1 2001:db8::1 2001:2::1 2001::1 3fff::1",
            ),
            (false, "4000::1 5f00::1 ::127.0.0.1 ::8.8.8.8"),
            (true, "::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1"),
            (false, "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::10.0.0.1 64:ff9b::7f00:1"),
            (false, "64:ff9b:1::8.8.8.8 2002:7f00:1::1 2002:a00:1::"),
        ];
        for (expected, addresses) in cases {
            for address in addresses.split(' ') {
                assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
            }
        }
    }

    #[test]
    fn a_host_may_tell_by_its_text_alone_that_it_is_not_public() {
        let fine = "example.com EXAMPLE.com. 8.8.8.8 [2606:4700::1] localhost.example.com 0x.example.com 127.0.0.1.example.com";
        for host in fine.split(' ') {
            assert_eq!(check_host(host), Ok(()), "{host}");
        }
        let refused = "127.0.0.1 127.0.0.1. 127.1 2130706433 0x7f000001 0177.0.0.1 0x7f.0.0.1 10.0.0.1 [::1] [::ffff:127.0.0.1] \
            localhost LOCALHOST localhost. api.localhost 169.254.169.254 8.8.2056";
        for host in refused.split_whitespace() {
            let error = check_host(host).unwrap_err().to_string();
            assert_eq!(error, format!("`{host}` has no public address"));
        }
    }
}
