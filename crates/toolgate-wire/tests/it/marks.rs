//! Whether a call can have left: told over every transport, for calls that are answered, lost, refused, and never sent.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolgate_testkit::{HttpAnswer, Script, What};
use toolgate_wire::limits::OUTBOX_BYTES_MAX;
use toolgate_wire::transport::{pair, stream};
use toolgate_wire::{Call, Error, Handler, Incoming, Notification, Origin, Peer, RawJson, RpcError, SendMark};

use crate::demo::{CALL, legacy, modern};
use crate::support::{Way, raw, within};

async fn call(way: Way, script: Script, close_first: bool) -> (Result<RawJson, Error>, bool) {
    let met = way.meet(script).await;
    let mark = SendMark::default();
    let call = Call::tool("echo", &raw(json!({"message": "hi"}))).mark(&mark);
    assert!(!mark.is_sent());
    if close_first {
        met.client().close().await;
    }
    let result = within("the call", met.client().request(call)).await;
    (result, mark.is_sent())
}

#[tokio::test]
async fn a_mark_is_set_over_every_transport_when_the_call_can_have_left() {
    for way in Way::ALL {
        let script = || if way == Way::Sse { legacy().versions(&["2024-11-05"]) } else { legacy() };
        let (answer, sent) = call(way, script(), false).await;
        assert!(answer.is_ok() && sent, "answered over {way:?}: {answer:?}");
        let (lost, sent) = call(way, script().fault(CALL, What::Reset), false).await;
        assert!(lost.is_err() && sent, "lost over {way:?}: {lost:?}");
        assert!(!lost.unwrap_err().was_refused_unseen(), "over {way:?}");
        let (refused, sent) = call(way, script(), true).await;
        assert!(refused.is_err() && !sent, "closed before the call over {way:?}: {refused:?}");
    }
    for way in [Way::HttpJson, Way::HttpEvents] {
        let (answer, sent) = call(way, modern(), false).await;
        assert!(answer.is_ok() && sent, "answered over modern {way:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_from_an_execution() {
    let status = |code| What::HttpStatus(HttpAnswer::status(code));
    let rows = [
        ("login needed", modern().fault(CALL, status(401)), true),
        ("an error of the server", modern().fault(CALL, status(500)), false),
        ("not found, and no session to lose", modern().fault(CALL, status(404)), false),
    ];
    for (name, script, expected) in rows {
        let (result, sent) = call(Way::HttpJson, script, false).await;
        let error = result.unwrap_err();
        assert_eq!((sent, error.was_refused_unseen()), (true, expected), "{name}: {error}");
    }
}

struct Nobody;

impl Handler for Nobody {
    fn request(&self, _: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        async { Err(RpcError::method_not_found("any")) }.boxed()
    }

    fn notification(&self, _: Notification, _: Origin) {}
}

/// Starts a call, and lets it come as far as it can.
async fn begin(peer: &Peer, call: Call) -> (tokio::task::JoinHandle<Result<RawJson, Error>>, SendMark) {
    let mark = SendMark::default();
    let (peer, call) = (peer.clone(), call.mark(&mark));
    let calling = tokio::spawn(async move { peer.call(call).await });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    (calling, mark)
}

fn large(method: &'static str) -> Call {
    Call::new(method, Some(raw(json!({"text": "x".repeat(OUTBOX_BYTES_MAX)}))))
}

/// A peer whose other side holds the other end of a small pipe and reads nothing yet.
fn stuck() -> (Peer, tokio::io::DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(64);
    let (read, write) = tokio::io::split(ours);
    (Peer::start(Arc::new(Nobody), None, stream::open(read, write)), theirs)
}

#[tokio::test]
async fn what_waits_in_the_outbox_when_the_stream_ends_was_not_sent() {
    for closed_by_us in [false, true] {
        let (peer, theirs) = stuck();
        let (first, leaving) = begin(&peer, large("first")).await;
        let (second, waiting) = begin(&peer, large("second")).await;
        let (third, without_room) = begin(&peer, Call::new("third", None)).await;
        let sent = || [&leaving, &waiting, &without_room].map(|mark| mark.is_sent());
        assert_eq!(sent(), [true, false, false]);
        let closing = if closed_by_us {
            let peer = peer.clone();
            Some((tokio::spawn(async move { peer.close().await }), theirs))
        } else {
            drop(theirs);
            None
        };
        for call in [first, second, third] {
            assert!(within("the call to fail", call).await.unwrap().unwrap_err().is_closed());
        }
        assert_eq!(sent(), [true, false, false], "closed by us: {closed_by_us}");
        if let Some((closing, theirs)) = closing {
            let mut lines = BufReader::new(theirs).lines();
            let line = within("what was leaving", lines.next_line()).await.unwrap().unwrap();
            assert!(line.contains("first"));
            assert_eq!(within("the end", lines.next_line()).await.unwrap(), None, "nothing leaves after the end");
            closing.await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_in_the_outbox_never_leaves() {
    let (peer, theirs) = stuck();
    let (_first, _) = begin(&peer, large("first")).await;
    let (second, dropped) = begin(&peer, Call::new("second", None)).await;
    let (third, timed_out) = begin(&peer, large("third").total_limit(Duration::from_millis(1))).await;
    let (_fourth, kept) = begin(&peer, Call::new("fourth", None)).await;
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    assert!(matches!(third.await.unwrap(), Err(Error::TimedOut { .. })));
    assert!(!dropped.is_sent() && !timed_out.is_sent() && !kept.is_sent());
    let mut lines = BufReader::new(theirs).lines();
    for expected in ["first", "fourth"] {
        let line = within("a line", lines.next_line()).await.unwrap().unwrap();
        assert!(line.contains(expected), "{}", line.chars().take(100).collect::<String>());
    }
    assert!(!dropped.is_sent() && !timed_out.is_sent() && kept.is_sent());
}

#[tokio::test]
async fn a_pair_takes_a_call_when_it_is_handed_over() {
    let (ours, theirs) = pair::pair();
    let peer = Peer::start(Arc::new(Nobody), None, ours.open());
    let (_first, handed_over) = begin(&peer, Call::new("first", None)).await;
    assert!(handed_over.is_sent());
    drop(theirs);
    peer.closed().await;
    let (second, refused) = begin(&peer, Call::new("second", None)).await;
    assert!(second.await.unwrap().is_err() && !refused.is_sent());
}
