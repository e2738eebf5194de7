//! One catalog from many servers: names, collisions, pages, and entries that cannot be used.

use serde_json::json;
use toolgate::discovery::Interest;
use toolgate::{Asker, DiscoveredTool, ErrorKind, Naming, ToolCall};
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ToolScript, What, When};

use crate::support::{LONG, Room, call, names, nothing, text};

fn offering(tools: &[&str]) -> Script {
    tools.iter().fold(Script::new("scripted"), |script, tool| script.tool(ToolScript::text(*tool, *tool)))
}

#[tokio::test]
async fn collisions_are_settled_by_the_order_of_the_settings() {
    let room = Room::new()
        .server_with(
            "slow",
            &offering(&["search", "only_here"]).fault(When::Start, What::Pause { ms: 300 }),
            &json!({}),
        )
        .server("mcp", &offering(&["search", "echo"]))
        .server_with("trusted one", &offering(&["search"]), &json!({"trust": true}));
    let host = room.host().await;
    let catalog = host.catalog();
    assert_eq!(names(&catalog), ["search", "only_here", "mcp__search", "echo", "trusted_one__search"]);
    let trusted: Vec<bool> = catalog.tools().iter().map(|tool| tool.trusted).collect();
    assert_eq!(trusted, [false, false, false, false, true]);
    let [collision] = catalog.collisions().try_into().unwrap();
    assert_eq!((collision.name.as_str(), collision.kept_by.server.as_str()), ("search", "slow"));
    let renamed: Vec<&str> = collision.renamed.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(renamed, ["mcp__search", "trusted_one__search"]);
    // Every tool answers to its qualified name as well, spelled as the server is spelled or as names are.
    for (name, server) in [("slow__search", "slow"), ("trusted one__search", "trusted one"), ("mcp__echo", "mcp")] {
        assert_eq!(catalog.find(name).unwrap().id.server.as_str(), server);
    }
    assert!(catalog.find("nobody__search").is_none());
}

#[tokio::test]
async fn names_can_be_qualified_for_everything() {
    let room = Room::new().server("a", &offering(&["x"])).server("mcp", &offering(&["x"]));
    let host = room.builder().naming(Naming::Qualified).build();
    host.connect(room.servers()).await;
    assert_eq!(names(&host.catalog()), ["mcp_a_x", "mcp_mcp_x"]);
    assert_eq!(text(&call(&host, "mcp_mcp_x", json!({})).await), "x");
}

#[tokio::test]
async fn an_entry_that_cannot_be_used_is_set_aside_alone() {
    let cyclic = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
    let large = json!({"type": "object", "properties": {"a": {"type": "string", "description": "x".repeat(1 << 20)}}});
    let long = "n".repeat(200);
    let script = Script::new("odd")
        .tool(ToolScript::raw(json!({"description": "no name"}), Behaviour::Echo))
        .tool(ToolScript::raw(json!({"name": 7}), Behaviour::Echo))
        .tool(ToolScript::raw(json!({"name": "bad_schema", "inputSchema": "text"}), Behaviour::Echo))
        .tool(ToolScript::text("twice", "first"))
        .tool(ToolScript::text("twice", "second"))
        .tool(ToolScript::text("cyclic", "ok").input_schema(cyclic))
        .tool(ToolScript::text("large", "ok").input_schema(large))
        .tool(ToolScript::text(&*long, "ok"))
        .tool(ToolScript::text("搜索", "ok"));
    let room = Room::new().server("odd", &script);
    let host = room.host().await;
    let catalog = host.catalog();
    let short = format!("{}___{}", "n".repeat(28), "n".repeat(32));
    assert_eq!(names(&catalog), ["twice", "cyclic", "large", &short, "__"]);
    let reasons: Vec<String> = catalog
        .quarantined()
        .map(|entry| format!("{} {} {:?}: {}", entry.server, entry.kind, entry.name, entry.reason))
        .collect();
    assert_eq!(
        reasons,
        [
            "odd tool None: entry 1: `name` is missing",
            "odd tool None: entry 2: `name` is not a string",
            "odd tool Some(\"bad_schema\"): `inputSchema` is not a schema",
            "odd tool Some(\"twice\"): the server lists this name twice; the first one counts",
        ]
    );
    for name in ["cyclic", "large", &short, "__", "odd__搜索", &format!("odd__{long}")] {
        assert_eq!(text(&call(&host, name, json!({})).await), "ok", "{name}");
    }
    assert_eq!(host.servers()[0].error.as_ref().map(ToString::to_string), None);
}

