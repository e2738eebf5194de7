//! The tables of the settings page, printed from the table of keys.

use std::fmt::Write as _;

use crate::settings::keys::key::visit;
use crate::settings::keys::{Key, Merge, Preset, Shape, Standing, TOP};

/// All documented keys as Markdown tables, one for each section of a settings file.
#[must_use]
pub fn reference_page() -> String {
    let mut page = Page::default();
    let (sections, single): (Vec<&Key>, Vec<&Key>) = TOP.iter().partition(|key| !inside(key).is_empty());
    for key in sections {
        match key.shape {
            Shape::Servers(keys) => page.whole(key, "mcpServers.NAME", keys, Layers::Hidden),
            _ => page.whole(key, key.name, inside(key), Layers::Shown),
        }
    }
    page.section("Other keys", "At the top of the file, too.", &single, Layers::Shown);
    page.text
}

#[derive(Debug, Default)]
struct Page {
    text: String,
}

/// Whether a table says how layers come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layers {
    Shown,
    Hidden,
}

impl Page {
    /// A section of a settings file with all that is in it.
    fn whole(&mut self, key: &Key, heading: &str, keys: &'static [Key], layers: Layers) {
        let mut rows = Vec::new();
        visit(keys, "", &mut |path, key| {
            if inside(key).is_empty() {
                rows.push((path.to_owned(), key));
            }
        });
        let about = match layers {
            Layers::Shown => key.doc.to_owned(),
            Layers::Hidden => format!("{} {}", key.doc, capital(layers_of(key.merge))),
        };
        self.heading(&format!("`{heading}`"), &about);
        self.table(&rows, layers);
    }

    fn section(&mut self, heading: &str, about: &str, keys: &[&'static Key], layers: Layers) {
        self.heading(heading, about);
        let rows: Vec<(String, &'static Key)> = keys.iter().map(|key| (key.name.to_owned(), *key)).collect();
        self.table(&rows, layers);
    }

    fn heading(&mut self, heading: &str, about: &str) {
        let before = if self.text.is_empty() { "" } else { "\n" };
        self.text.extend([before, "### ", heading, "\n\n", about, "\n\n"]);
    }

    fn table(&mut self, rows: &[(String, &'static Key)], layers: Layers) {
        self.text.push_str(match layers {
            Layers::Shown => "| key | takes | default | layers | meaning |\n| --- | --- | --- | --- | --- |\n",
            Layers::Hidden => "| key | takes | default | meaning |\n| --- | --- | --- | --- |\n",
        });
        for (path, key) in rows {
            let merge = match layers {
                Layers::Shown => format!(" {} |", layers_of(key.merge)),
                Layers::Hidden => String::new(),
            };
            let note = match key.standing {
                Standing::Used => "",
                Standing::Accepted => "*(without effect)* ",
            };
            let (takes, default) = (takes(key.shape), default_of(key.preset));
            // Writing to a text cannot fail.
            let _written = writeln!(self.text, "| `{path}` | {takes} | {default} |{merge} {note}{} |", key.doc);
        }
    }
}

fn inside(key: &Key) -> &'static [Key] {
    match key.shape {
        Shape::Object(object) => object.keys,
        Shape::Servers(keys) => keys,
        _ => &[],
    }
}

/// What a key takes, in words.
fn takes(shape: Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::List | Shape::ListOrOne => "list of texts".to_owned(),
        Shape::ListOrAll => "list of texts, `true`, `false`".to_owned(),
        Shape::Map => "object with texts".to_owned(),
        Shape::Number(amount) => {
            let bounds = amount.to_string();
            let separator = if bounds.is_empty() { "" } else { ", " };
            format!("number of {}{separator}{bounds}", amount.unit)
        }
        Shape::Truth => "`true`, `false`".to_owned(),
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Object(_) | Shape::Servers(_) => "object".to_owned(),
        Shape::Anything => "anything".to_owned(),
    }
}

/// What holds when a key is not written.
fn default_of(preset: Preset) -> String {
    match preset {
        Preset::Nothing => String::new(),
        Preset::Number(number) => format!("`{number}`"),
        Preset::Truth(truth) => format!("`{truth}`"),
        Preset::Word(word) => format!("`{word}`"),
        Preset::Texts(texts) => texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", "),
        Preset::InWords(words) => words.to_owned(),
    }
}

/// What counts when several layers have a key, in words.
const fn layers_of(merge: Merge) -> &'static str {
    match merge {
        Merge::Replace => "the highest counts",
        Merge::ReplaceEntry => "of two entries of one name, that of the highest layer counts, whole",
        Merge::WithEntry => "with its entry",
        Merge::PerKey => "each key by itself",
        Merge::Union => "all together",
        Merge::Concat => "one after the other",
        Merge::Intersection => "what all agree on",
    }
}

/// A sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::reference_page;
    use crate::settings::keys::key::visit;
    use crate::settings::keys::{Shape, TOP};

    #[test]
    fn every_key_that_takes_a_value_has_a_row_and_every_row_its_columns() {
        let page = reference_page();
        let mut values = 0;
        visit(TOP, "", &mut |path, key| {
            if matches!(key.shape, Shape::Object(_) | Shape::Servers(_)) {
                return;
            }
            values += 1;
            let below = path.strip_prefix("mcpServers.*.").or_else(|| path.split_once('.').map(|(_, below)| below));
            let cell = format!("| `{}` |", below.unwrap_or(path));
            assert!(page.contains(&cell), "{path} is missing:\n{page}");
        });
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, values, "{page}");
        for table in page.split("### ").filter(|section| section.contains("| key |")) {
            let columns: Vec<usize> =
                table.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
            assert!(columns.iter().all(|count| Some(count) == columns.first()), "{table}");
        }
    }
}
