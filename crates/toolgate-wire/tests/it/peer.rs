//! Two peers joined by an in-process pair or by a byte pipe: order, cancellation, time limits, back-pressure,
//! batches, and that nothing stays behind.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use toolgate_wire::limits::OUTBOX_BYTES_MAX;
use toolgate_wire::transport::{pair, stream};
use toolgate_wire::{Call, Error, Handler, Incoming, Notification, Origin, Peer, RawJson, RpcError, Tap};

use crate::support::{Census, raw, within};

/// How two peers are joined.
#[derive(Clone, Copy, Debug)]
enum Join {
    Pair,
    Pipe,
}

const JOINS: [Join; 2] = [Join::Pair, Join::Pipe];

/// The bytes a pipe holds: less than one large message, so that it fills up.
const PIPE_BYTES: usize = 16 * 1024;

impl Join {
    fn connect(self, left: Arc<Desk>, right: Arc<Desk>, tap: Option<Tap>) -> (Peer, Peer) {
        match self {
            Self::Pair => {
                let (one, other) = pair::pair();
                (Peer::start(left, tap, one.open()), Peer::start(right, None, other.open()))
            }
            Self::Pipe => {
                let (one, other) = tokio::io::duplex(PIPE_BYTES);
                let ((one_read, one_write), (other_read, other_write)) =
                    (tokio::io::split(one), tokio::io::split(other));
                (
                    Peer::start(left, tap, stream::open(one_read, one_write)),
                    Peer::start(right, None, stream::open(other_read, other_write)),
                )
            }
        }
    }

    fn plain(self) -> (Peer, Peer, Arc<Desk>) {
        let desk = Arc::new(Desk::default());
        let (left, right) = self.connect(Arc::default(), desk.clone(), None);
        (left, right, desk)
    }
}

/// Answers a few methods and writes down what it hears.
#[derive(Default)]
struct Desk {
    heard: Arc<Mutex<Vec<String>>>,
    dropped: Arc<AtomicUsize>,
    news: Arc<Notify>,
}

impl Desk {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    async fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let news = self.news.notified();
                if is_so(self) {
                    return;
                }
                news.await;
            }
        };
        within(what, waiting).await;
    }
}

/// Tells when a handler's future is dropped before its end.
struct Unfinished {
    dropped: Arc<AtomicUsize>,
    news: Arc<Notify>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
        self.news.notify_waiters();
    }
}

impl Handler for Desk {
    fn request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        assert!(incoming.request.method != "panic at once", "as it was asked to");
        let unfinished = Unfinished { dropped: self.dropped.clone(), news: self.news.clone() };
        Box::pin(async move {
            let params = incoming.params();
            let number = |key: &str| params.member(key).and_then(|value| value.read::<u64>().ok()).unwrap_or_default();
            match &*incoming.request.method {
                "echo" => {}
                "progress" => {
                    for step in 1..=number("count") {
                        if number("every_ms") > 0 {
                            tokio::time::sleep(Duration::from_millis(number("every_ms"))).await;
                        }
                        let params = json!({"progressToken": number("token"), "progress": step});
                        incoming.notify(Notification::new("notifications/progress", Some(params.into()))).await?;
                        incoming.notify(Notification::new("news", Some(json!(step).into()))).await?;
                    }
                }
                "panic" => panic!("as it was asked to"),
                "panic later" => {
                    tokio::task::yield_now().await;
                    panic!("as it was asked to");
                }
                "back" => {
                    incoming.call(Call::new("echo", Some(params.clone()))).await?;
                }
                _ => std::future::pending::<()>().await,
            }
            std::mem::forget(unfinished);
            Ok(params)
        })
    }

    fn notification(&self, notification: Notification, _: Origin) {
        assert!(notification.method != "panic", "as it was asked to");
        let params = notification.params.unwrap_or(RawJson::NULL);
        self.heard.lock().unwrap().push(format!("{} {params}", notification.method));
        self.news.notify_waiters();
    }

    fn closed(&self, why: &Error) {
        self.heard.lock().unwrap().push(why.to_string());
        self.news.notify_waiters();
    }
}

/// A call of `progress`, and where its steps are written down.
fn progress_call(peer: &Peer, count: u64, every_ms: u64) -> (Call, Arc<Mutex<Vec<u64>>>) {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let id = peer.next_call_id();
    let params = json!({"count": count, "every_ms": every_ms, "token": id});
    let written = steps.clone();
    let call = Call::new("progress", Some(params.into())).id(id).on_progress(move |note| {
        let step = note.params.as_ref().and_then(|params| params.member("progress")).unwrap();
        written.lock().unwrap().push(step.read().unwrap());
    });
    (call, steps)
}

