//! Entries of lists of tools: no text breaks the reader, an entry reads back as itself, and excluding more never lets more through.
//!
//! An input is lines: an include entry, an exclude entry, the name of a tool, then arguments as JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgate::filter::{Arguments, Entry, EntryError, FilterVerdict, Strictness, ToolFilter, Visibility, check};
use toolgate::limits::FILTER_ENTRY_BYTES_MAX;
use toolgate::shell::Reach;

/// What an error says at most: the beginning of the entry, escaped, and a sentence.
const ERROR_BYTES_MAX: usize = FILTER_ENTRY_BYTES_MAX + 1_000;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (include, exclude, tool, arguments) = (line(), line(), line(), line());
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| serde_json::json!({ "command": arguments }));
    [include, exclude, &text].iter().for_each(|entry| entry_reads_back(entry, &arguments));
    let [included, excluded] = [include, exclude].map(|entry| vec![entry.to_owned()]);
    for include in [None, Some(included.as_slice())] {
        let open = ToolFilter::of(include, &[], Strictness::Open);
        let narrow = ToolFilter::of(include, &excluded, Strictness::Open);
        let strict = ToolFilter::of(include, &excluded, Strictness::Strict);
        let wrong = check(&excluded).len() + include.map_or(0, |include| check(include).len());
        assert_eq!(narrow.problems().len(), wrong);
        for (wider, narrower) in [(&open, &narrow), (&narrow, &strict)] {
            assert!(passes(wider, tool, &arguments) || !passes(narrower, tool, &arguments), "{include:?} {excluded:?}");
        }
        for filter in [&open, &narrow, &strict] {
            if let Visibility::Hidden(why) = filter.visibility(tool) {
                assert!(!passes(filter, tool, &arguments), "{tool} is hidden ({why}) and {arguments} passes");
            }
        }
    }
});

fn entry_reads_back(text: &str, arguments: &Value) {
    match Entry::parse(text) {
        Ok(entry) => {
            assert_eq!(Entry::parse(&entry.to_string()), Ok(entry.clone()));
            let Some(pattern) = &entry.arguments else { return };
            let arguments = Arguments::new(arguments);
            if pattern.matches(&arguments, Reach::Permission) {
                assert!(pattern.matches(&arguments, Reach::Restriction), "{entry} permits what it does not restrict");
            }
        }
        Err(error @ EntryError { .. }) => {
            let said = error.to_string();
            assert!(said.len() <= ERROR_BYTES_MAX && !said.chars().any(char::is_control), "{said:?}");
        }
    }
}

fn passes(filter: &ToolFilter, tool: &str, arguments: &Value) -> bool {
    filter.judge(tool, &Arguments::new(arguments)) == FilterVerdict::Permitted
}
