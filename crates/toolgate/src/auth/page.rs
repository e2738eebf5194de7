//! The page that a browser shows when it comes back: what happened, in words. Nothing on it comes from elsewhere, and nothing runs.

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) heading: String,
    pub(crate) text: String,
    pub(crate) is_good: bool,
}

impl Page {
    /// The login worked.
    pub(crate) fn good(server: &str) -> Self {
        let heading = format!("You are logged in to {server}");
        Self { heading, text: "You can close this page and go back to the terminal.".to_owned(), is_good: true }
    }

    /// The login did not work.
    pub(crate) fn bad(server: &str, why: &str) -> Self {
        let heading = format!("The login to {server} did not work");
        Self { heading, text: format!("{why}. The terminal says what to do next."), is_good: false }
    }

    /// Somebody looks in who has nothing to bring.
    pub(crate) fn stray(why: &str) -> Self {
        Self { heading: "There is nothing here".to_owned(), text: format!("{why}."), is_good: false }
    }

    /// As HTML.
    pub(crate) fn html(&self) -> String {
        let (heading, text) = (escaped(&self.heading), escaped(&self.text));
        let mark = if self.is_good { "&#10003;" } else { "&#33;" };
        let colour = if self.is_good { "#1a7f37" } else { "#b35900" };
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{heading}</title><style>\
             :root{{color-scheme:light dark}}\
             body{{font:18px/1.5 system-ui,sans-serif;max-width:32em;margin:18vh auto;padding:0 1.5em}}\
             h1{{font-size:1.4em}}b{{color:{colour};margin-right:.15em}}\
             </style></head><body><main><h1><b aria-hidden=\"true\">{mark}</b> {heading}</h1><p>{text}</p></main></body></html>"
        )
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn nothing_on_the_page_can_run() {
        let page = Page::bad("a<b", "the server said \"<script>alert('&')</script>\"").html();
        assert!(page.contains("The login to a&lt;b did not work"), "{page}");
        let said = "the server said &quot;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;&quot;. The terminal says";
        assert!(page.contains(said), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
}