/// 500 progress messages and 500 others, then the answer: all in order, all before the answer. In 30 runs.
async fn check_order(join: Join) {
    for run in 0..30 {
        let desk = Arc::new(Desk::default());
        let (left, _right) = join.connect(desk.clone(), Arc::default(), None);
        let (call, steps) = progress_call(&left, 500, 0);
        within("the answer after 500 notifications", left.call(call)).await.unwrap();
        let (steps, heard) = (steps.lock().unwrap().clone(), desk.heard());
        assert_eq!(steps, (1..=500).collect::<Vec<_>>(), "run {run} over {join:?}");
        assert_eq!(heard, (1..=500).map(|step| format!("news {step}")).collect::<Vec<_>>(), "run {run} over {join:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finding_6_notifications_arrive_in_order_and_before_the_answer() {
    for join in JOINS {
        check_order(join).await;
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_its_handler_dropped() {
    for join in JOINS {
        let (left, _right, desk) = join.plain();
        let giving_up = tokio::time::timeout(Duration::from_millis(50), left.call(Call::new("wait", None))).await;
        assert!(giving_up.is_err());
        desk.wait_until("the handler to be dropped", |desk| desk.dropped.load(Ordering::SeqCst) == 1).await;
        assert_eq!(
            desk.heard(),
            [r#"notifications/cancelled {"requestId":1,"reason":"the caller gave up"}"#],
            "{join:?}"
        );
        assert_eq!(left.call(Call::new("echo", Some(raw(json!({"k": 1}))))).await.unwrap().as_str(), r#"{"k":1}"#);
    }
}

#[tokio::test(start_paused = true)]
async fn the_idle_limit_is_reset_by_progress_and_the_total_limit_is_not() {
    let ms = Duration::from_millis;
    // Progress every 40 ms, ten times: idle limit, total limit, outcome.
    let cases = [
        (ms(100), ms(10_000), "ok"),
        (ms(30), ms(10_000), "`progress` timed out: no answer or progress within 30ms"),
        (ms(100), ms(200), "`progress` timed out: no answer within 200ms"),
    ];
    for (join, (idle, total, expected)) in JOINS.into_iter().flat_map(|join| cases.map(|case| (join, case))) {
        let (left, _right, desk) = join.plain();
        let (call, _) = progress_call(&left, 10, 40);
        let outcome = left.call(call.idle_limit(idle).total_limit(total)).await;
        let outcome = outcome.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
        assert_eq!(outcome, expected, "{join:?}");
        if expected != "ok" {
            desk.wait_until("the handler to be dropped", |desk| desk.dropped.load(Ordering::SeqCst) == 1).await;
            assert_eq!(
                desk.heard(),
                [r#"notifications/cancelled {"requestId":1,"reason":"the time limit was reached"}"#],
                "{join:?}"
            );
        }
    }
}

#[tokio::test]
async fn both_sides_ask_and_answer_at_once() {
    for join in JOINS {
        let (left, right) = join.connect(Arc::default(), Arc::default(), None);
        let calls = (0..200).map(|n| {
            let peer = if n % 2 == 0 { &left } else { &right };
            let params = raw(json!({"n": n, "filler": "x".repeat(1000)}));
            async move { assert_eq!(peer.call(Call::new("back", Some(params.clone()))).await.unwrap(), params) }
        });
        within("calls in both directions", join_all(calls)).await;
        assert_eq!((left.tally().total(), right.tally().total()), (0, 0));
    }
}

#[tokio::test]
async fn a_handler_that_panics_harms_nobody_else() {
    for join in JOINS {
        let (left, _right, _) = join.plain();
        for method in ["panic at once", "panic", "panic later"] {
            let error = within(method, left.call(Call::new(method, None))).await.unwrap_err();
            assert_eq!(error.to_string(), "the handler panicked (code -32603)", "{join:?}: {method}");
        }
        left.notify(Notification::new("panic", None)).await.unwrap();
        assert_eq!(
            within("the next call", left.call(Call::new("echo", None))).await.unwrap().as_str(),
            "{}",
            "{join:?}"
        );
    }
}

#[tokio::test]
async fn a_batch_travels_as_one_array_in_both_directions() {
    for join in JOINS {
        let frames = Arc::new(Mutex::new(Vec::new()));
        let shown = frames.clone();
        let tap: Tap = Arc::new(move |direction, bytes| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            shown.lock().unwrap().push(format!("{direction:?} {}", text.chars().take(1).collect::<String>()));
        });
        let (left, right) = join.connect(Arc::default(), Arc::default(), Some(tap));
        for peer in [&left, &right] {
            let calls = (0..3).map(|n| Call::new("echo", Some(raw(json!({"n": n}))))).collect();
            let answers = within("a batch", peer.call_batch(calls)).await.unwrap();
            let answers: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().to_string()).collect();
            assert_eq!(answers, [r#"{"n":0}"#, r#"{"n":1}"#, r#"{"n":2}"#]);
        }
        assert_eq!(*frames.lock().unwrap(), ["Sent [", "Received [", "Received [", "Sent ["], "{join:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn senders_wait_for_a_side_that_does_not_read() {
    const SIZE: usize = 64 * 1024;
    const COUNT: usize = 200;
    let (ours, mut theirs) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(ours);
    let peer = Peer::start(Arc::<Desk>::default(), None, stream::open(read, write));
    let sent = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (0..COUNT)
        .map(|_| {
            let (peer, sent) = (peer.clone(), sent.clone());
            tokio::spawn(async move {
                peer.notify(Notification::new("n", Some(RawJson::string(&"x".repeat(SIZE))))).await.unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // What is being written, and what waits beside it: each at most one message over the limit.
    let bound = 2 * (OUTBOX_BYTES_MAX + SIZE) / SIZE;
    let accepted = sent.load(Ordering::SeqCst);
    assert!(accepted > 0 && accepted <= bound, "{accepted} messages were accepted, at most {bound} may be");
    let slow = peer.call(Call::new("x", None).idle_limit(Duration::from_millis(100))).await.unwrap_err();
    assert!(slow.to_string().contains("timed out"), "waiting for room counts: {slow}");
    let reading = tokio::spawn(async move {
        let (mut buffer, mut lines) = (vec![0; SIZE], 0);
        while lines < COUNT {
            let size = theirs.read(&mut buffer).await.unwrap();
            lines += buffer[..size].iter().filter(|byte| **byte == b'\n').count();
        }
    });
    within("all messages to arrive once they are read", join_all(senders)).await;
    within("the reader", reading).await.unwrap();
}

#[tokio::test]
async fn closing_says_why_on_both_sides() {
    for join in JOINS {
        let (left_desk, right_desk) = (Arc::new(Desk::default()), Arc::new(Desk::default()));
        let (left, right) = join.connect(left_desk.clone(), right_desk.clone(), None);
        let waiting = tokio::spawn({
            let right = right.clone();
            async move { right.call(Call::new("wait", None)).await }
        });
        left.call(Call::new("echo", None)).await.unwrap();
        within("closing", left.close()).await;
        let error = within("the waiting call", waiting).await.unwrap().unwrap_err();
        assert!(error.is_closed() && error.to_string().contains("the other side closed the"), "{join:?}: {error}");
        assert_eq!(left.closed().await.to_string(), "connection closed: closed by this side");
        let after = left.call(Call::new("echo", None)).await.unwrap_err();
        assert_eq!(after.to_string(), "connection closed: closed by this side", "{join:?}");
        assert_eq!(right_desk.heard(), [error.to_string()], "{join:?}");
        assert_eq!(left_desk.heard(), ["connection closed: closed by this side"], "{join:?}");
        left_desk
            .wait_until("what ran for the other side to be dropped", |desk| desk.dropped.load(Ordering::SeqCst) == 1)
            .await;
    }
}

#[tokio::test]
async fn everything_sent_before_closing_is_written() {
    for join in JOINS {
        let desk = Arc::new(Desk::default());
        let (left, _right) = join.connect(Arc::default(), desk.clone(), None);
        for step in 0..300 {
            left.notify(Notification::new("news", Some(raw(json!(step))))).await.unwrap();
        }
        left.close().await;
        desk.wait_until("the last word", |desk| desk.heard().last().is_some_and(|last| last.contains("closed"))).await;
        assert_eq!(desk.heard().len(), 301, "{join:?}");
    }
}

#[tokio::test]
async fn nothing_stays_behind() {
    let before = Census::take();
    for round in 0..50 {
        for join in JOINS {
            let (left, right, _) = join.plain();
            let waiting = tokio::spawn({
                let left = left.clone();
                async move { left.call(Call::new("wait", None)).await }
            });
            left.call(Call::new("back", None)).await.unwrap();
            if round % 2 == 0 {
                left.close().await;
            }
            drop((left, right));
            waiting.abort();
        }
    }
    before.expect_no_more("fifty connections of each kind").await;
}

/// Counts writes.
struct Counting<W>(W, Arc<AtomicUsize>);

impl<W: AsyncWrite + Unpin> AsyncWrite for Counting<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn what_many_callers_send_at_once_is_written_at_once() {
    let writes = Arc::new(AtomicUsize::new(0));
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(ours);
    let (mut their_read, mut their_write) = tokio::io::split(theirs);
    let peer = Peer::start(Arc::<Desk>::default(), None, stream::open(read, Counting(write, writes.clone())));
    let calls = join_all((0..1000).map(|_| peer.call(Call::new("x", None))));
    let answering = async {
        let (mut asked, mut buffer) = (0, vec![0; 1 << 20]);
        while asked < 1000 {
            let size = their_read.read(&mut buffer).await.unwrap();
            asked += buffer[..size].iter().filter(|byte| **byte == b'\n').count();
        }
        for id in 1..=1000 {
            their_write
                .write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{id}}}\n").as_bytes())
                .await
                .unwrap();
        }
    };
    let (answers, ()) = within("a thousand calls", futures_util::future::join(calls, answering)).await;
    assert!(answers.iter().all(Result::is_ok));
    let writes = writes.load(Ordering::SeqCst);
    assert!(writes <= 10, "a thousand requests took {writes} writes");
}
