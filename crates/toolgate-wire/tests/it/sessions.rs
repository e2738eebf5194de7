//! Legacy sessions over HTTP: lost and made anew, ended, and streams that break and are resumed.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolgate_testkit::script::{GetStream, Priming, Sessions, UnknownSession};
use toolgate_testkit::{Behaviour, Change, Event, HttpAnswer, ResourceScript, Script, ToolScript, What, When};
use toolgate_wire::{Call, Error, Watch};

use crate::support::{Met, PATIENCE, Way, raw, within};

const CALL: When = When::Method("tools/call");

fn server() -> Script {
    Script::new("demo")
        .capabilities(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "logging": {}}))
        .tool(ToolScript::echo("echo"))
        .tool(ToolScript::new("steps", Behaviour::progress(5, 1, Behaviour::text("done"))))
        .tool(ToolScript::new("log", Behaviour::log("debug", json!("details"), Behaviour::text("logged"))))
        .tool(ToolScript::new("touch", touch()))
        .resource(ResourceScript::text("demo://one", "one"))
}

fn touch() -> Behaviour {
    Behaviour::ResourceUpdated { uri: "demo://one".to_owned(), then: Box::new(Behaviour::text("touched")) }
}

async fn echo(met: &Met) -> Result<String, String> {
    let call = met.client().call_tool("echo", raw(json!({"message": "hi"})));
    within("a call", call).await.map(|result| result.text()).map_err(|error| error.to_string())
}

