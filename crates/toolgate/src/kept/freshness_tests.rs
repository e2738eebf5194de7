//! How long which lists are believed.

use std::time::{Duration, SystemTime};

use toolgate_wire::view::CacheHint;

use super::{Freshness, freshness};
use crate::discovery::{Interest, Offered, OfferedList};
use crate::kept::sample::{address, at, list, offered, program};
use crate::servers::TransportConfig;

const DAY: u64 = 24 * 60 * 60;
const MINUTE: u64 = 60;

fn all_transports() -> [(TransportConfig, u64); 5] {
    let http = address("https://a.example/mcp");
    [
        (TransportConfig::Stdio(program("x", &[])), DAY),
        (TransportConfig::BuiltIn("workspace".into()), DAY),
        (TransportConfig::Http(http.clone()), 10 * MINUTE),
        (TransportConfig::Sse(http.clone()), 10 * MINUTE),
        (TransportConfig::HttpOrSse(http), 10 * MINUTE),
    ]
}

fn hinted<T>(list: OfferedList<T>, ttl_ms: u64) -> OfferedList<T> {
    OfferedList { cache: CacheHint { ttl_ms: Some(ttl_ms), is_public: false }, ..list }
}

#[test]
fn a_list_without_a_hint_is_fresh_by_where_its_server_is() {
    let tools = Offered { tools: Some(list(&[], 1_000_000)), ..offered(r#"{"tools":{}}"#) };
    for (transport, lifetime) in all_transports() {
        let almost = Duration::from_millis(lifetime * 1_000 - 1);
        let cases = [
            (at(1_000_000), Freshness::Fresh),
            (at(1_000_000) + almost, Freshness::Fresh),
            (at(1_000_000 + lifetime), Freshness::Stale),
            (at(1_000_000 + 100 * lifetime), Freshness::Stale),
            (at(999_999), Freshness::Stale),
            (at(1_000_000) - Duration::from_nanos(1), Freshness::Stale),
            (SystemTime::UNIX_EPOCH, Freshness::Stale),
        ];
        for (now, expected) in cases {
            assert_eq!(freshness(&tools, Interest::TOOLS, &transport, now), expected, "{transport:?} at {now:?}");
        }
    }
}

#[test]
fn a_hint_counts_up_to_a_month_and_wherever_the_server_is() {
    let cases = [
        (0, 0, Freshness::Stale),
        (1, 0, Freshness::Fresh),
        (1, 1, Freshness::Stale),
        (5_000, 4, Freshness::Fresh),
        (5_000, 5, Freshness::Stale),
        (10 * DAY * 1_000, 9 * DAY, Freshness::Fresh),
        (31 * DAY * 1_000, 30 * DAY - 1, Freshness::Fresh),
        (31 * DAY * 1_000, 30 * DAY, Freshness::Stale),
        (u64::MAX, 30 * DAY, Freshness::Stale),
    ];
    for (ttl_ms, age, expected) in cases {
        let tools = Offered { tools: Some(hinted(list(&[], 1_000), ttl_ms)), ..offered(r#"{"tools":{}}"#) };
        for (transport, _) in all_transports() {
            let found = freshness(&tools, Interest::TOOLS, &transport, at(1_000 + age));
            assert_eq!(found, expected, "{ttl_ms} ms after {age} s, {transport:?}");
        }
    }
}

#[test]
fn only_what_is_wanted_counts() {
    let all = r#"{"tools":{},"prompts":{},"resources":{}}"#;
    let whole = Offered {
        tools: Some(list(&[], 100_000)),
        prompts: Some(list(&[], 10)),
        resources: Some(list(&[], 100_000)),
        templates: Some(list(&[], 100_000)),
        ..offered(all)
    };
    let old_templates = Offered { templates: Some(list(&[], 10)), ..whole.clone() };
    let no_templates = Offered { templates: None, ..whole.clone() };
    let tools_only = Offered { tools: Some(list(&[], 100_000)), ..offered(r#"{"tools":{},"prompts":null}"#) };
    let old_tools_only = Offered { tools: Some(list(&[], 10)), ..tools_only.clone() };
    let nothing = |capabilities: &str, seconds| Offered { said_at: at(seconds), ..offered(capabilities) };
    let cases = [
        ("everything", &whole, Interest::ALL, Freshness::Stale),
        ("young tools", &whole, Interest::TOOLS, Freshness::Fresh),
        ("old prompts", &whole, Interest::PROMPTS, Freshness::Stale),
        ("young resources", &whole, Interest::RESOURCES, Freshness::Fresh),
        ("old templates", &old_templates, Interest::RESOURCES, Freshness::Stale),
        ("no templates", &no_templates, Interest::RESOURCES, Freshness::Incomplete),
        ("no templates, nor wanted", &no_templates, Interest::TOOLS, Freshness::Fresh),
        ("no templates, and old prompts", &no_templates, Interest::ALL, Freshness::Incomplete),
        ("all there is", &tools_only, Interest::ALL, Freshness::Fresh),
        ("said not to exist just now", &tools_only, Interest::PROMPTS, Freshness::Fresh),
        ("said not to exist long ago", &old_tools_only, Interest::PROMPTS, Freshness::Stale),
        ("never asked", &offered(all), Interest::TOOLS, Freshness::Incomplete),
        ("nothing to ask for", &nothing("{}", 100_000), Interest::TOOLS, Freshness::Fresh),
        ("nothing to ask for, long ago", &nothing("{}", 10), Interest::TOOLS, Freshness::Stale),
        ("no capabilities", &nothing("null", 100_000), Interest::ALL, Freshness::Fresh),
        ("only prompts, not asked for", &nothing(r#"{"prompts":{}}"#, 100_000), Interest::TOOLS, Freshness::Fresh),
        ("only prompts, long ago", &nothing(r#"{"prompts":{}}"#, 10), Interest::TOOLS, Freshness::Stale),
        ("nothing wanted", &offered(all), Interest::NONE, Freshness::Fresh),
    ];
    let transport = TransportConfig::Stdio(program("x", &[]));
    for (what, offered, interest, expected) in cases {
        assert_eq!(freshness(offered, interest, &transport, at(100_000 + 60)), expected, "{what}");
    }
}