#[tokio::test]
async fn all_pages_of_all_lists_are_read() {
    let mut script = Script::new("pages").page_size(7).template(json!({"uriTemplate": "test://{id}", "name": "t"}));
    for number in 0..30 {
        script = script
            .tool(ToolScript::text(format!("tool{number}"), "ok"))
            .prompt(PromptScript::text(format!("prompt{number:02}"), "ok"))
            .resource(ResourceScript::text(format!("test://{number}"), "ok"));
    }
    let room = Room::new()
        .server("pages", &script)
        .server("looping", &offering(&["a"]).page_size(1).fault(When::Method("tools/list"), What::RepeatedCursor));
    let host = room.host().await;
    let catalog = host.catalog();
    assert_eq!(catalog.tools().len(), 31);
    assert_eq!((catalog.prompts().len(), catalog.resources().len(), catalog.templates().len()), (30, 30, 1));
    let reasons: Vec<&str> = catalog.quarantined().map(|entry| entry.reason.as_str()).collect();
    let [looping, twice] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert!(looping.contains("repeats the cursor") && twice.contains("twice"), "{reasons:?}");
}

#[tokio::test]
async fn lists_without_an_end_or_sense_fail_with_a_reason() {
    let endless = offering(&["a"]).fault(When::Method("tools/list"), What::AnswerWith(json!({"tools": "many"})));
    let refusing = offering(&["a"])
        .fault(When::Method("tools/list"), What::AnswerError { code: -32603, message: "no list today".into() });
    let partly = offering(&["a"])
        .prompt(PromptScript::text("p", "ok"))
        .fault(When::Method("prompts/list"), What::AnswerError { code: -32603, message: "no prompts today".into() });
    let absent = offering(&["a"])
        .fault(When::Method("tools/list"), What::AnswerError { code: -32601, message: "unknown".into() });
    let room = Room::new()
        .server("senseless", &endless)
        .server("refusing", &refusing)
        .server("partly", &partly)
        .server("absent", &absent)
        .server("empty", &Script::new("empty").capabilities(json!({})));
    let host = room.host().await;
    let seen: Vec<String> = host
        .servers()
        .iter()
        .map(|view| {
            format!(
                "{} {}: {}",
                view.name(),
                view.status.as_str(),
                view.error.as_ref().map_or_else(String::new, ToString::to_string)
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "senseless failed: listing tools failed: the answer to `tools/list` has no list `tools`",
            "refusing failed: listing tools failed: no list today (code -32603)",
            "partly connected: listing prompts failed: no prompts today (code -32603)",
            "absent connected: server offers no tools, prompts or resources",
            "empty connected: server offers no tools, prompts or resources",
        ]
    );
    assert_eq!(names(&host.catalog()), ["a"]);
}

#[tokio::test]
async fn a_filter_hides_by_name_and_says_why() {
    let script = offering(&["read_file", "write_file", "run", "list"]);
    let room = Room::new().server_with(
        "files",
        &script,
        &json!({"includeTools": ["*_file", "run(ls)"], "excludeTools": ["write_*"]}),
    );
    let host = room.host().await;
    let catalog = host.catalog();
    assert_eq!(names(&catalog), ["read_file", "run"], "calls of `run` are looked at one by one");
    let hidden: Vec<String> = catalog.filtered().map(|hidden| format!("{}: {}", hidden.tool, hidden.reason)).collect();
    let place = catalog.servers().next().unwrap().line.config().origin.to_string();
    let expected = [
        format!("write_file: `write_*` in `excludeTools` hides it ({place})"),
        format!("list: it is not in `includeTools` ({place})"),
    ];
    assert_eq!(hidden, expected);
    let expected = format!("a tool of that name is hidden: it is not in `includeTools` ({place})");
    for name in ["list", "files__list"] {
        assert_eq!(catalog.unknown(name).hint(), Some(expected.as_str()), "{name}");
    }
}

#[tokio::test]
async fn prompts_and_resources_are_found_where_they_are() {
    let one = Script::new("one")
        .prompt(PromptScript::text("greet", "from one").argument("who", toolgate_testkit::offer::Need::Required))
        .resource(ResourceScript::text("test://a", "a of one"));
    let two = Script::new("two")
        .prompt(PromptScript::text("greet", "from two"))
        .template(json!({"uriTemplate": "made://{id}", "name": "made"}))
        .resource(ResourceScript::text("test://b", "b of two"));
    let room = Room::new().server("one", &one).server("two", &two);
    let host = room.host().await;
    let shown: Vec<String> = host.catalog().prompts().iter().map(|prompt| prompt.name.to_string()).collect();
    assert_eq!(shown, ["greet", "two.greet"]);
    let greet = host.find_prompt("greet").await.unwrap();
    let error = host.get_prompt(&greet, &nothing()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::InvalidArguments, "missing required argument(s): --who")
    );
    let other = host.find_prompt("two.greet").await.unwrap();
    let result = host.get_prompt(&other, &nothing()).await.unwrap();
    assert_eq!(result.messages.len(), 1);
    assert!(result.raw.as_str().contains("from two"));
    assert_eq!(host.find_prompt("one.greet").await.unwrap().server.as_str(), "one");
    // Thousands of equal names are one prompt and many entries set aside, at once.
    let many = (0..5000).fold(Script::new("many"), |script, _| script.prompt(PromptScript::text("same", "ok")));
    let many = Room::new().server("many", &many).host().await;
    assert_eq!((many.catalog().prompts().len(), many.catalog().quarantined().count()), (1, 4999));
    let error = host.find_prompt("gret").await.unwrap_err();
    assert_eq!((error.kind(), error.hint()), (ErrorKind::UnknownPrompt, Some("did you mean `greet`?")));

    assert_eq!(host.find_resource("test://b").await.unwrap().as_str(), "two");
    assert_eq!(host.find_resource("made://7").await.unwrap().as_str(), "two");
    assert_eq!(host.find_resource("gone://7").await.unwrap_err().kind(), ErrorKind::UnknownResource);
    let read = host.read_resource("one", "test://a").await.unwrap();
    assert_eq!(read.contents[0].text.as_deref(), Some("a of one"));
    assert_eq!(host.read_resource("one", "test://zz").await.unwrap_err().kind(), ErrorKind::UnknownResource);
    assert_eq!(host.read_resource("none", "test://a").await.unwrap_err().kind(), ErrorKind::UnknownServer);
}

