//! Lists of a server, all pages of them, bounded.

use std::collections::HashSet;

use crate::call::Call;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::headers::ParamHeaders;
use crate::limits::{CURSOR_BYTES_MAX, LIST_BYTES_MAX, LIST_ENTRIES_MAX, LimitBreach, PAGES_MAX};
use crate::raw::RawJson;
use crate::view::{CacheHint, Entry, EntryDefect, Listing, Prompt, Resource, ResourceTemplate, Tool, read_entries};

/// A list that is read page by page.
struct Pages {
    method: &'static str,
    member: &'static str,
    entries: Vec<RawJson>,
    bytes: usize,
    cache: Option<CacheHint>,
    seen: HashSet<RawJson>,
    /// Why the list ended before its end, if it did.
    cut: Option<EntryDefect>,
}

impl Pages {
    fn of(method: &'static str, member: &'static str) -> Self {
        Self { method, member, entries: Vec::new(), bytes: 0, cache: None, seen: HashSet::new(), cut: None }
    }

    /// Takes one page in; gives the cursor of the next.
    fn take(&mut self, result: &RawJson) -> Result<Option<RawJson>> {
        let room = LIST_ENTRIES_MAX.saturating_sub(self.entries.len());
        let page = result.member(self.member).and_then(|entries| entries.elements_within(room));
        let Some((page, others)) = page else {
            return Err(Error::protocol(format!("the answer to `{}` has no list `{}`", self.method, self.member)));
        };
        self.entries.extend(page);
        self.bytes = self.bytes.saturating_add(result.as_bytes().len());
        if self.bytes > LIST_BYTES_MAX {
            let what = format!("bytes of `{}`", self.method);
            return Err(Error::Limit(LimitBreach::new("LIST_BYTES_MAX", LIST_BYTES_MAX, what)));
        }
        if others > 0 {
            let what = format!("entries of `{}`", self.method);
            return Err(Error::Limit(LimitBreach::new("LIST_ENTRIES_MAX", LIST_ENTRIES_MAX, what)));
        }
        let hint = CacheHint::read(result);
        self.cache = Some(self.cache.map_or(hint, |cache| cache.and(hint)));
        let cursor = result.member("nextCursor").filter(|cursor| !matches!(cursor.as_bytes(), b"null" | b"\"\""));
        let Some(cursor) = cursor else { return Ok(None) };
        if cursor.as_bytes().len() > CURSOR_BYTES_MAX {
            let what = format!("the cursor of `{}`", self.method);
            return Err(Error::Limit(LimitBreach::new("CURSOR_BYTES_MAX", CURSOR_BYTES_MAX, what)));
        }
        if !self.seen.insert(cursor.clone()) {
            let reason =
                format!("the server repeats the cursor {cursor} of `{}`; the list may be incomplete", self.method);
            self.cut = Some(EntryDefect { index: self.entries.len(), name: None, reason, raw: cursor });
            return Ok(None);
        }
        if self.seen.len() >= PAGES_MAX {
            return Err(Error::Limit(LimitBreach::new("PAGES_MAX", PAGES_MAX, format!("pages of `{}`", self.method))));
        }
        Ok(Some(cursor))
    }
}

impl Client {
    /// All tools. Those whose header annotations are invalid are set aside where headers are used.
    pub async fn list_tools(&self) -> Result<Listing<Tool>> {
        let mut listing: Listing<Tool> = self.list("tools/list", "tools").await?;
        if self.is_modern_http() {
            let tools = std::mem::take(&mut listing.entries);
            for (index, tool) in tools.into_iter().enumerate() {
                match ParamHeaders::of(tool.input_schema.as_ref().unwrap_or(&RawJson::EMPTY_OBJECT)) {
                    Ok(headers) => {
                        self.keep_tool_headers(tool.name.clone(), headers);
                        listing.entries.push(tool);
                    }
                    Err(reason) => {
                        listing.defects.push(EntryDefect { index, name: Some(tool.name), reason, raw: tool.raw })
                    }
                }
            }
        }
        Ok(listing)
    }

