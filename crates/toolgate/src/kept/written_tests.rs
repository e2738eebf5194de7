//! What is written reads back, and nothing else is read.

use std::time::Duration;

use toolgate_wire::view::{CacheHint, Tool};
use toolgate_wire::{Era, Version};

use super::KeptOffer;
use crate::discovery::{Offered, OfferedList, UnusableEntry};
use crate::kept::sample::{at, list, offered, raw};

fn kept(offered: Offered) -> KeptOffer {
    KeptOffer { server: "s".to_owned(), offered }
}

/// All of it, so that whatever is lost is seen.
fn shown(kept: &KeptOffer) -> String {
    format!("{kept:#?}")
}

/// A small offer with something of everything.
fn small() -> KeptOffer {
    let tools = OfferedList {
        set_aside: vec![
            UnusableEntry { name: Some("torn\u{202e}\0".to_owned()), reason: "`inputSchema` is missing".to_owned() },
            UnusableEntry { name: None, reason: "entry 3: it is not an object".to_owned() },
        ],
        cache: CacheHint { ttl_ms: Some(u64::MAX), is_public: true },
        ..list::<Tool>(&[r#"{"name":"t","inputSchema":{"type":"object"}}"#], 7)
    };
    kept(Offered {
        instructions: Some("be kind \u{1F600} \"\\\n".to_owned()),
        tools: Some(tools),
        prompts: Some(list(&[], 8)),
        resources: Some(list(&[r#"{"uri":"a:b"}"#], 9)),
        templates: Some(list(&[r#"{"uriTemplate":"a:{b}","name":"n"}"#], 10)),
        ..offered(r#"{"tools":{},"prompts":{},"resources":{}}"#)
    })
}

#[test]
fn every_offer_reads_back() {
    let tool = |text: &str| {
        let mut one = small();
        one.offered.tools = Some(list(&[text], 1));
        one
    };
    let mut other = small();
    (other.offered.version, other.offered.era) = (Version::V2024_11_05, Era::LegacySse);
    let mut modern = small();
    (modern.offered.version, modern.offered.era) = (Version::V2026_07_28, Era::Modern);
    let mut odd = small();
    odd.server = "日本\u{feff}\"".to_owned();
    odd.offered.info = raw(r#"["no","object",1e999,-0,1.0000000000000000000001]"#);
    odd.offered.capabilities = raw("null");
    let mut twice = small();
    twice.offered.tools =
        Some(list(&[r#"{"name":"same","inputSchema":{}}"#, r#"{"name":"same","inputSchema":{"a":1}}"#], 1));
    let cases = [
        ("small", small()),
        ("no list", kept(offered("{}"))),
        ("only tools", kept(Offered { tools: Some(list(&[], 3)), ..offered(r#"{"tools":{}}"#) })),
        ("the oldest version", other),
        ("the newest version", modern),
        ("odd words", odd),
        ("a name twice", twice),
        ("spaces", tool("{ \"name\" : \"t\" ,\n\t\"inputSchema\":{} }")),
        ("huge numbers", tool(r#"{"name":"t","inputSchema":{"maximum":123456789012345678901234567890,"x":1E+400}}"#)),
        ("duplicate members", tool(r#"{"name":"t","inputSchema":{"a":1,"a":2},"x":1,"x":2}"#)),
        ("escapes", tool(r#"{"name":"\u0074\/\ud83d\ude00","inputSchema":{"\u0000":"\ud800"}}"#)),
        ("unicode", tool("{\"name\":\"e\u{301}\u{e0041}\u{2028}漢\",\"inputSchema\":{}}")),
        (
            "deep",
            tool(&format!(
                "{{\"name\":\"t\",\"inputSchema\":{}{}}}",
                "{\"a\":".repeat(500),
                "1".to_owned() + &"}".repeat(500)
            )),
        ),
    ];
    for (what, offer) in cases {
        let bytes = offer.to_bytes().unwrap();
        let again = KeptOffer::from_bytes(bytes.clone()).unwrap();
        assert_eq!(shown(&again), shown(&offer), "{what}");
        assert_eq!(again.to_bytes().unwrap(), bytes, "{what}");
    }
}

#[test]
fn times_are_kept_to_the_millisecond() {
    let read_at = at(1_000) + Duration::from_micros(1_234_567);
    let mut offer = small();
    offer.offered.tools.iter_mut().for_each(|tools| tools.read_at = read_at);
    let again = KeptOffer::from_bytes(offer.to_bytes().unwrap()).unwrap();
    assert_eq!(again.offered.tools.unwrap().read_at, at(1_001) + Duration::from_millis(234));
}

#[test]
fn what_is_read_shares_the_bytes_of_the_file() {
    let bytes = bytes::Bytes::from(small().to_bytes().unwrap());
    let offered = KeptOffer::from_bytes(bytes.clone()).unwrap().offered;
    let tool = &offered.tools.unwrap().entries[0];
    for part in [&offered.info, &offered.capabilities, &tool.raw] {
        assert!(bytes.as_ptr_range().contains(&part.as_bytes().as_ptr()), "{part}");
    }
}

#[test]
fn the_file_is_as_documented() {
    let offer = kept(Offered { tools: Some(list(&[r#"{"name": "t","inputSchema":{}}"#], 1)), ..offered("{}") });
    let expected = r#"{"format":2,"server":"s","version":"2025-11-25","era":"legacy","info":{"name":"sample","version":"1"},"capabilities":{},"instructions":null,"tools":{"readAt":1000,"ttlMs":null,"isPublic":false,"setAside":[],"entries":[{"name": "t","inputSchema":{}}]},"prompts":null,"resources":null,"templates":null}"#;
    assert_eq!(String::from_utf8(offer.to_bytes().unwrap()).unwrap(), expected);
}

#[test]
fn a_torn_file_is_none_wherever_it_is_torn() {
    let bytes = small().to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(KeptOffer::from_bytes(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] = 0xff;
        assert!(KeptOffer::from_bytes(changed).is_err(), "byte {place}");
    }
}

#[test]
fn what_has_another_form_is_none() {
    let good = String::from_utf8(small().to_bytes().unwrap()).unwrap();
    for member in ["server", "version", "era", "info", "capabilities", "instructions", "tools", "prompts", "templates"]
    {
        let raw = raw(&good);
        for (value, passes) in [
            ("7", matches!(member, "info" | "capabilities")),
            ("[[]]", matches!(member, "info" | "capabilities")),
            (r#"{"entries":{}}"#, matches!(member, "info" | "capabilities")),
            (r#""words""#, matches!(member, "server" | "info" | "capabilities" | "instructions")),
        ] {
            let changed = raw.with_member(member, &crate::RawJson::from_bytes(value).unwrap());
            let read = KeptOffer::from_bytes(changed.to_bytes());
            assert_eq!(read.is_ok(), passes, "{member}: {value}");
        }
    }
    let list =
        |list: &str| good.replace(r#"{"readAt":8000,"ttlMs":null,"isPublic":false,"setAside":[],"entries":[]}"#, list);
    let cases = [
        (list("null"), None),
        (list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"entries":[{"name":"p"}]}"#), None),
        (
            list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"entries":[{"name":7}]}"#),
            Some("this is no kept offer: `name` is not a string"),
        ),
        (
            list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"entries":[7]}"#),
            Some("this is no kept offer: it is not an object"),
        ),
        (
            good.replace("2025-11-25", "1999-01-01"),
            Some("this is no kept offer: no version of the protocol is called like that"),
        ),
        (good.replace("\"legacy\"", "\"golden\""), Some("this is no kept offer: no era is called like that")),
        (
            good.replace("\"format\":2", "\"format\":1"),
            Some("this is no kept offer: it has format 1, this toolgate writes 2"),
        ),
        (
            r#"{"format":9,"all":"else"}"#.to_owned(),
            Some("this is no kept offer: it has format 9, this toolgate writes 2"),
        ),
    ];
    for (text, expected) in cases {
        let read = KeptOffer::from_bytes(text.clone());
        assert_eq!(read.err().map(|error| error.to_string()).as_deref(), expected, "{text}");
    }
    let hostile = [
        list(r#"{"readAt":-1,"ttlMs":0,"isPublic":false,"setAside":[],"entries":[]}"#),
        list(r#"{"readAt":1e300,"ttlMs":0,"isPublic":false,"setAside":[],"entries":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0.5,"isPublic":false,"setAside":[],"entries":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":1,"setAside":[],"entries":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"setAside":[7],"entries":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"entries":[]}"#),
        good.replacen("\"server\"", "\"era\"", 1),
        good.clone() + "x",
        String::new(),
        "null".to_owned(),
        "[".repeat(1_000_000),
        "{\"format\":2,\"info\":".to_owned() + &"[".repeat(1_000_000),
        "{\"format\":2,\"unknown\":".to_owned() + &"[".repeat(1_000_000),
        "{\"a\":".repeat(200_000),
    ];
    for text in hostile {
        let start: String = text.chars().take(200).collect();
        assert!(KeptOffer::from_bytes(text).is_err(), "{start}");
    }
    let words = KeptOffer::from_bytes(format!("{{\"format\":\"{}\"}}", "x".repeat(100_000))).unwrap_err().to_string();
    assert!(words.len() < 500, "not all of it is repeated: {} bytes", words.len());
}