#[tokio::test]
async fn only_what_is_wanted_is_asked_for() {
    let script =
        offering(&["a"]).prompt(PromptScript::text("p", "ok")).resource(ResourceScript::text("test://r", "ok"));
    let room = Room::new().server("all", &script);
    let host = room.builder().interest(Interest::TOOLS).for_one_question().build();
    tokio::time::timeout(LONG, host.connect(room.servers())).await.unwrap();
    assert_eq!(names(&host.catalog()), ["a"]);
    host.shutdown().await;
    let asked = room.record(0).methods();
    let listed: Vec<&String> =
        asked.iter().filter(|method| method.ends_with("/list") || method.contains("listen")).collect();
    assert_eq!(listed, ["tools/list"]);
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_nearest_names() {
    let room = Room::new().server("files", &offering(&["read_file", "write_file", "unrelated"]));
    let host = room.host().await;
    let call = ToolCall { name: "raed_file".into(), arguments: json!({}).into(), asked_by: Asker::Model };
    let error = host.catalog().prepare(call).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
    assert_eq!(error.to_string(), "there is no tool `raed_file`");
    assert_eq!(error.hint(), Some("did you mean `read_file`, `write_file`?"));
}

#[tokio::test]
async fn one_tool_can_be_kept_by_a_program() {
    let slow = Behaviour::delay(60_000, Behaviour::text("late"));
    let script = offering(&["read"])
        .tool(ToolScript::new("slow", slow))
        .tool(ToolScript::echo("echo").description("says it again"));
    let room = Room::new().server("web-server", &offering(&["echo"])).server("fs", &script);
    let host = room.host().await;
    let catalog = host.catalog();
    let tool = DiscoveredTool::of(&catalog, "fs", "echo").unwrap();
    assert_eq!((tool.name(), tool.server(), tool.server_tool_name()), ("fs__echo", "fs", "echo"));
    assert_eq!(tool.as_fully_qualified().name(), "fs__echo");
    assert_eq!(
        DiscoveredTool::of(&catalog, "web-server", "echo").unwrap().as_fully_qualified().name(),
        "web-server__echo"
    );
    let renamed = tool.clone().named("say").trusted(true);
    assert!(renamed.is_trusted() && !tool.is_trusted());
    let declaration = renamed.declaration();
    assert_eq!((declaration.name.as_str(), declaration.description.as_str()), ("say", "says it again"));
    assert!(declaration.parameters.is_object());
    assert_eq!(text(&renamed.execute(host.calls(), json!({"message": "hello"}).into()).await), "hello");
    let slow = DiscoveredTool::of(&catalog, "fs", "slow").unwrap().timeout(std::time::Duration::from_millis(50));
    assert_eq!(slow.execute(host.calls(), json!({}).into()).await.as_str(), "timed_out");
    assert_eq!(DiscoveredTool::of(&catalog, "fs", "nothing").unwrap_err().kind(), ErrorKind::UnknownTool);
}
