//! Kept offers: no bytes break the reader, what it takes is written again without loss, and it says nothing that is not in the bytes.

#![no_main]

use std::time::{Duration, SystemTime};

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgate::discovery::{Interest, OfferedList};
use toolgate::kept::{Freshness, KeptOffer, freshness};
use toolgate::servers::TransportConfig;

/// What an error may say at most: a sentence, and an excerpt of 200 characters.
const ERROR_BYTES_MAX: usize = 1_000;

/// How a whole file begins.
const WHOLE: &[u8] = b"{\"format\":";

fuzz_target!(|input: &[u8]| {
    // The first line is a head, and what stands behind it its entries; what begins like a whole file is one.
    let parts = input.iter().position(|byte| *byte == b'\n').map(|at| (&input[..at], &input[at + 1..]));
    let parts = parts.filter(|_| !input.starts_with(WHOLE));
    let file = parts.map_or_else(|| input.to_vec(), |(head, entries)| KeptOffer::sealed(head, entries));
    let kept = match KeptOffer::from_bytes(file) {
        Ok(kept) => kept,
        Err(error) => {
            assert!(error.to_string().len() <= ERROR_BYTES_MAX, "{} bytes", error.to_string().len());
            return;
        }
    };
    let written = kept.to_bytes().unwrap_or_else(|error| panic!("what was read cannot be written: {error}"));
    let again = KeptOffer::from_bytes(written.clone()).unwrap_or_else(|error| panic!("it does not read back: {error}"));
    assert_eq!(format!("{again:?}"), format!("{kept:?}"));
    assert_eq!(again.to_bytes().ok().as_deref(), Some(written.as_slice()));
    if let Some((head, _)) = parts {
        compare_with_plain_parsing(&kept, head);
    }
    is_believed_within_bounds(&kept);
});

/// JSON that any reader understands must be understood in the same way.
fn compare_with_plain_parsing(kept: &KeptOffer, head: &[u8]) {
    let Ok(value @ Value::Object(_)) = serde_json::from_slice::<Value>(head) else { return };
    assert_eq!(value["server"], kept.server.as_str());
    assert_eq!(value["version"], kept.offered.version.as_str());
    assert_eq!(value["instructions"].as_str(), kept.offered.instructions.as_deref());
    assert_eq!(kept.offered.info.read::<Value>().ok().as_ref(), Some(&value["info"]));
    assert_eq!(kept.offered.capabilities.read::<Value>().ok().as_ref(), Some(&value["capabilities"]));
    compare_list(kept.offered.tools.as_ref(), &value["tools"]);
    compare_list(kept.offered.prompts.as_ref(), &value["prompts"]);
    compare_list(kept.offered.resources.as_ref(), &value["resources"]);
    compare_list(kept.offered.templates.as_ref(), &value["templates"]);
}

fn compare_list<T>(list: Option<&OfferedList<T>>, value: &Value) {
    let Some(list) = list else {
        assert!(value.is_null());
        return;
    };
    // Serde takes a list of the members in their order for an object; we write none.
    let Value::Object(members) = value else { return };
    let count = |name: &str| members.get(name).and_then(Value::as_array).map(Vec::len);
    assert_eq!(count("lengths"), Some(list.entries.len()));
    assert_eq!(count("setAside"), Some(list.set_aside.len()));
    assert_eq!(members.get("ttlMs").and_then(Value::as_u64), list.cache.ttl_ms);
}

/// Nothing is believed before it was read, nor for more than a month.
fn is_believed_within_bounds(kept: &KeptOffer) {
    let transport = TransportConfig::BuiltIn("workspace".into());
    let Some(tools) = &kept.offered.tools else { return };
    let at = |now: Option<SystemTime>| now.map(|now| freshness(&kept.offered, Interest::TOOLS, &transport, now));
    let before = tools.read_at.checked_sub(Duration::from_nanos(1));
    let late = tools.read_at.checked_add(Duration::from_secs(31 * 24 * 60 * 60));
    for found in [at(before), at(late)].into_iter().flatten() {
        assert_ne!(found, Freshness::Fresh, "{kept:?}");
    }
}
