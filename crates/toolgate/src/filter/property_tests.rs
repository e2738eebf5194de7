//! What holds for any lists and any calls.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, ProptestConfig, Strategy, any};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Map, Value, json};

use super::{ArgumentPattern, Arguments, Entry, FilterVerdict, NamePattern, Strictness, ToolFilter, Visibility};
use crate::shell::Reach;

const TOOLS: [&str; 4] = ["run", "read", "run_shell", "x"];

/// Texts few enough to meet again, as patterns and as arguments.
const TEXTS: [&str; 22] = [
    "ls",
    "ls -l",
    "rm",
    "rm -rf",
    "git",
    "git push",
    "src",
    "src/a",
    "/etc",
    "/etc/passwd",
    "src/../etc",
    "..",
    "*.rs",
    "s*",
    "**/a",
    "https://x",
    "~/a",
    "ls && rm",
    "a'b",
    "0",
    ".",
    "src/*",
];

const KEYS: [&str; 6] = ["path", "command", "file_path", "text", "o.p", "url"];

fn pattern() -> BoxedStrategy<String> {
    prop_oneof![
        3 => select(&TEXTS[..]).prop_map(str::to_owned),
        1 => select(&["*", "**", "path=*"][..]).prop_map(str::to_owned),
        2 => (select(&KEYS[..]), select(&TEXTS[..])).prop_map(|(key, text)| format!("{key}={text}")),
    ]
    .boxed()
}

fn entry() -> BoxedStrategy<String> {
    let name = || select(&["run", "read", "x", "r*", "*", "*n", "run*"][..]);
    prop_oneof![
        2 => name().prop_map(str::to_owned),
        6 => (name(), pattern()).prop_map(|(name, pattern)| format!("{name}({pattern})")),
        1 => select(&["", "run(", "read()", "x)"][..]).prop_map(str::to_owned),
    ]
    .boxed()
}

fn call() -> BoxedStrategy<Value> {
    let text = prop_oneof![
        4 => select(&TEXTS[..]).prop_map(str::to_owned),
        1 => (select(&TEXTS[..]), select(&TEXTS[..])).prop_map(|(one, other)| format!("{one}/{other}")),
        1 => (select(&TEXTS[..]), select(&TEXTS[..])).prop_map(|(one, other)| format!("{one} {other}")),
    ];
    let value = prop_oneof![
        4 => text.clone().prop_map(Value::from),
        1 => vec(text.clone(), 0..3).prop_map(Value::from),
        1 => text.prop_map(|text| json!({"p": text})),
        1 => any::<i8>().prop_map(Value::from),
    ];
    let key = select(&["path", "command", "file_path", "text", "o", "o.p", "url", "args"][..]);
    vec((key, value), 0..3)
        .prop_map(|members| {
            Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
        })
        .boxed()
}

fn passes(filter: &ToolFilter, tool: &str, call: &Value) -> bool {
    filter.judge(tool, &Arguments::new(call)) == FilterVerdict::Permitted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn excluding_more_never_widens(
        include in proptest::option::of(vec(entry(), 0..4)),
        exclude in vec(entry(), 0..3),
        more in entry(),
        call in call(),
    ) {
        let before = ToolFilter::of(include.as_deref(), &exclude, Strictness::Open);
        let exclude: Vec<String> = exclude.into_iter().chain([more]).collect();
        let after = ToolFilter::of(include.as_deref(), &exclude, Strictness::Open);
        for tool in TOOLS {
            prop_assert!(passes(&before, tool, &call) || !passes(&after, tool, &call), "{} {}", tool, call);
            let shown = |filter: &ToolFilter| filter.visibility(tool) == Visibility::Shown;
            prop_assert!(shown(&before) || !shown(&after), "{}", tool);
        }
    }

    #[test]
    fn including_more_never_narrows_a_list(
        include in vec(entry(), 0..4),
        more in entry(),
        exclude in vec(entry(), 0..3),
        call in call(),
    ) {
        let before = ToolFilter::of(Some(&include), &exclude, Strictness::Open);
        let include: Vec<String> = include.into_iter().chain([more]).collect();
        let after = ToolFilter::of(Some(&include), &exclude, Strictness::Open);
        for tool in TOOLS {
            prop_assert!(!passes(&before, tool, &call) || passes(&after, tool, &call), "{} {}", tool, call);
        }
    }

    #[test]
    fn strict_never_widens(
        include in proptest::option::of(vec(entry(), 0..3)),
        exclude in vec(entry(), 0..3),
        call in call(),
    ) {
        let open = ToolFilter::of(include.as_deref(), &exclude, Strictness::Open);
        let strict = ToolFilter::of(include.as_deref(), &exclude, Strictness::Strict);
        for tool in TOOLS {
            prop_assert!(passes(&open, tool, &call) || !passes(&strict, tool, &call), "{} {}", tool, call);
        }
    }

    #[test]
    fn what_is_hidden_cannot_be_called(
        include in proptest::option::of(vec(entry(), 0..4)),
        exclude in vec(entry(), 0..3),
        calls in vec(call(), 1..6),
    ) {
        let filter = ToolFilter::of(include.as_deref(), &exclude, Strictness::Open);
        for tool in TOOLS {
            if let Visibility::Hidden(why) = filter.visibility(tool) {
                let passing = calls.iter().find(|call| passes(&filter, tool, call));
                prop_assert!(passing.is_none(), "{} is hidden ({}), and {:?} passes", tool, why, passing);
            }
        }
    }

    #[test]
    fn what_is_certainly_meant_could_be_meant(pattern in pattern(), call in call()) {
        let pattern = ArgumentPattern::parse(&pattern).unwrap();
        let arguments = Arguments::new(&call);
        prop_assert!(
            !pattern.matches(&arguments, Reach::Permission) || pattern.matches(&arguments, Reach::Restriction),
            "{:?} permits {} and does not restrict it", pattern, call
        );
    }

    #[test]
    fn entries_never_break_the_reader(text in any::<String>(), call in call()) {
        if let Ok(entry) = Entry::parse(&text) {
            prop_assert_eq!(Entry::parse(&entry.to_string()), Ok(entry));
        }
        if let Ok(name) = NamePattern::parse(&text) {
            prop_assert!(name.matches(text.trim()));
        }
        let text = text.replace(char::is_control, "");
        for exclude in [text.clone(), format!("run({text})"), format!("run(path={text})")] {
            let filter = ToolFilter::of(Some(&["run".to_owned()]), &[exclude], Strictness::Open);
            prop_assert!(filter.visibility("run") == Visibility::Shown || !passes(&filter, "run", &call));
        }
    }
}
