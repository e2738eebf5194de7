//! What may have been meant by a name that nothing has.

use toolgate::registry::nearest;

use crate::limits::NAMED_SERVERS_MAX;

/// The nearest names, or some of those there are. `None` when there are none.
pub(crate) fn did_you_mean<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    match nearest(typed, names.iter().copied()).as_slice() {
        [] if names.is_empty() => None,
        [] => {
            Some(format!("there is `{}`", names.into_iter().take(NAMED_SERVERS_MAX).collect::<Vec<_>>().join("`, `")))
        }
        close => Some(format!("did you mean `{}`?", close.join("`, `"))),
    }
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn the_nearest_is_named_or_those_there_are() {
        let names = ["github", "gitlab", "time"];
        assert_eq!(did_you_mean("tiem", names).as_deref(), Some("did you mean `time`?"));
        assert_eq!(did_you_mean("banana", names).as_deref(), Some("there is `github`, `gitlab`, `time`"));
        assert_eq!(did_you_mean("x", []), None);
    }
}
