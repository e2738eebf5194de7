//! Tests of what is read as a reference to a secret, and where it ends.

use super::{ReferenceFault, SecretKind, has_reference, read};

/// The reference and what follows it, or why there is none.
fn shown(inside: &str) -> String {
    match read(inside) {
        None => "no reference".to_owned(),
        Some(Ok((reference, rest))) => format!("{reference} + {rest}"),
        Some(Err(fault)) => format!("{fault:?}"),
    }
}

#[test]
fn each_kind_ends_where_the_rule_says() {
    let cases = [
        ("env:HOME}x", "${env:HOME} + x"),
        ("env:odd-name}", "${env:odd-name} + "),
        ("keychain:my github}!", "${keychain:my github} + !"),
        ("keychain:a:b}", "${keychain:a:b} + "),
        ("file:~/.secrets/漢}", "${file:~/.secrets/漢} + "),
        ("file:a{b}c}", "${file:a{b} + c}"),
        ("cmd:pass show x}/y", "${cmd:pass show x} + /y"),
        ("cmd:a ${B} {c} d} e}", "${cmd:a ${B} {c} d} +  e}"),
        ("cmd:awk '{print $1'} + }", "${cmd:awk '{print $1'} +  + }"),
        ("cmd:echo \"}\"} x", "${cmd:echo \"}\"} +  x"),
        ("cmd:echo \"\\\"}\"} x", "${cmd:echo \"\\\"}\"} +  x"),
        ("cmd:echo '\\'} x", "${cmd:echo '\\'} +  x"),
        ("cmd:echo \\} \\'} x", "${cmd:echo \\} \\'} +  x"),
        ("cmd: }", "Blank(Cmd)"),
        ("env:}", "Blank(Env)"),
        ("cmd:a {b}", "NotClosed(Cmd)"),
        ("cmd:a 'b}", "NotClosed(Cmd)"),
        ("cmd:a\\", "NotClosed(Cmd)"),
        ("file:a", "NotClosed(File)"),
        ("env:A=B}", "NotAVariable"),
        ("env:A:-d}", "NotAVariable"),
        ("vault:x}", "UnknownKind(\"vault\")"),
        ("input:token}", "UnknownKind(\"input\")"),
        ("vault:x", "no reference"),
        ("HOME}", "no reference"),
        ("HOME:x}", "no reference"),
        ("ENV:x}", "no reference"),
        ("env}", "no reference"),
        ("env", "no reference"),
        ("env:-d}", "no reference"),
        ("file:+d}", "no reference"),
        ("name:0:3}", "no reference"),
        ("name: -1}", "no reference"),
        ("name:=d}", "no reference"),
        ("name:?d}", "no reference"),
        ("1:x}", "no reference"),
        ("my-kind:x}", "no reference"),
        ("", "no reference"),
        (":x}", "no reference"),
    ];
    for (inside, expected) in cases {
        assert_eq!(shown(inside), expected, "{inside}");
    }
}

#[test]
fn what_is_wrong_comes_with_advice() {
    let (message, hint) = ReferenceFault::UnknownKind("vault".to_owned()).in_words();
    assert_eq!(message, "`${vault:…}` refers to no secret: nothing is kept in `vault`");
    for kind in SecretKind::ALL {
        assert!(hint.contains(&format!("`${{{}:", kind.as_str())), "{hint}");
    }
    let others = [
        (ReferenceFault::NotClosed(SecretKind::Cmd), "`${cmd:` is not closed"),
        (ReferenceFault::Blank(SecretKind::File), "`${file:}` refers to nothing"),
        (ReferenceFault::NotAVariable, "what stands behind `${env:` is not the name of a variable"),
    ];
    for (fault, expected) in others {
        let (message, hint) = fault.in_words();
        assert_eq!(message, expected);
        assert!(!hint.is_empty());
    }
}

#[test]
fn references_are_noticed_wherever_they_stand() {
    for text in ["${cmd:x}", "a${env:B}", "$${file:x}", "${A}${vault:x}", "漢${cmd:never closed"] {
        assert!(has_reference(text), "{text}");
    }
    for text in ["", "$", "${", "${A}", "${A:-${B}}", "$env:X", "{env:X}"] {
        assert!(!has_reference(text), "{text}");
    }
}
