//! Which lists say the same, and in which order they are shown then.

use std::sync::Arc;
use std::time::SystemTime;

use toolgate_wire::RawJson;
use toolgate_wire::view::{CacheHint, Entry as _, Tool};

use super::{OfferedList, UnusableEntry, keep_order, same};

fn list(entries: &[&str]) -> OfferedList<Tool> {
    let read = |text: &&str| Arc::new(Tool::read(RawJson::from_bytes((*text).to_owned()).unwrap()).unwrap());
    let entries = entries.iter().map(read).collect();
    OfferedList { entries, set_aside: Vec::new(), cache: CacheHint::default(), read_at: SystemTime::UNIX_EPOCH }
}

const A: &str = r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}"#;
const A_TURNED: &str = r#"{ "inputSchema": {"properties":{"y":{},"x":{}},"type":"object"}, "name": "a" }"#;
const A_OTHER: &str = r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"z":{}}}}"#;
const B: &str = r#"{"name":"b","inputSchema":{}}"#;

#[test]
fn lists_are_the_same_in_whatever_order_they_are_written() {
    let deep =
        |inner: &str| format!(r#"{{"name":"a","inputSchema":{{}},"x":{}{inner}{}}}"#, "[".repeat(200), "]".repeat(200));
    let (deep, deeper) = (deep("1"), deep("2"));
    let cases: [(&str, &[&str], &[&str], bool); 11] = [
        ("nothing", &[], &[], true),
        ("equal", &[A, B], &[A, B], true),
        ("entries", &[A, B], &[B, A], true),
        ("members", &[A, B], &[A_TURNED, B], true),
        ("both", &[A, B], &[B, A_TURNED], true),
        ("a value", &[A, B], &[A_OTHER, B], false),
        ("one more", &[A], &[A, B], false),
        ("another", &[A, A], &[A, B], false),
        ("the second of a name", &[A, A_OTHER], &[A, A_OTHER], true),
        ("the first of a name, which counts", &[A, A_OTHER], &[A_OTHER, A], false),
        ("too deep to be read", &[&deep], &[&deeper], false),
    ];
    for (what, left, right, expected) in cases {
        let (left, right) = (list(left), list(right));
        assert_eq!(same(Some(&left), Some(&right)), expected, "{what}");
        let mut shown = Some(right.clone());
        keep_order(&mut shown, Some(&left));
        let raw = |list: &OfferedList<Tool>| list.entries.iter().map(|tool| tool.raw.clone()).collect::<Vec<_>>();
        let expected = if expected { &left } else { &right };
        assert_eq!(raw(&shown.unwrap()), raw(expected), "{what}");
    }
    assert!(same::<Tool>(None, None) && !same(Some(&list(&[])), None));
}

#[test]
fn what_is_set_aside_is_the_same_in_whatever_order() {
    let aside = |names: &[&str]| {
        let unusable = |name: &&str| UnusableEntry { name: Some((*name).to_owned()), reason: "broken".to_owned() };
        OfferedList { set_aside: names.iter().map(unusable).collect(), ..list(&[A]) }
    };
    assert!(same(Some(&aside(&["x", "y"])), Some(&aside(&["y", "x"]))));
    assert!(!same(Some(&aside(&["x", "y"])), Some(&aside(&["x", "x"]))));
}
