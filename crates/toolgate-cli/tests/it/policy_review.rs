//! `policy suggest --write` adds rules for calls that were allowed by hand; `policy review` finds permissions that are not needed.

use serde_json::{Value, json};

use crate::room::{Room, sample};

const MINE: &str = ".toolgate/policies/mine.toml";

fn room() -> Room {
    Room::new().with_questions().server("one", &sample("one")).without_workspace()
}

fn call(room: &Room, flag: &str, message: &str, code: i32) {
    let message = format!("message={message}");
    let words = ["call", flag, "echo", &message];
    let output = room.command(words.into_iter().filter(|word| !word.is_empty())).run().unwrap();
    assert_eq!(output.code(), Some(code), "{message}: {}", output.transcript());
}

fn kinds(found: &Value) -> Vec<&str> {
    found["findings"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect()
}

#[test]
fn suggested_rules_are_generalised_weighed_and_written_once() {
    let room = room();
    for message in ["docs/a.md", "docs/b.md", "docs/c/d.md"] {
        call(&room, "--yes", message, 0);
    }
    call(&room, "", "docs/refused.md", 3);
    call(&room, "", "elsewhere", 3);
    let suggested = room.json("policy suggest --json");
    let first = &suggested["suggestions"][0];
    assert!(first["toml"].as_str().unwrap().contains("{ under = \"docs\" }"), "{suggested}");
    let facts = ["calls", "days", "risk", "refused"].map(|key| first[key].clone());
    assert_eq!(facts, [json!(3), json!(1), json!("high"), json!(1)], "{suggested}");
    assert!(first["permits"][0].as_str().unwrap().starts_with("every path below `docs`"), "{suggested}");
    // A rule of high risk must be picked.
    let unpicked = room.run("policy suggest --write");
    assert!(unpicked.stderr.contains("1 rule of high risk not written"), "{}", unpicked.transcript());
    call(&room, "", "docs/new.md", 3);
    assert_eq!(room.run("policy suggest --write --pick 7").code(), Some(2));
    for expected in ["added 1 rule to", "no new rules to write"] {
        let output =
            room.command(["policy", "suggest", "--write", "--pick", "1", "--reason", "docs only"]).run().unwrap();
        assert!(output.stderr.contains(expected), "{expected}: {}", output.transcript());
    }
    assert_eq!(first["written"], json!(false));
    assert_eq!(room.json("policy suggest --json")["suggestions"][0]["written"], json!(true));
    assert!(room.run("policy suggest").stdout.contains("it is in your policies already"));
    call(&room, "", "docs/new.md", 0);
    call(&room, "", "src/new.md", 3);
    assert_eq!(room.run("policy check").code(), Some(0));
    assert_eq!(room.run("audit verify").code(), Some(0));
    assert_eq!(room.json("revisions --json")["revisions"][0]["cause"], json!("policy suggest"));
}

#[test]
fn what_is_not_needed_is_found_and_mended() {
    let room = room();
    let rule = |fields: &str| format!("[[rule]]\n{fields}\npriority = 300\n");
    let policy = [
        "# mine\n",
        &rule("name = \"wide\"\nmcpName = \"one\"\ntoolName = \"*\"\ndecision = \"allow\""),
        "\n# never used\n",
        &rule("mcpName = \"gone\"\ndecision = \"allow\""),
        &rule("mcpName = \"gone\"\ntoolName = \"delete_*\"\ndecision = \"deny\""),
    ]
    .concat();
    room.world.write_in_home(MINE, &policy).unwrap();
    let nothing = room.json("policy review --json");
    assert_eq!((&nothing["ok"], &nothing["calls"]), (&json!(true), &json!(0)), "a record without calls says nothing");
    call(&room, "", "hello", 0);
    let expired = "version = 1\n[[grant]]\nid = \"old\"\nserver = \"gone\"\nscope = \"tool\"\nmode = \"default\"\n\
                   given_at = \"2026-01-01T00:00:00Z\"\ngiven_in = \"/w\"\nserver_identity = \"sha256:a\"\n\
                   expires_at = \"2026-01-02T00:00:00Z\"\ntools = {a = \"sha256:b\"}\n";
    let unused = expired.replace("\"old\"", "\"idle\"").replace("expires_at = \"2026-01-02T00:00:00Z\"\n", "");
    let moved = unused.replace("\"idle\"", "\"moved\"").replace("\"gone\"", "\"one\"");
    let grants =
        [expired, unused.trim_start_matches("version = 1\n"), moved.trim_start_matches("version = 1\n")].concat();
    room.world.write_in_home(".toolgate/grants.toml", &grants).unwrap();
    let output = room.run("policy review --json --since 1d");
    assert_eq!(output.code(), Some(9), "{}", output.transcript());
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    let expected = ["expired_grant", "unused_grant", "suspended_grant", "broad_rule", "unmatched_rule"];
    assert_eq!(kinds(&found), expected, "{found}");
    let replacement = "[[rule]]\nmcpName = \"one\"\ntoolName = [\"echo\"]\ndecision = \"allow\"\npriority = 300\n";
    assert_eq!(found["findings"][3]["replacement"], json!(replacement), "{found}");
    assert_eq!(
        (&found["findings"][4]["line"], &found["findings"][4]["replacement"]),
        (&json!(10), &Value::Null),
        "{found}"
    );
    let mended = room.run("policy review --write --reason cleaning --since 1d");
    assert_eq!(mended.code(), Some(0), "{}", mended.transcript());
    let text = std::fs::read_to_string(room.world.home().join(MINE)).unwrap();
    assert!(
        text.contains(replacement) && text.contains("# toolName = \"*\"") && text.contains("# mcpName = \"gone\""),
        "{text}"
    );
    call(&room, "", "hello again", 0);
    assert_eq!(room.run("call add a=1 b=2").code(), Some(3), "it was never used");
    assert_eq!(room.json("grants list --json")["grants"], json!([]));
    let again = room.json("policy review --json --since 1d");
    assert_eq!(kinds(&again), Vec::<&str>::new(), "{again}");
}

#[test]
fn a_rule_without_conditions_is_narrowed_to_what_was_called() {
    let room = room();
    room.world.write_in_home(MINE, "[[rule]]\nmcpName = \"one\"\ntoolName = \"echo\"\nmodes = [\"default\"]\ndecision = \"allow\"\npriority = 7\n").unwrap();
    for nth in 0..5 {
        call(&room, "", &format!("docs/{nth}.md"), 0);
    }
    let output = room.run("policy review --json");
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    let replacement = found["findings"][0]["replacement"].as_str().unwrap();
    assert!(
        replacement.contains("priority = 7\nmodes = [\"default\"]\n[rule.when]\n\"/message\" = { under = \"docs\" }"),
        "{replacement}"
    );
    assert_eq!(room.run("policy review --write").code(), Some(0));
    call(&room, "", "docs/other.md", 0);
    call(&room, "", "src/other.md", 3);
    assert_eq!(room.run("policy check").code(), Some(0));
}
