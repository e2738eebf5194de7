//! Which characters are not seen, and where writing needs them nevertheless.
//!
//! The ranges are those that Unicode calls default-ignorable, with the separators and annotation marks that terminals treat alike.

/// The flags that are spelled with tag characters, as their tags read.
const TAGGED_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// What such a flag begins with.
const BLACK_FLAG: char = '\u{1F3F4}';

/// What ends it.
const TAG_END: char = '\u{E007F}';

/// The tag characters follow the order of ASCII from here.
const TAG_FIRST: u32 = 0xE0000;

/// Whether a character is not seen: invisible, zero wide, or turning the direction of what follows.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{34F}' | '\u{61C}'
        | '\u{115F}'..='\u{1160}'
        | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// What was passed so far, as much as judging the next character takes.
#[derive(Debug, Default)]
pub(super) struct Glance {
    before: Option<char>,
    /// Tag characters still to come of a flag that is spelled as it should be.
    flag_tags: usize,
}

impl Glance {
    /// Goes past the first character of `here`.
    pub(super) fn pass(&mut self, letter: char, here: &str) {
        self.flag_tags = if letter == BLACK_FLAG { flag_tags(here) } else { self.flag_tags.saturating_sub(1) };
        self.before = Some(letter);
    }
}

/// Whether an invisible character belongs where it stands. `here` is the text that begins with it.
pub(super) fn is_kept(letter: char, glance: &Glance, here: &str) -> bool {
    let Some(before) = glance.before else { return false };
    let after = here.chars().nth(1);
    match letter {
        '\u{FE00}'..='\u{FE0F}' => is_seen(before),
        '\u{E0100}'..='\u{E01EF}' => is_ideograph(before),
        '\u{200D}' if is_emoji(before) || before == '\u{FE0F}' => after.is_some_and(is_emoji),
        '\u{200C}' | '\u{200D}' => joins(before) && after.is_some_and(joins),
        '\u{E0020}'..='\u{E007F}' => glance.flag_tags > 0,
        _ => false,
    }
}

/// How many tag characters follow the flag that `here` begins with, when they spell one.
fn flag_tags(here: &str) -> usize {
    let mut tags = here.chars().skip(1);
    let spelled: String =
        tags.by_ref().take(5).filter_map(|tag| char::from_u32((tag as u32).wrapping_sub(TAG_FIRST))).collect();
    if TAGGED_FLAGS.contains(&spelled.as_str()) && tags.next() == Some(TAG_END) { spelled.len() + 1 } else { 0 }
}

fn is_seen(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control() && !is_invisible(letter)
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Letters of scripts in which joiners change how a word is written: Arabic to Sinhala, Myanmar, Khmer, Mongolian.
fn joins(letter: char) -> bool {
    let is_of_script = matches!(letter, '\u{600}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}');
    is_of_script && !is_invisible(letter)
}
