//! What is written reads back, and nothing else is read.

use std::time::Duration;

use toolgate_wire::view::{CacheHint, Tool};
use toolgate_wire::{Era, Version};

use super::{KeptOffer, sum, unseal};
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
        said_at: at(6),
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

/// The head and the entries of a file.
fn opened(bytes: Vec<u8>) -> (String, Vec<u8>) {
    let (head, body) = unseal(&bytes.into()).unwrap();
    (String::from_utf8(head.to_vec()).unwrap(), body.to_vec())
}

#[test]
fn the_file_is_as_documented() {
    let offer = kept(Offered { tools: Some(list(&[r#"{"name": "t","inputSchema":{}}"#], 1)), ..offered("{}") });
    let head = r#"{"server":"s","version":"2025-11-25","era":"legacy","info":{"name":"sample","version":"1"},"capabilities":{},"instructions":null,"saidAt":0,"tools":{"readAt":1000,"ttlMs":null,"isPublic":false,"setAside":[],"lengths":[30]},"prompts":null,"resources":null,"templates":null}"#;
    let rest = format!(r#"{head}{{"name": "t","inputSchema":{{}}}}"#);
    let first = format!(r#"{{"format":4,"head":{},"sum":{}}}"#, head.len(), sum(rest.as_bytes()));
    assert_eq!(String::from_utf8(offer.to_bytes().unwrap()).unwrap(), format!("{first}\n{rest}"));
}

#[test]
fn a_torn_or_changed_file_is_none_wherever_it_is_torn_or_changed() {
    let bytes = small().to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(KeptOffer::from_bytes(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
    let first_line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for place in 0..bytes.len() {
        for other in [0xff, b' ', bytes[place] ^ 1] {
            let mut changed = bytes.clone();
            changed[place] = other;
            // A blank between two words of the first line changes nothing.
            let is_same = changed == bytes || (place < first_line && unseal(&changed.clone().into()).is_ok());
            assert!(is_same || KeptOffer::from_bytes(changed).is_err(), "byte {place}");
        }
    }
    assert!(KeptOffer::from_bytes([&bytes[..], b" "].concat()).is_err());
}

#[test]
fn a_head_of_another_form_is_none() {
    let (good, body) = opened(small().to_bytes().unwrap());
    let read = |head: &str| KeptOffer::from_bytes(KeptOffer::sealed(head.as_bytes(), &body));
    assert!(read(&good).is_ok());
    for member in ["server", "version", "era", "info", "capabilities", "instructions", "tools", "prompts", "templates"]
    {
        let raw = raw(&good);
        for (value, passes) in [
            ("7", matches!(member, "info" | "capabilities")),
            ("[[]]", matches!(member, "info" | "capabilities")),
            (r#"{"lengths":{}}"#, matches!(member, "info" | "capabilities")),
            (r#""words""#, matches!(member, "server" | "info" | "capabilities" | "instructions")),
        ] {
            let changed = raw.with_member(member, &crate::RawJson::from_bytes(value).unwrap());
            assert_eq!(read(changed.as_str()).is_ok(), passes, "{member}: {value}");
        }
    }
    let prompts = r#"{"readAt":8000,"ttlMs":null,"isPublic":false,"setAside":[],"lengths":[]}"#;
    let list = |list: &str| good.replace(prompts, list);
    assert!(good.contains(prompts));
    let no_offer = |why: &str| Some(format!("this is no kept offer: {why}"));
    let cases = [
        (list("null"), None),
        (
            list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"lengths":[99999]}"#),
            no_offer("an entry ends behind its end"),
        ),
        (
            list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"lengths":[0]}"#),
            no_offer("it is not an object"),
        ),
        (
            list(r#"{"readAt":8000,"ttlMs":0,"isPublic":false,"setAside":[],"lengths":[13]}"#),
            no_offer("`name` is missing"),
        ),
        (good.replace("2025-11-25", "1999-01-01"), no_offer("no version of the protocol is called like that")),
        (good.replace("\"legacy\"", "\"golden\""), no_offer("no era is called like that")),
    ];
    for (head, expected) in cases {
        assert_eq!(read(&head).err().map(|error| error.to_string()), expected, "{head}");
    }
    let hostile = [
        list(r#"{"readAt":-1,"ttlMs":0,"isPublic":false,"setAside":[],"lengths":[]}"#),
        list(r#"{"readAt":1e300,"ttlMs":0,"isPublic":false,"setAside":[],"lengths":[]}"#),
        good.replace("\"saidAt\":6000", "\"saidAt\":-1"),
        good.replace("\"saidAt\":6000,", ""),
        list(r#"{"readAt":1,"ttlMs":0.5,"isPublic":false,"setAside":[],"lengths":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":1,"setAside":[],"lengths":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"setAside":[7],"lengths":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"lengths":[]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"setAside":[],"lengths":[-1]}"#),
        list(r#"{"readAt":1,"ttlMs":0,"isPublic":true,"setAside":[],"lengths":[18446744073709551615]}"#),
        good.replacen("\"server\"", "\"era\"", 1),
        good.clone() + "x",
        String::new(),
        "null".to_owned(),
        "[".repeat(1_000_000),
        "{\"info\":".to_owned() + &"[".repeat(1_000_000),
        "{\"unknown\":".to_owned() + &"[".repeat(1_000_000),
        "{\"a\":".repeat(200_000),
    ];
    for head in hostile {
        let start: String = head.chars().take(200).collect();
        assert!(read(&head).is_err(), "{start}");
    }
    let words = read(&format!("{{\"server\":7,\"{}\":1}}", "x".repeat(100_000))).unwrap_err().to_string();
    assert!(words.len() < 500, "not all of it is repeated: {} bytes", words.len());
}

#[test]
fn a_file_that_begins_otherwise_is_none() {
    let good = String::from_utf8(small().to_bytes().unwrap()).unwrap();
    let cases = [
        (good.replacen("\"format\":4", "\"format\":3", 1), "it has format 3, this toolgate writes 4"),
        (r#"{"format":3,"server":"s","tools":null}"#.to_owned(), "it has format 3, this toolgate writes 4"),
        ("{\"format\":9,\"all\":\"else\"}\n{}".to_owned(), "it has format 9, this toolgate writes 4"),
        (good.replacen("\"head\":", "\"head\":9", 1), "it is not as it was written"),
        (good.replacen("\"sum\":", "\"sum\":1", 1), "it does not begin like one"),
        (good.replacen("\"sum\":", "\"som\":", 1), "it does not begin like one"),
        (String::new(), "it does not begin like one"),
        ("\n".to_owned(), "it does not begin like one"),
        (" ".repeat(100_000), "it does not begin like one"),
        ("[".repeat(1_000_000), "it does not begin like one"),
    ];
    for (text, expected) in cases {
        let start: String = text.chars().take(100).collect();
        let why = KeptOffer::from_bytes(text).unwrap_err().to_string();
        assert_eq!(why, format!("this is no kept offer: {expected}"), "{start}");
    }
}
