//! What a command waits for from whoever brought it, and what becomes of that when they stop it or are gone.

use std::io::Read as _;
use std::sync::Arc;

use serde_json::json;
use toolgate::{Elicitation, ElicitationAnswer, ServerName};

use super::{Visit, World};
use crate::limits::SERVER_QUESTIONS_MAX;
use crate::runtime::frames::{ToClient, ToRuntime};
use crate::runtime::outbox::Outbox;
use crate::runtime::server_question::ServerQuestion;
use crate::terminal::Terminal;

fn visit() -> Arc<Visit> {
    let world = World {
        vars: std::collections::BTreeMap::new(),
        folder: "/".into(),
        terminal: Terminal::default(),
        talk_columns: 80,
    };
    Arc::new(Visit::new(world, Arc::new(Outbox::default()), Arc::default()))
}

fn question() -> (ServerName, Elicitation) {
    let schema = json!({"type": "object"}).into();
    (ServerName::new("one").unwrap(), Elicitation::Form { message: "Who?".to_owned(), schema })
}

/// What a command reads from stdin, when it is sent these pieces before the last thing happens.
async fn read(pieces: &[&str], last: impl AsyncFnOnce(&Visit)) -> std::io::Result<String> {
    let visit = visit();
    let mut stdin = visit.stdin();
    let reading = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        stdin.read_to_string(&mut text).map(|_| text)
    });
    for piece in pieces {
        visit.hear(ToRuntime::Stdin(piece.as_bytes().to_vec())).await;
    }
    last(&visit).await;
    reading.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stdin_ends_with_its_end_and_never_half_way() {
    let aborted = std::io::ErrorKind::ConnectionAborted;
    let many = ["x"; 40];
    assert_eq!(read(&many, async |visit| visit.hear(ToRuntime::StdinEnd(None)).await).await.unwrap(), "x".repeat(40));
    let broken = async |visit: &Visit| visit.hear(ToRuntime::StdinEnd(Some("broken".to_owned()))).await;
    assert_eq!(read(&["x"], broken).await.unwrap_err().to_string(), "broken");
    let interrupted = async |visit: &Visit| visit.hear(ToRuntime::Interrupt).await;
    assert_eq!(read(&["x"], interrupted).await.unwrap_err().kind(), aborted);
    assert_eq!(read(&[], async |visit| visit.stop()).await.unwrap_err().kind(), aborted);
}

#[tokio::test]
async fn stdin_that_nobody_asked_for_holds_nothing_up() {
    let visit = visit();
    for _ in 0..100 {
        visit.hear(ToRuntime::Stdin(vec![0; 1000])).await;
    }
    // Nor does it come later, to a command that was stopped.
    visit.stop();
    let mut stdin = visit.stdin();
    assert!(tokio::task::spawn_blocking(move || stdin.read(&mut [0])).await.unwrap().is_err());
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_is_answered_at_once() {
    let (server, asked) = question();
    let cancelled = |answer| assert!(matches!(answer, ElicitationAnswer::Cancel), "{answer:?}");
    let stopped = visit();
    stopped.stop();
    cancelled(stopped.answer_server(&server, asked.clone()).await);
    let gone = visit();
    gone.outbox.close();
    cancelled(gone.answer_server(&server, asked.clone()).await);
    let large = visit();
    let Elicitation::Form { schema, .. } = asked.clone() else { unreachable!() };
    let message = "x".repeat(crate::limits::RUNTIME_FRAME_BYTES_MAX);
    cancelled(large.answer_server(&server, Elicitation::Form { message, schema }).await);
    // One too many is not asked, and those that are open end with the command.
    let busy = visit();
    let open: Vec<_> = (0..SERVER_QUESTIONS_MAX).map(|_| busy.answer_server(&server, asked.clone())).collect();
    let mut open = Box::pin(futures_util::future::join_all(open));
    assert!(futures_util::poll!(&mut open).is_pending());
    cancelled(busy.answer_server(&server, asked.clone()).await);
    busy.stop();
    open.await.into_iter().for_each(cancelled);
}

#[tokio::test]
async fn what_was_only_said_does_not_keep_a_command_from_being_given_back() {
    use crate::talk::Listener as _;
    let said = visit();
    said.outbox.hears("warning: odd");
    said.outbox.sees_waiting(Some("a server"));
    assert!(said.hand_back());
    assert!(matches!(said.last_frame(0), ToClient::Yourself));
    let reads = visit();
    let _stdin = reads.stdin();
    assert!(reads.hand_back(), "whoever brought it has what was read");
    let asked = visit();
    let (server, question) = question();
    assert!(asked.outbox.ask(&ToClient::ServerQuestion(ServerQuestion::new(0, &server, question))));
    assert!(!asked.hand_back(), "nobody is asked the same twice");
}