/// Restarts the server and lets the client see that its connections are gone: a request on one that dies just then is
/// an error of its own.
async fn restart(met: &Met) {
    met.http().restart().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// How servers in use say that they do not know the session.
const WAYS_TO_FORGET: [UnknownSession; 3] =
    [UnknownSession::NotFound, UnknownSession::BadRequestWithoutId, UnknownSession::BadRequestText];

#[tokio::test]
async fn a_lost_session_is_made_anew_once_and_the_call_succeeds() {
    for (way, forget) in
        [Way::HttpJson, Way::HttpEvents].into_iter().flat_map(|way| WAYS_TO_FORGET.map(|forget| (way, forget)))
    {
        let met = way.meet(server().http(|http| http.unknown_session = forget)).await;
        assert_eq!(echo(&met).await.as_deref(), Ok("hi"));
        for restarts in 1..=2 {
            restart(&met).await;
            assert_eq!(echo(&met).await.as_deref(), Ok("hi"), "{way:?}, {forget:?}, restart {restarts}");
            assert_eq!(met.record.count("initialize"), 1 + restarts, "{way:?}, {forget:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_that_lose_the_same_session_make_one_new_session() {
    for forget in WAYS_TO_FORGET {
        let script =
            server().http(|http| http.unknown_session = forget).fault(When::Tool("log").after(), What::ForgetSessions);
        let met = Way::HttpEvents.meet(script).await;
        for round in 1..=5 {
            met.client().call_tool("log", raw(json!({}))).await.unwrap();
            let calls = join_all((0..16).map(|_| echo(&met))).await;
            assert!(calls.iter().all(|call| call.as_deref() == Ok("hi")), "{forget:?}, round {round}: {calls:?}");
            assert_eq!(met.record.count("initialize"), 1 + round, "{forget:?}");
        }
    }
}

#[tokio::test]
async fn a_new_session_is_told_what_the_old_one_knew() {
    let met = Way::HttpEvents.meet(server()).await;
    let client = met.client();
    client.request(Call::new("logging/setLevel", Some(raw(json!({"level": "debug"}))))).await.unwrap();
    let watch = Watch { uris: vec!["demo://one".to_owned()], ..Watch::default() };
    let subscription = client.watch(&watch).await.unwrap();
    restart(&met).await;
    assert_eq!(client.call_tool("log", raw(json!({}))).await.unwrap().text(), "logged");
    assert_eq!(client.call_tool("touch", raw(json!({}))).await.unwrap().text(), "touched");
    let heard = met.side.wait_until("both pieces of news", |heard| heard.notifications.len() == 2).await;
    let mut methods: Vec<_> = heard.notifications.iter().map(|note| note.method.to_string()).collect();
    methods.sort();
    assert_eq!(methods, ["notifications/message", "notifications/resources/updated"]);
    assert_eq!((met.record.count("logging/setLevel"), met.record.count("resources/subscribe")), (2, 2));
    drop(subscription);
    met.record.wait_for_method("resources/unsubscribe", PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_lost_every_time_is_not_made_anew_for_ever() {
    let met = Way::HttpEvents.meet(server().fault(CALL, What::ForgetSessions)).await;
    let error = echo(&met).await.unwrap_err();
    assert_eq!(error, "the server has lost the session (HTTP 404)");
    assert_eq!((met.record.count("initialize"), met.record.count("tools/call")), (2, 2));
    let tools = met.client().list_tools().await.unwrap();
    assert_eq!(tools.entries.len(), 4, "the connection is still good for other calls");
}

#[tokio::test]
async fn an_error_that_names_the_call_is_its_answer_and_no_lost_session() {
    let body = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no such tool"}}"#;
    for code in [400, 404] {
        let answer = HttpAnswer::status(code).header("Content-Type", "application/json").body(body);
        let met = Way::HttpEvents.meet(server().fault(CALL, What::HttpStatus(answer))).await;
        assert_eq!(echo(&met).await.unwrap_err(), "no such tool (code -32602)");
        assert_eq!(met.record.count("initialize"), 1);
    }
}

#[tokio::test]
async fn a_refusal_that_does_not_speak_of_a_session_is_no_lost_session() {
    // What comes with status 400, and whether the call is made again in a new session.
    let rows = [
        ("your input is wrong", false),
        ("", false),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"your input is wrong"}}"#, false),
        ("Bad Request: No valid SESSION ID provided", true),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#,
            true,
        ),
    ];
    for (body, is_lost) in rows {
        let answer = What::HttpStatus(HttpAnswer::status(400).body(body));
        let met = Way::HttpEvents.meet(server().fault(CALL.nth(1), answer)).await;
        let ended = echo(&met).await;
        let times = if is_lost { 2 } else { 1 };
        assert_eq!((met.record.count("initialize"), met.record.count("tools/call")), (times, times), "{body}");
        match ended {
            Ok(said) => assert!(is_lost && said == "hi", "{body}: {said}"),
            Err(error) => assert!(!is_lost && (body.is_empty() || error.contains("your input is wrong")), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_session_over_http_and_sse_is_lost_when_its_address_is_not_known_any_more() {
    let forgotten = What::HttpStatus(HttpAnswer::status(404).body("Could not find session"));
    let script = server().versions(&["2024-11-05"]).fault(When::Post(3), forgotten);
    let met = Way::Sse.meet(script).await;
    let error = met.client().call_tool("echo", raw(json!({"message": "hi"}))).await.unwrap_err();
    assert!(matches!(error, Error::SessionLost(_)), "{error:?}");
    assert_eq!(met.side.heard().lost, ["the server has lost the session (HTTP 404)"]);
}

#[tokio::test]
async fn an_error_that_names_the_call_and_says_that_the_session_is_lost_is_one() {
    let errors =
        [(-32001, "Session not found"), (-32600, "Invalid session ID"), (-32000, "Bad Request: session expired")];
    for ((code, message), status) in errors.into_iter().flat_map(|error| [400, 404].map(|status| (error, status))) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":{code},"message":"{message}"}}}}"#);
        let answer = HttpAnswer::status(status).header("Content-Type", "application/json").body(body);
        let met = Way::HttpEvents.meet(server().fault(CALL.nth(1), What::HttpStatus(answer))).await;
        assert_eq!(echo(&met).await.as_deref(), Ok("hi"), "{status} {message}");
        assert_eq!((met.record.count("initialize"), met.record.count("tools/call")), (2, 2), "{status} {message}");
    }
}

#[tokio::test]
async fn a_call_given_up_in_the_last_moment_is_cancelled_at_the_server() {
    for way in [Way::Child, Way::HttpJson, Way::HttpEvents, Way::Sse] {
        let script = server().tool(ToolScript::new("never", Behaviour::Never));
        let met = way.meet(script.http(|http| http.sessions = Sessions::Absent)).await;
        let arguments = raw(json!({}));
        let mut call = Box::pin(met.client().call_tool("never", arguments));
        tokio::select! {
            ended = &mut call => panic!("{way:?}: {ended:?}"),
            arrived = met.record.wait_for_method("tools/call", PATIENCE) => drop(arrived.unwrap()),
        }
        drop(call);
        within("closing", met.client().close()).await;
        assert_eq!(met.record.count("notifications/cancelled"), 1, "{way:?}: it is told before the connection ends");
    }
}

#[tokio::test]
async fn the_session_is_ended_once_on_close_and_on_drop() {
    let deletes = |met: &Met| met.record.requests().into_iter().filter(|request| request.method == "DELETE").count();
    let closed = Way::HttpEvents.meet(server()).await;
    closed.client().close().await;
    assert_eq!(deletes(&closed), 1);
    let mut dropped = Way::HttpEvents.meet(server()).await;
    drop(std::mem::replace(&mut dropped.connected, Err(closed.client().peer().close_reason().unwrap())));
    dropped.record.wait_for_event(|event| matches!(event, Event::SessionDeleted { .. }), PATIENCE).await.unwrap();
    drop(closed.connected);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(
        (deletes(&dropped), closed.record.requests().iter().filter(|request| request.method == "DELETE").count()),
        (1, 1)
    );
    // A server that will not hear of it does not hold us up.
    for fault in [What::HttpStatus(HttpAnswer::status(405)), What::Stall, What::Reset] {
        let met = Way::HttpEvents.meet(server().fault(When::Delete, fault)).await;
        within("closing", met.client().close()).await;
        assert_eq!(deletes(&met), 1);
    }
}

#[tokio::test]
async fn servers_without_sessions_or_without_a_stream_of_their_own_work_too() {
    let without_sessions = Way::HttpEvents.meet(server().http(|http| http.sessions = Sessions::Absent)).await;
    assert_eq!(echo(&without_sessions).await.as_deref(), Ok("hi"));
    without_sessions.client().close().await;
    assert!(without_sessions.record.requests().iter().all(|request| request.method != "DELETE"));
    let without_stream = Way::HttpEvents.meet(server().http(|http| http.get_stream = GetStream::Refused)).await;
    assert_eq!(echo(&without_stream).await.as_deref(), Ok("hi"));
    assert_eq!(
        without_stream.record.requests().iter().filter(|request| request.method == "GET").count(),
        1,
        "asked for once"
    );
}

/// The GETs that resume a stream: what they name, and when they came.
fn resumptions(met: &Met) -> Vec<String> {
    let requests = met.record.requests();
    requests.iter().filter_map(|request| request.header("last-event-id").map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_stream_that_ends_before_its_answer_is_resumed_after_the_time_the_server_asks_for() {
    for retry_ms in [40, 700] {
        let met =
            Way::HttpEvents.meet(server().fault(CALL, What::CloseAfterPriming { retry_ms: Some(retry_ms) })).await;
        let started = Instant::now();
        assert_eq!(echo(&met).await.as_deref(), Ok("hi"));
        assert!(started.elapsed() >= Duration::from_millis(retry_ms), "the server asked for {retry_ms} ms");
        assert_eq!(resumptions(&met).len(), 1);
        assert_eq!(
            (met.record.count("tools/call"), met.client().peer().tally().total()),
            (1, 0),
            "the call is not repeated"
        );
    }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_of_the_news_is_resumed_where_it_broke() {
    let script = server().http(|http| http.priming = Priming::Retry(20)).fault(CALL.after_bytes(25), What::Reset);
    let met = Way::HttpEvents.meet(script).await;
    let steps = Arc::new(Mutex::new(Vec::new()));
    let written = steps.clone();
    let call = Call::tool("steps", &raw(json!({}))).on_progress(move |note| {
        let params: Value = note.params.as_ref().unwrap().read().unwrap();
        written.lock().unwrap().push(params["progress"].as_f64().unwrap());
    });
    let result = within("the resumed call", met.client().finish_tool_call(call)).await.unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!(*steps.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0], "none lost, none twice");
    assert_eq!((resumptions(&met).len(), met.record.count("tools/call")), (1, 1));
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_says_so() {
    let cut = server().fault(CALL.after_bytes(25), What::Reset);
    let gone = server().fault(CALL, What::CloseAfterPriming { retry_ms: Some(10) });
    let refused = HttpAnswer::status(405);
    let rows = [
        ("no event had an id", Way::HttpEvents, cut.clone(), "the stream ended before the answer"),
        (
            "2026-07-28 has no resumption",
            Way::HttpEvents,
            cut.versions(&["2026-07-28"]),
            "the stream ended before the answer",
        ),
        (
            "resuming is refused",
            Way::HttpEvents,
            gone.clone().fault(When::Get(2), What::HttpStatus(refused)),
            "resuming it gave HTTP 405",
        ),
        (
            "the session is lost meanwhile",
            Way::HttpEvents,
            gone.clone().fault(When::Get(2), What::HttpStatus(HttpAnswer::status(404))),
            "the server has lost the session (HTTP 404",
        ),
        (
            "resuming never works",
            Way::HttpEvents,
            (2..12).fold(gone, |script, nth| script.fault(When::Get(nth), What::HttpStatus(HttpAnswer::status(503)))),
            "gave up after 5 attempts",
        ),
    ];
    for (name, way, script, expected) in rows {
        let met = way.meet(script).await;
        let error = echo(&met).await.unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(error.contains(&met.http().url()), "{name}: {error}");
        assert_eq!(met.record.count("tools/call"), 1, "{name}: what was accepted is not repeated");
    }
}

#[tokio::test]
async fn the_stream_of_unasked_news_is_opened_again_when_it_could_not_be_opened() {
    let met = Way::HttpEvents.meet(server().fault(When::Get(1), What::HttpStatus(HttpAnswer::status(503)))).await;
    let gets = async {
        while met.record.requests().iter().filter(|request| request.method == "GET").count() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within("the stream to be opened again", gets).await;
    met.http().change(&Change::AddTool(ToolScript::text("late", "late")));
    met.side.wait_until("the news", |heard| !heard.notifications.is_empty()).await;
    assert_eq!(met.side.notified(), ["notifications/tools/list_changed"]);
}

/// A server whose stream of news ends at once, and that refuses to open it again in these ways.
async fn with_broken_news(refusals: &[u16]) -> Met {
    let refused = |script: Script, (at, status): (u32, &u16)| {
        script.fault(When::Get(at), What::HttpStatus(HttpAnswer::status(*status)))
    };
    let ends = HttpAnswer::status(200).header("Content-Type", "text/event-stream").body("retry: 10\ndata:\n\n");
    let script = server().fault(When::Get(1), What::HttpStatus(ends));
    Way::HttpEvents.meet((2..).zip(refusals).fold(script, refused)).await
}

#[tokio::test]
async fn the_stream_of_unasked_news_is_opened_again_until_the_last_attempt() {
    let met = with_broken_news(&[503, 429, 401, 409]).await;
    let gets = || met.record.requests().iter().filter(|request| request.method == "GET").count();
    let opened = async {
        while gets() < 6 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within("the stream to be opened again", opened).await;
    met.http().change(&Change::AddTool(ToolScript::text("late", "late")));
    met.side.wait_until("the news", |heard| !heard.notifications.is_empty()).await;
    assert_eq!((met.side.heard().lost, gets()), (vec![], 6));
}

#[tokio::test]
async fn a_server_whose_stream_of_unasked_news_cannot_be_opened_again_is_lost() {
    for status in [500, 503, 429, 409, 401] {
        let met = with_broken_news(&[status; 5]).await;
        let heard = met.side.wait_until("the loss", |heard| !heard.lost.is_empty()).await;
        assert!(heard.lost[0].contains(&format!("HTTP {status}")), "{:?}", heard.lost);
    }
}