    /// All prompts.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>> {
        self.list("prompts/list", "prompts").await
    }

    /// All resources.
    pub async fn list_resources(&self) -> Result<Listing<Resource>> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates.
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    async fn list<T: Entry>(&self, method: &'static str, member: &'static str) -> Result<Listing<T>> {
        let mut pages = Pages::of(method, member);
        let mut cursor: Option<RawJson> = None;
        loop {
            let params = cursor.map(|cursor| RawJson::EMPTY_OBJECT.with_member("cursor", &cursor));
            let result = self.request(Call::new(method, params)).await?;
            cursor = pages.take(&result)?;
            if cursor.is_none() {
                break;
            }
        }
        let (entries, mut defects) = read_entries(pages.entries, 0);
        defects.extend(pages.cut);
        let mut cache = pages.cache.unwrap_or_default();
        if self.version().is_modern() {
            cache.ttl_ms.get_or_insert(0); // It has to be said there, and who does not say it wants to be asked each time.
        }
        Ok(Listing { entries, defects, cache })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> Pages {
        Pages::of("tools/list", "tools")
    }

    fn page(entries: usize, cursor: &str) -> RawJson {
        let entries = vec!["{}"; entries].join(",");
        RawJson::from_bytes(format!(r#"{{"tools":[{entries}],"nextCursor":"{cursor}"}}"#)).unwrap()
    }

    #[test]
    fn a_list_ends_where_the_server_says_so_or_repeats_itself() {
        for end in [r#"{"tools":[]}"#, r#"{"tools":[],"nextCursor":null}"#, r#"{"tools":[],"nextCursor":""}"#] {
            assert_eq!(pages().take(&RawJson::from_bytes(end).unwrap()).unwrap(), None, "{end}");
        }
        let mut repeating = pages();
        assert!(repeating.take(&page(1, "a")).unwrap().is_some());
        assert!(repeating.take(&page(1, "b")).unwrap().is_some());
        assert_eq!(repeating.take(&page(1, "a")).unwrap(), None);
        assert!(repeating.cut.unwrap().reason.contains("repeats the cursor \"a\""), "what was listed still counts");
        assert_eq!(repeating.entries.len(), 3);
    }

    #[test]
    fn lists_without_an_end_are_refused_by_name() {
        let mut endless = pages();
        endless.seen = (2..PAGES_MAX).map(|n| RawJson::from(serde_json::Value::from(n))).collect();
        assert!(endless.take(&page(0, "one more")).is_ok());
        let error = endless.take(&page(0, "and another")).unwrap_err().to_string();
        assert!(error.contains("PAGES_MAX = 100000"), "{error}");
        let error = pages().take(&page(0, &"x".repeat(CURSOR_BYTES_MAX))).unwrap_err().to_string();
        assert!(error.contains("CURSOR_BYTES_MAX"), "{error}");
        let mut crowded = pages();
        crowded.entries = vec![RawJson::EMPTY_OBJECT; LIST_ENTRIES_MAX - 1];
        assert!(crowded.take(&page(1, "a")).is_ok());
        let error = crowded.take(&page(1, "b")).unwrap_err().to_string();
        assert!(error.contains("LIST_ENTRIES_MAX = 100000"), "{error}");
        let mut heavy = pages();
        heavy.bytes = LIST_BYTES_MAX - page(0, "a").as_bytes().len();
        assert!(heavy.take(&page(0, "a")).is_ok());
        let error = heavy.take(&page(0, "b")).unwrap_err().to_string();
        assert!(error.contains("LIST_BYTES_MAX = 268435456"), "{error}");
        let error = pages().take(&RawJson::EMPTY_OBJECT).unwrap_err().to_string();
        assert_eq!(error, "the answer to `tools/list` has no list `tools`");
    }
}
