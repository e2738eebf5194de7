//! Whether an argument is what a pattern says: the certain way for what permits, the wide way for what restricts.

use std::borrow::Cow;

use super::arguments::Arguments;
use super::path_readings::{leads_through_process, readings};
use super::percent::hides_structure;
use super::place::{Place, Root};
use crate::glob::glob;

/// What ends a word in the languages that commands and queries are written in, and does not go on with a name or a path.
const ENDS_OF_WORDS: [char; 11] = [' ', ';', '|', '&', '<', '>', '(', ')', ',', '"', '\''];

/// What an argument is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// A path or an address, as its key says.
    Place,
    /// Anything.
    Text,
    /// Something that stands beside a path or an address, such as the text to write there.
    Aside,
}

/// Whether `text` is certainly what `pattern` says: the same, or a place below it.
///
/// Within a place `*` stays within one step and `**` does not. In other texts it stands for anything, except when the text climbs with `..`.
pub(super) fn is_certainly(pattern: &str, text: &str, likeness: Likeness, call: &Arguments<'_>) -> bool {
    if pattern == text {
        return true;
    }
    let (wanted, place) = (Place::read(pattern), Place::read(text));
    if wanted.certainly_holds(&place) {
        return true;
    }
    let absolute = |place: &Place| match place.root {
        Root::System => Some(place.clone()),
        _ => place.resolved(call.folder(), call.home()),
    };
    if wanted.up == 0
        && wanted.root != place.root
        && absolute(&wanted).zip(absolute(&place)).is_some_and(|(wanted, place)| wanted.certainly_holds(&place))
    {
        return true;
    }
    let is_free_text = likeness != Likeness::Place && !pattern.contains('/');
    is_free_text && !climbs(text) && glob(pattern, text)
}

fn climbs(text: &str) -> bool {
    text.split(['/', '\\']).any(|step| step == "..") || hides_structure(text)
}

/// Whether `text` could be what `pattern` says, in some spelling, in upper or lower case, from some folder.
pub(super) fn is_possibly(pattern: &str, text: &str, likeness: Likeness, call: &Arguments<'_>) -> bool {
    if likeness == Likeness::Aside
        && text.trim().contains(char::is_whitespace)
        && !pattern.contains(char::is_whitespace)
    {
        return false;
    }
    let folded = pattern.trim().to_lowercase();
    let wanted = both_forms(Place::read(&folded.replace('\\', "/")), call);
    // A text with more readings than can be looked at could be anything, and only restrictions are asked about here.
    let Some(spellings) = spellings(text) else { return true };
    spellings.iter().any(|text| {
        if likeness == Likeness::Place && leads_through_process(text) && pattern.contains('/') {
            return true;
        }
        let is_there = both_forms(Place::read(text), call).iter().any(|place| {
            wanted.iter().any(|wanted| {
                holds_widely(wanted, place)
                    || (likeness == Likeness::Place && holds_from_somewhere(wanted, place, call))
            })
        });
        let is_of_form = folded.contains('*') && is_or_below(&folded, text);
        is_there
            || is_of_form
            || (likeness == Likeness::Text && begins_with_words(&folded, text))
            || same_number(&folded, text)
    })
}

/// The paths that a text may mean, in lower case. `None` when there are too many.
fn spellings(text: &str) -> Option<Vec<String>> {
    let plain = text.trim().to_lowercase().replace('\\', "/");
    let mut spellings = vec![plain];
    let more = |spellings: &mut Vec<String>, change: &dyn Fn(&str) -> Cow<'_, str>| {
        let changed: Vec<String> = spellings.iter().map(|text| change(text).into_owned()).collect();
        changed.into_iter().for_each(|text| {
            if !spellings.contains(&text) {
                spellings.push(text);
            }
        });
    };
    for reading in readings(&text.trim().to_lowercase())? {
        if !spellings.contains(&reading) {
            spellings.push(reading);
        }
    }
    more(&mut spellings, &|text| text.split('\0').next().unwrap_or_default().trim_end().into());
    more(&mut spellings, &|text| text.split(['?', '#']).next().unwrap_or_default().into());
    more(&mut spellings, &|text| {
        let home = ["$home", "${home}", "%userprofile%"];
        let rest = home
            .iter()
            .find_map(|home| text.strip_prefix(home))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        rest.map_or(Cow::Borrowed(text), |rest| format!("~{rest}").into())
    });
    Some(spellings)
}

/// As it is written, and counted from the root when it is known how.
fn both_forms(place: Place, call: &Arguments<'_>) -> Vec<Place> {
    let resolved = place.resolved(call.folder(), call.home()).map(|mut place| {
        place.segments.iter_mut().for_each(|step| *step = step.to_lowercase());
        place
    });
    std::iter::once(place).chain(resolved).collect()
}

fn holds_widely(wanted: &Place, place: &Place) -> bool {
    match (&wanted.root, &place.root) {
        (Root::Url { scheme, authority }, Root::Url { scheme: of_place, authority: at_place }) => {
            let is_host = authority.is_empty() || glob(authority, at_place) || glob(host(authority), host(at_place));
            scheme == of_place && is_host && is_or_below(&wanted.joined(), &place.joined())
        }
        // An address without `https://`, on either side.
        (Root::Folder, Root::Url { authority, .. }) => {
            is_or_below(&wanted.joined(), &format!("{}/{}", host(authority), place.joined()))
        }
        (Root::Url { authority, .. }, Root::Folder | Root::System) if !authority.is_empty() => {
            let wanted = format!("{}/{}", host(authority), wanted.joined());
            is_or_below(wanted.trim_end_matches('/'), &place.joined())
        }
        // The path of an address.
        (Root::System, Root::Url { .. }) => is_or_below(&wanted.joined(), &place.joined()),
        (one, other) => one == other && wanted.up == place.up && is_or_below(&wanted.joined(), &place.joined()),
    }
}

/// A server without name, password and port.
fn host(authority: &str) -> &str {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    host.trim_end_matches('.')
}

fn is_or_below(wanted: &str, place: &str) -> bool {
    wanted.is_empty() || glob(wanted, place) || glob(&format!("{wanted}/*"), place)
}

/// Whether there is a folder or a home from which both are the same, when it is not known which one counts.
fn holds_from_somewhere(wanted: &Place, place: &Place, call: &Arguments<'_>) -> bool {
    let is_unknown = |root: &Root| match root {
        Root::Folder => call.folder().is_none(),
        Root::Home(name) => name != "~" || call.home().is_none(),
        Root::System | Root::Url { .. } => false,
    };
    match (&wanted.root, &place.root) {
        (root, Root::System) if is_unknown(root) && !wanted.segments.is_empty() => {
            is_or_below(&format!("*/{}", wanted.joined()), &format!("/{}", place.joined()))
        }
        (Root::System, root) if is_unknown(root) => (0..wanted.segments.len()).any(|from| {
            let end = wanted.segments.get(from..).unwrap_or_default().join("/");
            is_or_below(&end, &place.joined())
        }),
        _ => false,
    }
}

/// Whether a text is `pattern`, or goes on after it with another word. Both in lower case.
fn begins_with_words(pattern: &str, text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pattern = pattern.split_whitespace().collect::<Vec<_>>().join(" ");
    if pattern.contains('*') {
        return glob(&pattern, &text) || glob(&format!("{pattern} *"), &text);
    }
    let rest = text.strip_prefix(pattern.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(ENDS_OF_WORDS))
}

fn same_number(pattern: &str, text: &str) -> bool {
    let numbers = pattern.parse::<f64>().ok().zip(text.parse::<f64>().ok());
    numbers.is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}
