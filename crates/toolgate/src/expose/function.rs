//! A function of ours that a model may call, and how it gets a name that no tool has.

use serde_json::Value;

/// What is said to a model about a function of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name: letters, digits and `_`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, as JSON Schema of an object with plain properties: every provider accepts it as it is.
    pub input_schema: Value,
}

/// `wanted`, or the first name like it that is not taken: `toolgate_wanted`, `toolgate_wanted_2`, …
pub(super) fn free_name(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let candidates = (0_u32..).map(|round| match round {
        0 => wanted.to_owned(),
        1 => format!("toolgate_{wanted}"),
        _ => format!("toolgate_{wanted}_{round}"),
    });
    candidates.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::free_name;

    #[test]
    fn a_name_that_a_tool_has_is_not_taken_from_it() {
        let cases: [(&[&str], &str); 3] = [
            (&[], "find"),
            (&["find", "toolgate_find_2"], "toolgate_find"),
            (&["find", "toolgate_find", "toolgate_find_2"], "toolgate_find_3"),
        ];
        for (taken, expected) in cases {
            assert_eq!(free_name("find", |name| taken.contains(&name)), expected);
        }
    }
}
