//! What is offered at the end of a line.

use toolgate_wire::view::PromptArgument;

use super::complete;

/// An argument; `name!` is required.
fn argument(name: &str) -> PromptArgument {
    let required = name.ends_with('!');
    PromptArgument { name: name.trim_end_matches('!').to_owned(), description: None, required }
}

/// `options @from`, then the value that is wanted.
fn told(names: &[&str], before: &str) -> String {
    let declared: Vec<_> = names.iter().map(|name| argument(name)).collect();
    let found = complete(before, &declared);
    let value = found.value.as_ref().map(|value| {
        let given: Vec<String> = value.given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(" {}~[{}]@{} {}", value.argument, value.prefix, value.from, given.join(","))
    });
    let text = format!("{}@{}{}", found.options.join("|"), found.from, value.unwrap_or_default());
    text.trim_end().to_owned()
}

#[test]
fn names_quotes_and_values_are_offered() {
    let both: &[&str] = &["aa!", "ab"];
    let two: &[&str] = &["a!", "b!"];
    let cases: [(&[&str], &str, &str); 24] = [
        (&[], "", "@0"),
        (both, "", "--aa=\"|--ab=\"@0 aa~[]@0"),
        (both, " ", "--aa=\"|--ab=\"@1 aa~[]@1"),
        (both, "-", "--aa=\"|--ab=\"@0 aa~[-]@0"),
        (both, "--", "--aa=\"|--ab=\"@0"),
        (both, "--aa", "--aa=\"@0"),
        (both, "--x", "@0"),
        (both, "--aa=\"1\" --", "--ab=\"@9"),
        (both, "--aa=\"1\" ", "--ab=\"@9"),
        (both, "--aa=\"1\"", "@8"),
        // Values by name.
        (both, "--aa=", "--aa=\"@0 aa~[]@0"),
        (both, "--aa=x", "@0 aa~[x]@0"),
        (both, "--aa=\"", "--aa=\"\"@0 aa~[]@0"),
        (both, "--aa=\"x y ", "--aa=\"x y \"@0 aa~[x y ]@0"),
        (both, "--ab=1 --aa=\"x\\\"", "--aa=\"x\\\"\"@7 aa~[x\"]@7 ab=1"),
        (both, "--zz=\"x", "@7"),
        // By place.
        (both, "wor", "@0 aa~[wor]@0"),
        (both, "two wor", "@4 aa~[two wor]@0"),
        (both, "two --ab=1 wor", "@11"),
        (both, "\"two wor", "\"two wor\"@0 aa~[two wor]@0"),
        (two, "1", "@0 a~[1]@0"),
        (two, "1 2", "@2 b~[2]@2 a=1"),
        (two, "1 ", "--b=\"@2 b~[]@2 a=1"),
        (two, "1 2 3", "@4"),
    ];
    for (names, before, expected) in cases {
        assert_eq!(told(names, before), expected, "{names:?} {before:?}");
    }
}

#[test]
fn values_are_typed_so_that_they_are_read_back() {
    let declared = [argument("a!")];
    let named = complete("--a=", &declared).value.unwrap();
    let placed = complete("x", &declared).value.unwrap();
    let cases = [
        ("plain", "--a=\"plain\"", "plain"),
        ("two words", "--a=\"two words\"", "\"two words\""),
        ("a\"b\\", "--a=\"a\\\"b\\\\\"", "\"a\\\"b\\\\\""),
        ("--x", "--a=\"--x\"", "\"--x\""),
    ];
    for (value, by_name, by_place) in cases {
        assert_eq!((named.typed(value).as_str(), placed.typed(value).as_str()), (by_name, by_place));
        for typed in [by_name, by_place] {
            let given = super::super::slash_arguments::read(typed).unwrap().assign(&declared).unwrap();
            assert_eq!(given.values.get("a").map(String::as_str), Some(value), "{typed}");
        }
    }
}
