//! A server that hangs, or is slow, delays nobody.

use serde_json::json;
use toolgate_testkit::{Script, ToolScript, What, When};

use crate::room::{Room, sample};

fn hanging() -> Script {
    Script::new("hangs").fault(When::Message(1), What::Stall)
}

#[test]
fn the_tools_of_the_others_are_listed() {
    let room = Room::new()
        .server("a_hangs", &hanging())
        .with("a_hangs", "connectTimeout", json!(1500))
        .server("b", &sample("b"))
        .server("c", &sample("c"));
    let output = room.run("tools");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    let mut headings: Vec<&str> =
        output.stdout.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    headings.sort_unstable(); // Which of them is first is up to the machine.
    assert_eq!(headings, ["b  3 tools", "c  3 tools", "workspace  7 tools"]);
    assert!(output.stderr.contains("MCP server a_hangs: discovery failed"), "{}", output.stderr);
}

#[test]
fn a_call_to_another_server_does_not_wait() {
    let room = Room::new()
        .server("hangs", &hanging())
        .with("hangs", "connectTimeout", json!(600_000))
        .server("good", &sample("good"));
    // Each would take ten minutes if it waited, and is ended after a fraction of that.
    room.check(
        "call good__add a=1 b=2",
        "
            --- stdout
            5
            --- exit 0
            ",
    );
    room.check(
        "call --server good add a=1 b=2",
        "
            --- stdout
            5
            --- exit 0
            ",
    );
    assert_eq!(room.run("tools good").code(), Some(0));
    assert_eq!(room.run("call good__nothing").code(), Some(7));
    assert_eq!(room.run("prompt --server good greet who=you").code(), Some(0));
    assert_eq!(room.run("read good:docs://start").code(), Some(0));
}

#[test]
fn a_name_that_turns_out_to_be_taken_is_corrected() {
    let offers = |name: &str, own: &str| {
        let tools = ["lookup", "a", "b", "c", "d", own].map(|tool| ToolScript::text(tool, "found"));
        tools.into_iter().fold(Script::new(name), Script::tool)
    };
    let slow = offers("slow", "slow_only").fault(When::Start, What::Pause { ms: 3000 });
    let room = Room::new().server("a_slow", &slow).server("fast", &offers("fast", "fast_only")).without_workspace();
    room.check(
        "tools",
        "
            --- stdout
            fast  6 tools
              lookup     the scripted tool lookup
              a          the scripted tool a
              b          the scripted tool b
              c          the scripted tool c
              d          the scripted tool d
              fast_only  the scripted tool fast_only

            a_slow  6 tools
              lookup     the scripted tool lookup
              a          the scripted tool a
              b          the scripted tool b
              c          the scripted tool c
              d          the scripted tool d
              slow_only  the scripted tool slow_only
            --- stderr
            `lookup` of fast is called `fast__lookup`: `a_slow` has that name; `a` is called `fast__a`: `a_slow` has that name; `b` is called `fast__b`: `a_slow` has that name and 2 more
            --- exit 0
            ",
    );
    let listed = room.json("tools --json");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    let expected = ["lookup", "a", "b", "c", "d", "slow_only"];
    assert_eq!(names.get(..6), Some(&expected[..]), "programs get the final names");
    let expected = ["fast__lookup", "fast__a", "fast__b", "fast__c", "fast__d", "fast_only"];
    assert_eq!(names.get(6..), Some(&expected[..]), "programs get the final names");
}

#[test]
fn a_server_that_dies_while_it_lists_is_told_and_the_rest_is_there() {
    let dies = sample("dies").fault(When::Method("tools/list").before(), What::Exit(7));
    let room = Room::new().server("dies", &dies).server("good", &sample("good")).without_workspace();
    let output = room.run("tools");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.starts_with("good  3 tools\n"), "{}", output.stdout);
    assert!(output.stderr.contains("MCP server dies: "), "{}", output.stderr);
    assert_eq!(room.run("tools dies").code(), Some(4));
}
