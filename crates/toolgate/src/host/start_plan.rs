//! Whether a server is connected to at once, and whether what is kept of it is enough meanwhile. Pure.

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

/// How a server begins. What is kept of it is shown in any case, until it says something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartPlan {
    /// Nobody has to wait for it: what is kept is enough for now, or it is started only when it is used.
    pub(super) settles: bool,
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
    let connects = match (life, start) {
        (Life::OneQuestion, _) => !is_fresh,
        (Life::Long, StartMode::Lazy) => false,
        (Life::Long, StartMode::Eager) => true,
        // A process costs memory for as long as it runs; a connection to somebody who runs anyway costs nearly nothing.
        (Life::Long, StartMode::Auto) => !(is_fresh && matches!(transport, TransportConfig::Stdio(_))),
    };
    // Work that goes on begins with what is old; a question is answered with it only when there is nothing better.
    let is_enough = is_fresh || (life == Life::Long && kept == Some(Freshness::Stale));
    StartPlan { settles: is_enough || !connects, connects }
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
            inherit_env: Vec::new(),
            cwd: None,
        });
        let url = "https://a.example/mcp".into();
        let http = TransportConfig::Http(HttpConfig { url, headers: Default::default(), login: None });
        let all = [Some(Fresh), Some(Stale), Some(Incomplete), None];
        let cases = [
            // What each of `all` leads to: `s` is settled, `c` is connected to.
            (Life::OneQuestion, Auto, &stdio, ["s", "c", "c", "c"]),
            (Life::OneQuestion, Lazy, &stdio, ["s", "c", "c", "c"]),
            (Life::OneQuestion, Eager, &http, ["s", "c", "c", "c"]),
            (Life::Long, Auto, &stdio, ["s", "sc", "c", "c"]),
            (Life::Long, Auto, &http, ["sc", "sc", "c", "c"]),
            (Life::Long, Eager, &stdio, ["sc", "sc", "c", "c"]),
            (Life::Long, Lazy, &stdio, ["s", "s", "s", "s"]),
            (Life::Long, Lazy, &http, ["s", "s", "s", "s"]),
        ];
        for (life, start, transport, expected) in cases {
            let words = all.map(|kept| {
                let StartPlan { settles, connects } = start_plan(life, start, transport, kept);
                [(settles, "s"), (connects, "c")].map(|(is, word)| if is { word } else { "" }).concat()
            });
            assert_eq!(words, expected, "{life:?} {start:?} {}", transport.kind());
        }
    }
}
