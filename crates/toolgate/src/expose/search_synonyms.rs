//! Words that people use for the same thing when they speak of tools. General vocabulary of computers and offices, one group per line; a word that is found through
//! its group counts less than one that was written.

/// How much a word counts that stands in the same group as one that was asked for.
pub(super) const WEIGHT: f32 = 0.35;

const GROUPS: &[&[&str]] = &[
    &["delete", "remove", "erase", "discard", "drop"],
    &["create", "make", "add", "new"],
    &["find", "search", "locate", "lookup"],
    &["get", "fetch", "retrieve", "read", "show", "view", "display"],
    &["change", "update", "edit", "modify", "set"],
    &["start", "begin", "launch", "run", "trigger", "execute"],
    &["stop", "end", "abort", "cancel", "terminate", "kill"],
    &["send", "post", "submit"],
    &["copy", "duplicate", "clone"],
    &["reply", "answer", "respond"],
    &["folder", "directory"],
    &["mail", "email"],
    &["picture", "image", "photo"],
    &["error", "failure", "crash", "exception"],
    &["bug", "issue", "ticket"],
    &["meeting", "event", "appointment"],
    &["user", "member", "person", "people", "colleague"],
    &["repository", "repo", "project"],
    &["pr", "pull"],
    &["db", "database"],
    &["link", "url", "address"],
    &["bill", "invoice"],
    &["money", "payment", "fund"],
    &["customer", "client", "buyer"],
    &["book", "reserve"],
    &["mute", "silence", "pause"],
    &["zip", "archive", "compress", "pack"],
    &["unzip", "extract", "unpack", "decompress"],
    &["regex", "regular"],
    &["machine", "host", "node"],
    &["log", "output"],
    &["schedule", "plan"],
    &["permission", "access", "right"],
    &["version", "revision"],
    &["table", "sheet", "spreadsheet"],
    &["web", "website", "page"],
    &["vacation", "absent", "holiday"],
    &["assign", "responsible"],
    &["size", "big", "large"],
    &["list", "enumerate"],
];

/// All words of the groups with the number of their group, stemmed.
pub(super) fn groups(stemmed: impl Fn(&str) -> String) -> Vec<(String, usize)> {
    let words = GROUPS.iter().enumerate().flat_map(|(group, words)| words.iter().map(move |word| (*word, group)));
    words.map(|(word, group)| (stemmed(word), group)).collect()
}
