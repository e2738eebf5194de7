//! Behaviour of the peer, frame by frame: a link that writes down what is sent, and frames delivered by hand.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::json;

use super::*;
use crate::limits::RUNNING_REQUESTS_MAX;

/// Writes down what is sent. Without room, what is sent waits.
#[derive(Default)]
struct Notebook {
    sent: Mutex<Vec<String>>,
    is_full: Mutex<bool>,
    room: Notify,
}

impl Link for Notebook {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut outgoing = Some(outgoing);
            loop {
                let room = self.room.notified();
                outgoing = outgoing.and_then(|outgoing| self.try_send(outgoing));
                if outgoing.is_none() {
                    return Ok(());
                }
                room.await;
            }
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        if *lock(&self.is_full) {
            return Some(outgoing);
        }
        outgoing.begins_to_leave();
        lock(&self.sent).push(String::from_utf8(outgoing.to_bytes().to_vec()).unwrap());
        None
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

impl Notebook {
    fn sent(&self) -> Vec<String> {
        lock(&self.sent).clone()
    }

    fn make_room(&self) {
        *lock(&self.is_full) = false;
        self.room.notify_waiters();
    }
}

/// Answers `echo` at once, `later` after a moment, and everything else never.
#[derive(Default)]
struct Desk {
    heard: Mutex<Vec<String>>,
    given_up: Arc<AtomicUsize>,
}

struct GivenUp(Arc<AtomicUsize>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Handler for Desk {
    fn request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let given_up = GivenUp(self.given_up.clone());
        Box::pin(async move {
            match &*incoming.request.method {
                "echo" => {}
                "later" => tokio::task::yield_now().await,
                _ => std::future::pending().await,
            }
            std::mem::forget(given_up);
            Ok(incoming.params())
        })
    }

    fn notification(&self, notification: Notification, _: Origin) {
        lock(&self.heard).push(notification.method.to_string());
    }

    fn defect(&self, defect: &Defect) {
        lock(&self.heard).push(format!("{:?}", defect.kind));
    }

    fn closed(&self, why: &Error) {
        lock(&self.heard).push(format!("closed: {why}"));
    }
}

struct Bench {
    peer: Peer,
    desk: Arc<Desk>,
    notebook: Arc<Notebook>,
}

fn bench() -> Bench {
    let (desk, notebook) = (Arc::new(Desk::default()), Arc::new(Notebook::default()));
    let peer = Peer::start(desk.clone(), None, |_| notebook.clone());
    Bench { peer, desk, notebook }
}

impl Bench {
    fn arrives(&self, frame: &str) {
        self.peer.inbound().frame(&Bytes::copy_from_slice(frame.as_bytes()), &[]);
    }

    fn heard(&self) -> Vec<String> {
        lock(&self.desk.heard).clone()
    }

    fn given_up(&self) -> usize {
        self.desk.given_up.load(Ordering::SeqCst)
    }

