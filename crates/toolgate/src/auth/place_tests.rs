//! Tests.

use std::net::IpAddr;

use url::Url;

use super::Place;

fn place(server: &str, addresses: &[&str]) -> Place {
    let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    Place::of(&Url::parse(server).unwrap(), &addresses)
}

#[test]
fn a_server_is_local_when_all_it_stands_for_is() {
    let cases: &[(&str, &[&str], bool)] = &[
        ("http://localhost:1/mcp", &[], true),
        ("http://LOCALHOST./mcp", &[], true),
        ("http://a.localhost/mcp", &[], true),
        ("http://127.0.0.1/mcp", &[], true),
        ("http://127.1/mcp", &[], true),
        ("http://2130706433/mcp", &[], true),
        ("http://0x7f.0.0.1/mcp", &[], true),
        ("http://0.0.0.0/mcp", &[], true),
        ("http://10.1.2.3/mcp", &[], true),
        ("http://172.31.0.1/mcp", &[], true),
        ("http://192.168.0.1/mcp", &[], true),
        ("http://169.254.169.254/mcp", &[], true),
        ("http://100.64.0.1/mcp", &[], true),
        ("http://[::1]/mcp", &[], true),
        ("http://[::ffff:127.0.0.1]/mcp", &[], true),
        ("http://[fe80::1]/mcp", &[], true),
        ("http://[fd00::1]/mcp", &[], true),
        ("https://8.8.8.8/mcp", &[], false),
        ("https://172.32.0.1/mcp", &[], false),
        ("https://100.128.0.1/mcp", &[], false),
        ("https://[2606:4700::1111]/mcp", &[], false),
        ("https://localhost.example/mcp", &[], false),
        ("https://notlocalhost/mcp", &[], false),
        ("https://a.example/mcp", &[], false),
        ("https://a.example/mcp", &["10.0.0.1"], true),
        ("https://a.example/mcp", &["10.0.0.1", "fd00::1"], true),
        ("https://a.example/mcp", &["10.0.0.1", "8.8.8.8"], false),
        ("https://a.example/mcp", &["8.8.8.8"], false),
        ("https://8.8.8.8/mcp", &["10.0.0.1"], false),
    ];
    for (server, addresses, expected) in cases {
        assert_eq!(place(server, addresses).is_local(), *expected, "{server} {addresses:?}");
    }
}

const NEAR: &str = "it is on this machine or in this network, and the server is not";
const OPEN: &str = "it is not `https`";

#[test]
fn what_may_be_read_and_what_may_be_trusted() {
    let public = || place("https://mcp.example/mcp", &["8.8.8.8"]);
    let clear = || place("http://mcp.example/mcp", &["8.8.8.8"]);
    let loopback = || place("http://localhost:1/mcp", &[]);
    let network = || place("http://tools.corp.example/mcp", &["10.0.0.1"]);
    let sealed = || place("https://192.168.0.1/mcp", &[]);
    let told = || public().trusting(["https://10.9.9.9/token", "http://127.0.0.1:9/token", "no URL"]);
    let cases = [
        // place, address, why it may not be read, why it may not be trusted
        (public(), "https://as.example/x", "", ""),
        (public(), "https://8.8.8.8/x", "", ""),
        (public(), "http://as.example/x", OPEN, OPEN),
        (public(), "http://mcp.example/x", OPEN, OPEN),
        (public(), "https://127.0.0.1/x", NEAR, NEAR),
        (public(), "https://localhost/x", NEAR, NEAR),
        (public(), "https://a.localhost/x", NEAR, NEAR),
        (public(), "http://169.254.169.254/latest", NEAR, NEAR),
        (public(), "https://[::1]/x", NEAR, NEAR),
        (public(), "https://[::ffff:10.0.0.1]/x", NEAR, NEAR),
        (public(), "https://0x7f000001/x", NEAR, NEAR),
        (public(), "https://as.example/x#part", "", "it has a fragment"),
        (
            public(),
            "https://name:word@as.example/x",
            "it has a name or password in it",
            "it has a name or password in it",
        ),
        (public(), "ftp://as.example/x", "`ftp:` is not `https:`", "`ftp:` is not `https:`"),
        (public(), "file:///etc/passwd", "`file:` is not `https:`", "`file:` is not `https:`"),
        (public(), "javascript:alert(1)", "`javascript:` is not `https:`", "`javascript:` is not `https:`"),
        // Read from where the server itself is spoken to in the clear, but nothing secret is sent there.
        (clear(), "http://mcp.example/x", "", OPEN),
        (clear(), "http://mcp.example:8080/x", OPEN, OPEN),
        (clear(), "http://as.example/x", OPEN, OPEN),
        // A server on this machine leads anywhere, in the clear only nearby.
        (loopback(), "http://localhost:2/x", "", ""),
        (loopback(), "http://127.0.0.1:2/x", "", ""),
        (loopback(), "http://192.168.0.7/x", "", ""),
        (loopback(), "http://auth-server:9000/x", "", ""),
        (loopback(), "http://as.example/x", OPEN, OPEN),
        (loopback(), "https://as.example/x", "", ""),
        (network(), "http://tools.corp.example:9000/x", "", ""),
        (network(), "http://10.0.0.2/x", "", ""),
        (network(), "http://other.corp.example/x", OPEN, OPEN),
        (sealed(), "http://192.168.0.1/x", OPEN, OPEN),
        (sealed(), "http://localhost:9/x", "", ""),
        // What the settings name.
        (told(), "https://10.9.9.9/other", "", ""),
        (told(), "https://10.9.9.9:8443/other", NEAR, NEAR),
        (told(), "http://127.0.0.1:9/token", "", ""),
        (told(), "http://127.0.0.1:10/token", NEAR, NEAR),
    ];
    for (place, url, read, trust) in cases {
        let parsed = Url::parse(url).unwrap();
        assert_eq!(place.may_read(&parsed).err().unwrap_or_default(), read, "read {url} with {place:?}");
        assert_eq!(place.may_trust(&parsed).err().unwrap_or_default(), trust, "trust {url} with {place:?}");
    }
}
