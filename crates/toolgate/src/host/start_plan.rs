//! Whether a server is connected to at once, and whether what is kept of it is shown meanwhile. Pure.

use crate::kept::Freshness;
use crate::servers::TransportConfig;
use crate::settings::raw::StartMode;

/// What a host lives for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// One question, such as a listing: what is fresh answers it, and whoever could not answer is asked.
    OneQuestion,
    /// Work that goes on: servers come and go meanwhile.
    Long,
}

/// How a server begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartPlan {
    /// What is kept of it is shown, and counts until it says something else.
    pub(super) shows_kept: bool,
    /// It is connected to now, and not only when somebody uses it.
    pub(super) connects: bool,
}

/// How a server begins of which that is kept.
pub(super) fn start_plan(
    life: Life,
    start: StartMode,
    transport: &TransportConfig,
    kept: Option<Freshness>,
) -> StartPlan {
    let is_fresh = kept == Some(Freshness::Fresh);
    let is_whole = matches!(kept, Some(Freshness::Fresh | Freshness::Stale));
    match (life, start) {
        (Life::OneQuestion, _) => StartPlan { shows_kept: is_fresh, connects: !is_fresh },
        (Life::Long, StartMode::Lazy) => StartPlan { shows_kept: is_whole, connects: false },
        (Life::Long, StartMode::Eager) => StartPlan { shows_kept: is_whole, connects: true },
        // A process costs memory for as long as it runs; a connection to somebody who runs anyway costs nearly nothing.
        (Life::Long, StartMode::Auto) => {
            let is_process = matches!(transport, TransportConfig::Stdio(_));
            StartPlan { shows_kept: is_whole, connects: !(is_fresh && is_process) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Life, StartPlan, start_plan};
    use crate::kept::Freshness::{Fresh, Incomplete, Stale};
    use crate::servers::{HttpConfig, StdioConfig, TransportConfig};
    use crate::settings::raw::StartMode::{Auto, Eager, Lazy};

    #[test]
    fn processes_rest_while_what_is_kept_of_them_is_fresh() {
        let stdio = TransportConfig::Stdio(StdioConfig {
            command: "srv".to_owned(),
            args: Vec::new(),
            env: Default::default(),
            cwd: None,
        });
        let url = "https://a.example/mcp".into();
        let http = TransportConfig::Http(HttpConfig { url, headers: Default::default(), login: None });
        let (all, none) = ([Some(Fresh), Some(Stale), Some(Incomplete), None], "");
        let cases = [
            // What each of `all` leads to: `k` is shown as kept, `c` is connected to.
            (Life::OneQuestion, Auto, &stdio, ["k", "c", "c", "c"]),
            (Life::OneQuestion, Lazy, &stdio, ["k", "c", "c", "c"]),
            (Life::OneQuestion, Eager, &http, ["k", "c", "c", "c"]),
            (Life::Long, Auto, &stdio, ["k", "kc", "c", "c"]),
            (Life::Long, Auto, &http, ["kc", "kc", "c", "c"]),
            (Life::Long, Eager, &stdio, ["kc", "kc", "c", "c"]),
            (Life::Long, Lazy, &stdio, ["k", "k", none, none]),
            (Life::Long, Lazy, &http, ["k", "k", none, none]),
        ];
        for (life, start, transport, expected) in cases {
            let words = all.map(|kept| {
                let StartPlan { shows_kept, connects } = start_plan(life, start, transport, kept);
                [(shows_kept, "k"), (connects, "c")].map(|(is, word)| if is { word } else { "" }).concat()
            });
            assert_eq!(words, expected, "{life:?} {start:?} {}", transport.kind());
        }
    }
}
