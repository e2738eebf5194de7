//! Lines behind a command and what they give.

use toolgate_wire::view::PromptArgument;

use super::read;

fn declared(names: &[&str]) -> Vec<PromptArgument> {
    let argument = |name: &&str| PromptArgument {
        name: name.trim_end_matches('!').to_owned(),
        description: None,
        required: name.ends_with('!'),
    };
    names.iter().map(argument).collect()
}

/// `a=value b=value`, then what is unused; or the mistake.
fn told(names: &[&str], line: &str) -> String {
    match read(line).and_then(|typed| typed.assign(&declared(names))) {
        Err(mistake) => mistake.to_string(),
        Ok(given) => {
            let values = given.values.iter().map(|(name, value)| format!("{name}=[{value}]"));
            let unused = given.unused.iter().map(|one| format!("unused {one}"));
            values.chain(unused).collect::<Vec<_>>().join(" ")
        }
    }
}

#[test]
fn lines_give_arguments_their_values() {
    let both: &[&str] = &["a!", "b!"];
    let cases: [(&[&str], &str, &str); 36] = [
        // By name.
        (both, "--a=1 --b=2", "a=[1] b=[2]"),
        (both, r#"--b="two words" --a="1""#, "a=[1] b=[two words]"),
        (both, r#"--a="say \"hi\" \\ \x" --b=a\"b\c"#, r#"a=[say "hi" \ x] b=[a"bc]"#),
        (both, r#"--a="x=y" --b=c=d"#, "a=[x=y] b=[c=d]"),
        (both, "--a=1 --a=3 --b=2", "a=[3] b=[2]"),
        (&["a"], "--a=é\u{1f600}", "a=[é\u{1f600}]"),
        (&["a"], "\t--a=1\n", "a=[1]"),
        // By place.
        (both, "1 2", "a=[1] b=[2]"),
        (both, r#""1 and" "2 \" 3""#, r#"a=[1 and] b=[2 " 3]"#),
        (both, "--b=2 1", "a=[1] b=[2]"),
        (both, "1 --b=2 3", "a=[1 3] b=[2]"),
        (both, "1 2 3", "a=[1] b=[2] unused 3"),
        (both, r#""1""2""#, "a=[1] b=[2]"),
        // One that is required gets everything.
        (&["a!", "b"], "some  words here", "a=[some words here]"),
        (&["a!", "b"], "some --b=x words", "a=[some words] b=[x]"),
        (&["a!"], r#"the "big  one""#, "a=[the big  one]"),
        (&["a!"], "", "a=[]"),
        (&["a!"], r#""--a=1 x""#, "a=[--a=1 x]"),
        // What is optional has to be named.
        (&["a", "b"], "", ""),
        (&["a", "b"], "word", "unused word"),
        (&["a"], "--a=x word", "a=[x] unused word"),
        (&[], "word --x=1", "unused --x unused word"),
        // Empty is not given; unknown names go nowhere.
        (both, r#"--a="" --b=2 1"#, "a=[1] b=[2]"),
        (both, "--a= 1 --b=2", "a=[1] b=[2]"),
        (&["a!"], "--z=1 x", "a=[x] unused --z"),
        // What is missing.
        (both, "", "missing required argument(s): --a, --b"),
        (both, "1", "missing required argument(s): --b"),
        (&["a!", "b!", "c!"], "--b=1", "missing required argument(s): --a, --c"),
        // A key ends at a blank.
        (
            &["a", "c"],
            "--a b --c=d",
            "--a has no value: write --a=\"…\", or \"--a\" in quotes when it is meant as text",
        ),
        (&["x!", "c"], "--a b --c=d", "c=[d] x=[--a b]"),
        (&["a!"], r#""--a""#, "a=[--a]"),
        (&["a!"], "-- --=1 --\"q\"=1", "a=[-- --=1 --\"q\"=1]"),
        (&["a!"], "x--a=1", "a=[x--a=1]"),
        // Quotes that nothing closes are letters.
        (&["a!"], r#"say "hello you"#, r#"a=[say "hello you]"#),
        (&["a", "b!"], r#"--a="x y"#, r#"a=["x] b=[y]"#),
        (&["a!"], r"end\", r"a=[end\]"),
    ];
    for (names, line, expected) in cases {
        assert_eq!(told(names, line), expected, "{names:?} {line}");
    }
}

#[test]
fn a_line_has_an_end() {
    let line = "x".repeat(super::COMMAND_LINE_BYTES_MAX + 1);
    assert_eq!(told(&["a!"], &line), "the arguments are longer than 1048576 bytes");
}
