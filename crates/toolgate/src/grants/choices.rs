//! What may be remembered about a call: not everything is narrow enough to be allowed for good.

use serde_json::Value;

use super::grant::{GrantSubject, Remember};
use crate::canonical_json;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::GRANT_ARGUMENTS_BYTES_MAX;

/// Tools of built-in servers that can do anything: for good they are allowed only with the arguments that were seen.
const MUST_BE_NARROWED: [&str; 3] = ["run_shell_command", "write_file", "replace"];

/// Beyond this, whole numbers that differ may be read as one.
const EXACT_NUMBER_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether answers may be remembered, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Not at all.
    Never,
    /// While the session lasts.
    Session,
    /// For good, too.
    Always,
}

/// What may be remembered about a call, besides letting it through once.
#[must_use]
pub fn choices(subject: &GrantSubject<'_>, lasting: Lasting) -> Vec<Remember> {
    let all: &[Remember] = match lasting {
        Lasting::Never => &[],
        Lasting::Session => &[Remember::ToolThisSession],
        Lasting::Always => &[
            Remember::ToolThisSession,
            Remember::ToolAlways,
            Remember::ServerThisSession,
            Remember::ServerAlways,
            Remember::TheseArgumentsAlways,
        ],
    };
    all.iter().copied().filter(|remember| check(subject, *remember).is_ok()).collect()
}

/// Whether it may be remembered.
///
/// # Errors
/// When it would allow more than a person can have seen, with what to do instead.
pub(super) fn check(subject: &GrantSubject<'_>, remember: Remember) -> Result<()> {
    let is_mighty = |tool: &str| subject.builtin.is_some() && MUST_BE_NARROWED.contains(&tool);
    let refused = |why: String| Error::new(ErrorKind::State, why).about(subject.server);
    match remember {
        Remember::No | Remember::ToolThisSession => Ok(()),
        Remember::ToolAlways if is_mighty(subject.tool) => Err(refused(format!(
            "`{}` can do anything, so it is not allowed for good with any arguments",
            subject.tool
        ))
        .hinting("allow it with these arguments, or for this session; a rule in a policy can allow more")),
        Remember::ServerThisSession | Remember::ServerAlways
            if subject.all_tools.keys().any(|tool| is_mighty(tool)) =>
        {
            Err(refused(format!(
                "server `{}` has tools that can do anything, so it is not allowed as a whole",
                subject.server
            ))
            .hinting("allow single tools, or these arguments; a rule in a policy can allow more"))
        }
        Remember::ToolAlways | Remember::ServerThisSession | Remember::ServerAlways => Ok(()),
        Remember::TheseArgumentsAlways => check_arguments(subject.arguments).map_err(|why| {
            refused(format!("these arguments of `{}` cannot be remembered: {why}", subject.tool))
                .hinting("let the call through once, or allow the tool")
        }),
    }
}

/// Whether arguments can be remembered, or why not.
pub(super) fn check_arguments(arguments: &Value) -> Result<(), String> {
    if !is_exact(arguments) {
        return Err("they have numbers that are too large to be told apart".to_owned());
    }
    let size = canonical_json::text(arguments).len();
    if size > GRANT_ARGUMENTS_BYTES_MAX {
        return Err(format!("they have {size} bytes, and at most {GRANT_ARGUMENTS_BYTES_MAX} are kept"));
    }
    Ok(())
}

/// Whether no number in it may have lost digits when it was read.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().is_some_and(|number| number.abs() < EXACT_NUMBER_MAX)
        }
        Value::Array(elements) => elements.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{Lasting, check, choices};
    use crate::grants::{GrantSubject, Remember};
    use crate::policy::Mode;
    use crate::server_name::ServerName;

    use Remember::{ServerAlways, ServerThisSession, TheseArgumentsAlways, ToolAlways, ToolThisSession};

    fn offered(builtin: Option<&str>, tool: &str, arguments: &Value, lasting: Lasting) -> Vec<Remember> {
        let server = ServerName::new("s").unwrap();
        let tools = ["read_file", "run_shell_command", "x"].map(|name| (name.to_owned(), "sha256:1".to_owned()));
        let subject = GrantSubject {
            server: &server,
            server_identity: "sha256:0",
            builtin,
            tool,
            definition: "sha256:1",
            arguments,
            folder: Path::new("/work"),
            mode: Mode::Default,
            all_tools: &BTreeMap::from(tools),
        };
        for remember in [ToolAlways, ServerThisSession, ServerAlways, TheseArgumentsAlways] {
            if let Err(error) = check(&subject, remember) {
                assert!(error.hint().is_some() && error.server() == Some(&server), "{error}");
            }
        }
        choices(&subject, lasting)
    }

    #[test]
    fn only_what_is_narrow_enough_is_offered() {
        let everything = vec![ToolThisSession, ToolAlways, ServerThisSession, ServerAlways, TheseArgumentsAlways];
        let narrow = vec![ToolThisSession, TheseArgumentsAlways];
        let (small, large) = (json!({"a": 1}), json!({"a": "x".repeat(20_000)}));
        let inexact: Value = serde_json::from_str(r#"{"a": [{"id": 123456789012345678901}]}"#).unwrap();
        let exact = json!({"a": [u64::MAX, i64::MIN, 0.5]});
        let cases = [
            (None, "x", &small, Lasting::Always, everything.clone()),
            (None, "run_shell_command", &small, Lasting::Always, everything.clone()),
            (Some("workspace"), "run_shell_command", &small, Lasting::Always, narrow.clone()),
            (Some("workspace"), "write_file", &small, Lasting::Always, narrow.clone()),
            (Some("workspace"), "replace", &small, Lasting::Always, narrow),
            (
                Some("workspace"),
                "read_file",
                &small,
                Lasting::Always,
                vec![ToolThisSession, ToolAlways, TheseArgumentsAlways],
            ),
            (None, "x", &large, Lasting::Always, vec![ToolThisSession, ToolAlways, ServerThisSession, ServerAlways]),
            (None, "x", &inexact, Lasting::Always, vec![ToolThisSession, ToolAlways, ServerThisSession, ServerAlways]),
            (None, "x", &exact, Lasting::Always, everything),
            (None, "x", &small, Lasting::Session, vec![ToolThisSession]),
            (None, "x", &small, Lasting::Never, vec![]),
        ];
        for (builtin, tool, arguments, lasting, expected) in cases {
            assert_eq!(offered(builtin, tool, arguments, lasting), expected, "{builtin:?} {tool} {lasting:?}");
        }
    }
}
