//! A child that is busy before its first message has more time to connect while it writes to stderr.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::{ConnectOptions, Endpoint, Patience, connect};

use crate::support::{Side, within};

/// A server in a shell that writes nothing to stderr.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
    *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
  esac
done"#;

struct Outcome {
    /// The reason of a failed connection.
    error: Option<String>,
    told: Vec<String>,
    took: Duration,
}

async fn start(before: &str, total: Duration) -> Outcome {
    let mut config = ChildConfig::new("/bin/sh");
    config.args = ["-c".into(), format!("{before}\n{SERVER}").into()].into();
    config.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    config.grace = Duration::from_millis(50);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    let mut options = ConnectOptions::new(Arc::new(Side::default()));
    options.limit = Duration::from_secs(1);
    options.patience = Some(Patience {
        limit: total,
        silence: Duration::from_secs(1),
        told: Some(Arc::new(move |line| heard.lock().unwrap().push(line.to_owned()))),
    });
    let begun = Instant::now();
    let connected = within("the start", connect(Endpoint::Child(config), options)).await;
    let took = begun.elapsed();
    let told = told.lock().unwrap().clone();
    Outcome { error: connected.err().map(|error| error.to_string()), told, took }
}

#[tokio::test]
async fn a_child_that_writes_to_stderr_is_not_given_up_at_the_limit() {
    let busy = "for i in 1 2 3 4 5 6; do echo \"downloading $i\" >&2; sleep 0.4; done";
    let forever = "while :; do echo downloading >&2; sleep 0.2; done";
    let once = "echo downloading >&2; sleep 1000";
    let long = Duration::from_secs(60);
    // Columns: behaviour before the answer, time limit, error, number of reports, minimum duration in seconds.
    let rows = [
        ("busy", busy, long, None, 1, 2),
        ("at once", "", long, None, 0, 0),
        ("silent", "sleep 1000", long, Some("did not answer the handshake within 1s"), 0, 1),
        ("silent later", once, long, Some("did not answer the handshake within"), 0, 1),
        ("busy without end", forever, Duration::from_secs(3), Some("did not answer the handshake within 3s"), 1, 3),
        ("it ends", "echo downloading >&2; exit 3", long, Some("the server ended with exit status: 3"), 0, 0),
    ];
    let rows = rows.map(|(name, before, total, expected, told, seconds)| async move {
        let outcome = start(before, total).await;
        match (expected, outcome.error) {
            (None, None) => {}
            (Some(expected), Some(error)) => assert!(error.contains(expected), "{name}: {error}"),
            (expected, error) => panic!("{name}: expected {expected:?}, found {error:?}"),
        }
        // On a slow machine the first line may come late enough to be reported.
        assert!(outcome.told.len() <= 1 && outcome.told.len() >= told, "{name}: {:?}", outcome.told);
        assert!(outcome.told.iter().all(|line| line.starts_with("downloading")), "{name}: {:?}", outcome.told);
        assert!(outcome.took >= Duration::from_secs(seconds), "{name}: {:?}", outcome.took);
    });
    futures_util::future::join_all(rows).await;
}