    /// A call that was sent and waits. Its id is the number of calls so far.
    fn start_call(&self) -> tokio::task::JoinHandle<Result<RawJson>> {
        let peer = self.peer.clone();
        tokio::spawn(async move { peer.call(Call::new("x", None)).await })
    }
}

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn answers_nobody_waits_for_are_counted_and_harmless() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, DefectKind::LateResponse),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, DefectKind::UnknownId),
        (r#"{"jsonrpc":"2.0","id":"never sent","result":{}}"#, DefectKind::UnknownId),
        (r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}"#, DefectKind::WithoutId),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#, DefectKind::WithoutId),
        (r#"{"jsonrpc":"2.0","result":{}}"#, DefectKind::WithoutId),
        (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, DefectKind::NotAMessage),
        ("{}", DefectKind::NotAMessage),
        ("[]", DefectKind::NotAMessage),
        ("Listening on port 3000", DefectKind::NotJson),
        (r#"{"jsonrpc":"2.0","method":"#, DefectKind::NotJson),
    ];
    for (frame, expected) in cases {
        let bench = bench();
        let answered = bench.start_call();
        settle().await;
        bench.arrives(r#"{"jsonrpc":"2.0","id":1,"result":"first"}"#);
        let waiting = bench.start_call();
        settle().await;
        bench.arrives(frame);
        assert_eq!(bench.peer.tally().of(expected), 1, "{frame}: {:?}", bench.peer.tally());
        assert_eq!(bench.peer.tally().total(), 1, "{frame}");
        assert_eq!(bench.heard(), [format!("{expected:?}")], "{frame}");
        bench.arrives(r#"{"jsonrpc":"2.0","id":2,"result":"second"}"#);
        assert_eq!(answered.await.unwrap().unwrap().as_str(), "\"first\"", "{frame}");
        assert_eq!(waiting.await.unwrap().unwrap().as_str(), "\"second\"", "{frame}");
    }
}

#[tokio::test]
async fn on_the_stream_of_a_call_nobody_else_is_answered() {
    let frames = [
        (r#"{"jsonrpc":"2.0","id":2,"result":"of another"}"#, DefectKind::UnknownId),
        (r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}"#, DefectKind::UnknownId),
        (r#"{"jsonrpc":"2.0","id":2,"result":{"text":"cut"#, DefectKind::NotJson),
        (r#"[{"jsonrpc":"2.0","id":2,"result":"of another"}]"#, DefectKind::UnknownId),
    ];
    for (frame, expected) in frames {
        let bench = bench();
        let calls = [bench.start_call(), bench.start_call()];
        settle().await;
        let on_stream_of = |call: u64, frame: &str| {
            bench.peer.inbound().frame(&Bytes::copy_from_slice(frame.as_bytes()), &[call]);
        };
        on_stream_of(1, frame);
        assert_eq!((bench.peer.tally().of(expected), bench.peer.tally().total()), (1, 1), "{frame}");
        on_stream_of(2, r#"{"jsonrpc":"2.0","id":2,"result":"its own"}"#);
        on_stream_of(1, r#"{"jsonrpc":"2.0","id":1,"result":"its own"}"#);
        for answer in join_all(calls).await {
            assert_eq!(answer.unwrap().unwrap().as_str(), "\"its own\"", "{frame}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_idle_while_its_server_waits_for_an_answer_of_ours() {
    let idle = Duration::from_secs(10);
    // How long the question of the server stays open, whether the call may take that long in all, and how long it lasts.
    for (asked, total, lasts) in [(0, 1_000, 10), (25, 1_000, 35), (95, 1_000, 105), (95, 60, 60)] {
        let bench = bench();
        let call = Call::new("x", None).idle_limit(idle).total_limit(Duration::from_secs(total));
        let started = tokio::time::Instant::now();
        let mut waiting = Box::pin(bench.peer.call(call));
        assert!((&mut waiting).now_or_never().is_none());
        if asked > 0 {
            bench.arrives(r#"{"jsonrpc":"2.0","id":"q","method":"never"}"#);
        }
        let answered = async {
            tokio::time::sleep(Duration::from_secs(asked)).await;
            bench.arrives(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = &mut waiting => assert!(matches!(ended, Err(Error::TimedOut { .. })), "{ended:?}"),
            () = answered => {}
        }
        assert_eq!(started.elapsed().as_secs(), lasts, "asked for {asked} s");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call() {
    let cases = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"text":"cut"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
        r#"{"result":{"text":"bad \x"},"id":1}"#,
    ];
    for frame in cases {
        let bench = bench();
        let waiting = bench.start_call();
        settle().await;
        bench.arrives(frame);
        let error = waiting.await.unwrap().unwrap_err().to_string();
        assert!(error.starts_with("unusable answer: "), "{frame}: {error}");
    }
}

#[tokio::test]
async fn ids_match_whatever_their_spelling_and_are_echoed_as_they_came() {
    for spelled in ["1", "\"1\"", "1.0"] {
        let bench = bench();
        let waiting = bench.start_call();
        settle().await;
        bench.arrives(&format!(r#"{{"jsonrpc":"2.0","id":{spelled},"result":7}}"#));
        assert_eq!(waiting.await.unwrap().unwrap().as_str(), "7", "{spelled}");
    }
    let bench = bench();
    for id in ["\"a\"", "-5", "12345678901234567890123", "1.50", "\"\""] {
        bench.arrives(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":{{"k":1e2}}}}"#));
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"k":1e2}}}}"#);
        assert_eq!(bench.notebook.sent().last(), Some(&expected));
    }
}

#[tokio::test]
async fn a_batch_is_answered_with_one_array() {
    let request = |id: u32, method: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    let note = r#"{"jsonrpc":"2.0","method":"n"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let both = format!("[{},{}]", answer(1), answer(2));
    let cases = [
        ("all at once", format!("[{},{note},{}]", request(1, "echo"), request(2, "echo")), vec![both.clone()]),
        ("some later", format!("[{},{}]", request(2, "later"), request(1, "echo")), vec![both]),
        ("one defect", format!("[{},5]", request(1, "echo")), vec![format!("[{}]", answer(1))]),
        (
            "one cancelled",
            format!("[{},{},{cancel}]", request(1, "echo"), request(2, "never")),
            vec![format!("[{}]", answer(1))],
        ),
        ("nothing asked", format!("[{note},{note}]"), vec![]),
    ];
    for (name, frame, expected) in cases {
        let bench = bench();
        bench.arrives(&frame);
        settle().await;
        assert_eq!(bench.notebook.sent(), expected, "{name}");
    }
}

#[tokio::test]
async fn a_batch_of_calls_is_one_array_and_takes_its_answers_in_any_form() {
    let one = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{id}}}"#);
    let answers =
        [vec![format!("[{},{}]", one(2), one(1))], vec![one(2), one(1)], vec![format!("[{}]", one(1)), one(2)]];
    for frames in answers {
        let bench = bench();
        let peer = bench.peer.clone();
        let waiting =
            tokio::spawn(async move { peer.call_batch(vec![Call::new("a", None), Call::new("b", None)]).await });
        settle().await;
        let expected = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]"#;
        assert_eq!(bench.notebook.sent(), [expected]);
        frames.iter().for_each(|frame| bench.arrives(frame));
        let answers = waiting.await.unwrap().unwrap();
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().to_string()).collect();
        assert_eq!(answers, ["1", "2"], "{frames:?}");
    }
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_and_not_answered() {
    let bench = bench();
    bench.arrives(r#"{"jsonrpc":"2.0","id":"job","method":"never"}"#);
    bench.arrives(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}"#);
    settle().await;
    assert_eq!(bench.given_up(), 0, "another request was meant");
    bench.arrives(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"job"}}"#);
    settle().await;
    assert_eq!(bench.given_up(), 1);
    assert_eq!(bench.notebook.sent(), Vec::<String>::new());
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_the_request_that_has_it_goes_on() {
    let bench = bench();
    bench.arrives(r#"{"jsonrpc":"2.0","id":1,"method":"never"}"#);
    bench.arrives(r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#);
    settle().await;
    let sent = bench.notebook.sent();
    assert!(sent.len() == 1 && sent[0].contains("-32600") && sent[0].contains("already in use"), "{sent:?}");
    assert_eq!(bench.given_up(), 0);
}

#[tokio::test]
async fn progress_goes_to_its_call_and_other_news_to_the_handler_before_the_answer() {
    let bench = bench();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = heard.clone();
    let call =
        Call::new("x", None).on_progress(move |note| lock(&hears).push(note.params.clone().unwrap().to_string()));
    let peer = bench.peer.clone();
    let waiting = tokio::spawn(async move { peer.call(call).await });
    settle().await;
    let progress = |token: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token}}}}}"#)
    };
    bench.arrives(&progress("1"));
    bench.arrives(&progress("\"1\""));
    bench.arrives(&progress("2"));
    bench.arrives(r#"{"jsonrpc":"2.0","method":"other"}"#);
    bench.arrives(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    bench.arrives(&progress("1"));
    waiting.await.unwrap().unwrap();
    assert_eq!(*lock(&heard), [r#"{"progressToken":1}"#, r#"{"progressToken":"1"}"#]);
    assert_eq!(
        bench.heard(),
        ["notifications/progress", "other", "notifications/progress"],
        "what belongs to no call is not lost"
    );
}

#[tokio::test]
async fn too_many_pending_calls_are_refused_by_name() {
    let bench = bench();
    let mut waiting: Vec<_> = (0..PENDING_CALLS_MAX).map(|_| Box::pin(bench.peer.call(Call::new("x", None)))).collect();
    for call in &mut waiting {
        assert!(call.as_mut().now_or_never().is_none());
    }
    let error = bench.peer.call(Call::new("x", None)).await.unwrap_err().to_string();
    assert!(error.contains("PENDING_CALLS_MAX = 16384"), "{error}");
    waiting.pop();
    let mut next = Box::pin(bench.peer.call(Call::new("x", None)));
    assert!(next.as_mut().now_or_never().is_none(), "a place is free again");
}

#[tokio::test]
async fn too_many_running_requests_are_refused_by_name() {
    let bench = bench();
    for id in 0..RUNNING_REQUESTS_MAX {
        bench.arrives(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"never"}}"#));
    }
    bench.arrives(r#"{"jsonrpc":"2.0","id":"more","method":"echo"}"#);
    let sent = bench.notebook.sent();
    assert!(sent.len() == 1 && sent[0].contains("RUNNING_REQUESTS_MAX") && sent[0].contains("\"more\""), "{sent:?}");
    bench.arrives(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    settle().await;
    bench.arrives(r#"{"jsonrpc":"2.0","id":"again","method":"echo"}"#);
    assert_eq!(bench.notebook.sent()[1], r#"{"jsonrpc":"2.0","id":"again","result":{}}"#);
}

#[tokio::test]
async fn answers_that_find_no_room_are_bounded() {
    let bench = bench();
    *lock(&bench.notebook.is_full) = true;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for id in 0..RUNNING_REQUESTS_MAX * 3 {
        bench.arrives(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo"}}"#));
    }
    settle().await;
    let held = 2 * RUNNING_REQUESTS_MAX;
    assert_eq!(tasks() - before, held, "answers and refusals that wait");
    bench.notebook.make_room();
    while tasks() > before {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.notebook.sent().len(), held);
    let unheard = bench.peer.tally().of(DefectKind::TooLarge);
    assert_eq!(unheard, (3 * RUNNING_REQUESTS_MAX - held) as u64, "what could not even be refused is counted");
}

#[tokio::test]
async fn closing_ends_everything_with_the_first_reason() {
    let bench = bench();
    let waiting: Vec<_> = (0..10).map(|_| bench.start_call()).collect();
    bench.arrives(r#"{"jsonrpc":"2.0","id":1,"method":"never"}"#);
    settle().await;
    let closed = bench.peer.clone();
    let closed = tokio::spawn(async move { closed.closed().await });
    settle().await;
    bench.peer.inbound().closed(&Error::closed("the cable was cut"));
    bench.peer.inbound().closed(&Error::closed("a later reason"));
    for answer in join_all(waiting).await {
        assert_eq!(answer.unwrap().unwrap_err().to_string(), "connection closed: the cable was cut");
    }
    settle().await;
    assert_eq!(bench.given_up(), 1);
    assert_eq!(bench.heard(), ["closed: connection closed: the cable was cut"]);
    assert_eq!(closed.await.unwrap().to_string(), "connection closed: the cable was cut");
    let after = bench.peer.call(Call::new("x", None)).await.unwrap_err();
    assert!(after.is_closed() && after.to_string().contains("the cable was cut"), "{after}");
    let note = bench.peer.notify(Notification::new("n", None)).await.unwrap_err();
    assert!(note.to_string().contains("the cable was cut"), "{note}");
}

#[tokio::test]
async fn a_call_given_up_is_cancelled_at_the_other_side_unless_it_is_a_handshake() {
    let bench = bench();
    let mut call = Box::pin(bench.peer.call(Call::new("x", None)));
    assert!(call.as_mut().now_or_never().is_none());
    drop(call);
    let expected = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "the caller gave up"}});
    let sent: serde_json::Value = serde_json::from_str(&bench.notebook.sent()[1]).unwrap();
    assert_eq!(sent, expected);
    let mut call = Box::pin(bench.peer.call(Call::new("initialize", None).silent_when_dropped()));
    assert!(call.as_mut().now_or_never().is_none());
    drop(call);
    assert_eq!(bench.notebook.sent().len(), 3, "the handshake is never cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_batch_ends_at_its_time_limit_and_is_cancelled() {
    let bench = bench();
    let limit = Duration::from_millis(50);
    let calls = vec![Call::new("a", None).idle_limit(limit), Call::new("b", None)];
    let error = bench.peer.call_batch(calls).await.unwrap_err().to_string();
    assert!(error.contains("`a` timed out") && error.contains("50ms"), "{error}");
    assert_eq!(bench.notebook.sent().iter().filter(|frame| frame.contains("notifications/cancelled")).count(), 2);
}

/// A transport may be quicker than the peer that is being made of it: its first frame must be answered all the same.
#[test]
fn a_frame_that_arrives_before_the_link_is_known_is_answered() {
    let notebook = Arc::new(Notebook::default());
    let link = notebook.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _inside = runtime.enter();
    let (_peer, delivered) = {
        let (told, delivered) = std::sync::mpsc::channel();
        let peer = Peer::start(Arc::new(Desk::default()), None, move |inbound| {
            let (started, has_started) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                started.send(()).unwrap();
                inbound.frame(&Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}"#), &[]);
                told.send(()).unwrap();
            });
            has_started.recv().unwrap();
            std::thread::sleep(Duration::from_millis(50)); // Long enough for the frame to be there first.
            link
        });
        (peer, delivered)
    };
    delivered.recv_timeout(Duration::from_secs(20)).expect("the frame is taken");
    assert_eq!(notebook.sent(), [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}
