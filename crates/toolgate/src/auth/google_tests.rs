use super::is_host_of_google;

#[test]
fn credentials_of_google_only_go_to_google() {
    let cases = [
        ("storage.googleapis.com", true),
        ("a.b.googleapis.com", true),
        ("STORAGE.GoogleApis.com", true),
        ("luci.app", true),
        ("x.luci.app", true),
        ("googleapis.com", false),
        ("evilgoogleapis.com", false),
        ("googleapis.com.evil.example", false),
        ("xluci.app", false),
        ("localhost", false),
        ("127.0.0.1", false),
        ("", false),
    ];
    for (host, expected) in cases {
        assert_eq!(is_host_of_google(host), expected, "{host}");
    }
}
