//! What texts mean as places, and what is certainly below what.

use super::*;

#[test]
fn detours_are_taken_away() {
    // text, place, whether it is certain
    let cases = [
        ("src", "src", true),
        ("./src//a/./b/", "src/a/b", true),
        ("src/../lib", "lib", false),
        ("../x", "../x", true),
        ("a/../../x", "../x", false),
        ("", "", true),
        (".", "", true),
        ("/", "/", true),
        ("//etc///passwd", "/etc/passwd", true),
        ("/../etc", "/etc", false),
        ("~", "~/", true),
        ("~/x/../y", "~/y", false),
        ("~/../y", "~/../y", true),
        ("~bob/x", "~bob/x", true),
        ("file:///etc/passwd", "/etc/passwd", true),
        ("FILE:/etc/passwd", "/etc/passwd", true),
        ("file://localhost/etc", "/etc", true),
        ("file://elsewhere/etc", "/etc", false),
        ("file:///a%20b", "/a b", true),
        ("file:///a/%2e%2e/b", "/b", false),
        ("HTTPS://Example.COM:443/a/./b", "https://example.com/a/b", true),
        ("http://x:80", "http://x/", true),
        ("http://x:8080/", "http://x:8080/", true),
        ("https://x/a/../b", "https://x/b", false),
        ("https:///x/a", "https://x/a", false),
        ("https://x?q#f", "https://x/?q#f", true),
        ("c:/x", "c:/x", true),
        ("a\\..\\b", "a\\..\\b", false),
        ("a\0b", "a\0b", false),
        ("$HOME/x", "$HOME/x", false),
        ("src/$id.tsx", "src/$id.tsx", true),
    ];
    for (text, expected, is_certain) in cases {
        let place = Place::read(text);
        assert_eq!((place.to_string().as_str(), place.is_certain), (expected, is_certain), "{text:?}");
    }
}

#[test]
fn what_is_certainly_below() {
    let cases = [
        ("src", "src", true),
        ("src", "src/a/b", true),
        ("src", "srcs", false),
        ("src", "./src/a", true),
        ("src/", "src", true),
        ("src", "src/../etc", false),
        (".", "a/b", true),
        (".", "../a", false),
        ("..", "../a", true),
        ("..", "../../a", false),
        (".", "/etc", false),
        (".", "~/x", false),
        (".", "$HOME/x", false),
        ("/", "/etc", true),
        ("/", "etc", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/a/b.rs", false),
        ("src/**/*.rs", "src/a/b/c.rs", true),
        ("src/**/*.rs", "src/c.rs", true),
        ("**", "a/b", true),
        ("**/x", "a/b", false),
        ("https://x", "https://x/a?q", true),
        ("https://x", "https://x?q", true),
        ("https://x", "http://x/a", false),
        ("https://x", "https://x.evil/a", false),
        ("https://x", "https://x@evil/a", false),
        ("https://*.x.org", "https://a.x.org/b", true),
        ("https://*.x.org", "https://evil.org/a.x.org", false),
        ("https://*.x.org", "https://a@evil.x.org/", false),
        ("https://x*", "https://x@evil/", false),
        ("https://", "https://anything/a", true),
        ("https://", "http://anything/a", false),
        ("https://x", "https://x\\@evil/", false),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(Place::read(pattern).certainly_holds(&Place::read(text)), expected, "{pattern} {text}");
    }
}

#[test]
fn many_stars_take_no_longer() {
    let pattern = Place::read(&"**/a/".repeat(300));
    let place = Place::read(&"a/b/".repeat(5_000));
    assert!(pattern.certainly_holds(&place));
    assert!(!Place::read(&format!("{}zz", "**/a/".repeat(100))).certainly_holds(&place));
}
