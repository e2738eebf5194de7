//! What stands for what, there and back.

use super::{Dialect, Spot};
use crate::formats::found::NoteKind;

/// A text of theirs, ours, and the kinds of what is said about it.
type Case = (&'static str, &'static str, &'static [NoteKind]);

const LOST: NoteKind = NoteKind::Lost;
const CHANGED: NoteKind = NoteKind::Changed;

fn check(dialect: Dialect, spot: Spot, cases: &[Case]) {
    for (theirs, ours, kinds) in cases {
        let translated = dialect.theirs_as_ours(theirs, spot);
        let found: Vec<NoteKind> = translated.remarks.iter().map(|remark| remark.kind).collect();
        assert_eq!((translated.text.as_str(), found.as_slice()), (*ours, *kinds), "{dialect:?}: {theirs}");
    }
}

#[test]
fn texts_of_others_keep_their_meaning() {
    check(Dialect::Gemini, Spot::Process, &[("$A ${B:-c} \\$", "$A ${B:-c} \\$", &[])]);
    check(Dialect::Literal, Spot::Process, &[("$A ${B} 5$", "\\$A \\${B} 5$", &[]), ("\\$A", "\\\\$A", &[])]);
    check(
        Dialect::ClaudeCode,
        Spot::Request,
        &[
            ("https://${HOST:-h}/x", "https://${HOST:-h}/x", &[]),
            ("$A and ${A}", "\\$A and ${A}", &[]),
            ("${A:-${B}}", "${A:-${B}}", &[]),
            ("${input:x}${A", "\\${input:x}\\${A", &[LOST]),
            ("C:\\${A}", "C:\\${A}", &[LOST]),
            ("${}", "\\${}", &[LOST]),
        ],
    );
    check(
        Dialect::VsCode,
        Spot::Process,
        &[
            ("${env:A}", "${env:A}", &[]),
            ("${input:a-b}", "${keychain:a-b}", &[CHANGED]),
            ("${input:}", "\\${input:}", &[LOST]),
            ("${userHome}${pathSeparator}x${/}y", "${HOME}/x/y", &[]),
            ("${workspaceFolder}/a:${workspaceFolder}/b", "./a:./b", &[CHANGED]),
            ("${workspaceFolder:other}", "\\${workspaceFolder:other}", &[LOST]),
            ("${A} $A", "\\${A} \\$A", &[LOST]),
        ],
    );
    check(
        Dialect::Cursor,
        Spot::Request,
        &[
            ("https://${env:HOST}/", "https://${env:HOST}/", &[]),
            ("${workspaceFolder}", "\\${workspaceFolder}", &[LOST]),
            ("${input:a}", "\\${input:a}", &[LOST]),
        ],
    );
}

#[test]
fn our_texts_are_written_as_others_know_it() {
    let all = [Dialect::Own, Dialect::Gemini, Dialect::ClaudeCode, Dialect::VsCode, Dialect::Cursor, Dialect::Literal];
    // Ours, and the same in each of them; an exclamation mark where something is said about it.
    let cases = [
        ("plain", ["plain", "plain", "plain", "plain", "plain", "plain"]),
        ("$A", ["$A", "${A}", "${A}", "${env:A}", "${env:A}", "!${A}"]),
        ("${A:-d}", ["${A:-d}", "${A:-d}", "${A:-d}", "!${env:A}", "!${env:A}", "!${A}"]),
        ("${env:A}", ["${env:A}", "${A}", "${A}", "${env:A}", "${env:A}", "!${A}"]),
        ("${HOME}/x", ["${HOME}/x", "${HOME}/x", "${HOME}/x", "${userHome}/x", "${userHome}/x", "!${HOME}/x"]),
        (
            "${keychain:git-hub}",
            [
                "${keychain:git-hub}",
                "!${GIT_HUB}",
                "!${GIT_HUB}",
                "!${input:git-hub}",
                "!${env:GIT_HUB}",
                "!${keychain:git-hub}",
            ],
        ),
        (
            "${file:/run/1}",
            [
                "${file:/run/1}",
                "!${FILE__RUN_1}",
                "!${FILE__RUN_1}",
                "!${input:file--run-1}",
                "!${env:FILE__RUN_1}",
                "!${file:/run/1}",
            ],
        ),
        ("\\$A 5$", ["\\$A 5$", "!$A 5$", "$A 5$", "$A 5$", "$A 5$", "$A 5$"]),
        ("\\${A}", ["\\${A}", "!${A}", "!${A}", "!${A}", "!${A}", "${A}"]),
    ];
    for (ours, expected) in cases {
        for (dialect, expected) in all.into_iter().zip(expected) {
            let theirs = dialect.ours_as_theirs(ours, "It");
            let mark = if theirs.remarks.is_empty() { "" } else { "!" };
            assert_eq!(format!("{mark}{}", theirs.text), expected, "{dialect:?}: {ours}");
        }
    }
}

#[test]
fn names_from_files_do_not_become_commands() {
    let hostile = Dialect::VsCode.theirs_as_ours("${input:x; rm -rf ~`id`}", Spot::Process);
    let message = &hostile.remarks[0].message;
    assert!(message.contains("username 'x; rm -rf ~`id`'"), "{message}");
    let nul = Dialect::VsCode.theirs_as_ours("${input:a\0b}", Spot::Process);
    assert!(!nul.remarks[0].message.contains("secret-tool"), "{:?}", nul.remarks);
}
