//! Tests.

use url::Url;

use super::{covers, resource_of};

#[test]
fn the_value_of_a_server_is_its_address_and_no_more() {
    let cases = [
        ("http://localhost:1234/mcp", "http://localhost:1234/mcp"),
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("https://MCP.Example.com/Path", "https://mcp.example.com/Path"),
        ("HTTPS://mcp.example.com:443/mcp", "https://mcp.example.com/mcp"),
        ("http://mcp.example.com:80/mcp", "http://mcp.example.com/mcp"),
        ("https://mcp.example.com:8443/mcp", "https://mcp.example.com:8443/mcp"),
        ("https://mcp.example.com", "https://mcp.example.com"),
        ("https://mcp.example.com/", "https://mcp.example.com"),
        ("https://mcp.example.com/mcp/", "https://mcp.example.com/mcp/"),
        ("https://mcp.example.com/mcp?key=1", "https://mcp.example.com/mcp"),
        ("https://mcp.example.com/mcp#part", "https://mcp.example.com/mcp"),
        ("https://name:password@mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("https://mcp.example.com/a%20b", "https://mcp.example.com/a%20b"),
        ("http://[::1]:8080/mcp", "http://[::1]:8080/mcp"),
        ("http://127.0.0.1/mcp", "http://127.0.0.1/mcp"),
    ];
    for (server, expected) in cases {
        assert_eq!(resource_of(&Url::parse(server).unwrap()), expected, "{server}");
    }
}

#[test]
fn a_resource_covers_its_server_and_what_is_below_it() {
    let cases = [
        // The same, however it is written.
        ("https://a.example/mcp", "https://a.example/mcp", true),
        ("https://A.Example:443/mcp", "https://a.example/mcp", true),
        ("https://a.example/mcp/", "https://a.example/mcp", true),
        ("https://a.example/mcp", "https://a.example/mcp/", true),
        ("https://a.example/mcp", "https://a.example/mcp?key=1", true),
        ("https://a.example/mcp?key=1", "https://a.example/mcp?key=1", true),
        ("http://localhost:1234/mcp", "http://localhost:1234/mcp", true),
        // Above it.
        ("https://a.example", "https://a.example/mcp", true),
        ("https://a.example/", "https://a.example/mcp", true),
        ("https://a.example/a", "https://a.example/a/b/c", true),
        ("https://a.example/a/", "https://a.example/a/b/c", true),
        // Beside or below it.
        ("https://a.example/mc", "https://a.example/mcp", false),
        ("https://a.example/mcp2", "https://a.example/mcp", false),
        ("https://a.example/mcp/x", "https://a.example/mcp", false),
        ("https://a.example/mcp", "https://a.example/", false),
        ("https://a.example/MCP", "https://a.example/mcp", false),
        ("https://a.example/a//", "https://a.example/a", false),
        ("https://a.example/mcp?key=2", "https://a.example/mcp?key=1", false),
        ("https://a.example/mcp?key=1", "https://a.example/mcp", false),
        // Steps upwards are gone before anything is compared.
        ("https://a.example/x/../mcp", "https://a.example/mcp", true),
        ("https://a.example/mcp/../other", "https://a.example/mcp", false),
        // Elsewhere.
        ("https://evil.example.com/mcp", "https://a.example/mcp", false),
        ("https://a.example.evil.example/mcp", "https://a.example/mcp", false),
        ("https://evil.a.example/mcp", "https://a.example/mcp", false),
        ("http://a.example/mcp", "https://a.example/mcp", false),
        ("https://a.example:8443/mcp", "https://a.example/mcp", false),
        ("https://a.example@evil.example/mcp", "https://a.example/mcp", false),
        ("https://name@a.example/mcp", "https://a.example/mcp", false),
        // What no resource can be.
        ("https://a.example/mcp#part", "https://a.example/mcp", false),
        ("urn:a:mcp", "https://a.example/mcp", false),
        ("a.example/mcp", "https://a.example/mcp", false),
        ("/mcp", "https://a.example/mcp", false),
        ("", "https://a.example/mcp", false),
    ];
    for (resource, server, expected) in cases {
        assert_eq!(covers(resource, &Url::parse(server).unwrap()), expected, "{resource} for {server}");
    }
}
