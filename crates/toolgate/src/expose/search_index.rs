//! BM25 over documents of several fields (BM25F): how often a word stands in each field, weighed by the field and its length, against how many documents have it;
//! and how many words of the question a document has at all.
//!
//! Pure arithmetic in a fixed order, so that the same documents and the same question always give the same answer; ties keep the order of the documents.

use std::collections::HashMap;

use super::search_synonyms;
use super::search_words::{each_word, is_filler};

/// How quickly further occurrences of a word stop counting.
const SATURATION: f32 = 1.2;

/// How much a long field is held against its words.
const LENGTH_SHARE: f32 = 0.6;

/// How much a word counts that only begins with the one asked for.
const PREFIX_WEIGHT: f32 = 0.5;

/// The shortest beginning of a word that is looked for.
const PREFIX_CHARS: usize = 3;

/// Words that one beginning may stand for.
const PREFIXED_WORDS: usize = 32;

/// Words of one question that count; the first ones.
const QUESTION_WORDS: usize = 64;

/// Fields of a document, and how much a word counts in each.
pub(super) const FIELDS: usize = 6;
const WEIGHTS: [f32; FIELDS] = [3.0, 2.0, 1.5, 1.0, 1.0, 0.5];

/// An index over documents.
#[derive(Debug, Default)]
pub(super) struct Index {
    documents: usize,
    words: HashMap<Box<str>, u32>,
    /// The numbers of the words in the order of the alphabet.
    alphabet: Vec<u32>,
    spelled: Vec<Box<str>>,
    /// For each word the documents that have it, with how much it counts there.
    postings: Vec<Vec<(u32, f32)>>,
    /// For each word that is in a group, the words of the same group.
    alike: HashMap<Box<str>, Vec<Box<str>>>,
}

/// How well a document fits.
#[derive(Debug, Clone, Copy, Default)]
struct Fit {
    /// What its words count.
    counts: f32,
    /// How many of the words that were asked for it has; one that stands for another is a part of it.
    share: f32,
}

/// How often a word stands in a field of a document.
struct Occurrence {
    word: u32,
    document: u32,
    field: u8,
    count: u16,
}

impl Index {
    /// Builds the index. A document has one text for each field.
    pub(super) fn build<'a>(documents: impl Iterator<Item = [std::borrow::Cow<'a, str>; FIELDS]>) -> Self {
        let mut index = Self { alike: alike(), ..Self::default() };
        let mut occurrences: Vec<Occurrence> = Vec::new();
        let mut lengths: Vec<[u32; FIELDS]> = Vec::new();
        let mut words: Vec<u32> = Vec::new();
        for (document, fields) in (0_u32..).zip(documents) {
            let mut length = [0_u32; FIELDS];
            for ((field, text), length) in (0_u8..).zip(&fields).zip(&mut length) {
                words.clear();
                each_word(text, |word| words.push(index.number_of(word)));
                words.sort_unstable();
                *length = u32::try_from(words.len()).unwrap_or(u32::MAX);
                occurrences.extend(words.chunk_by(|one, other| one == other).filter_map(|same| {
                    let count = u16::try_from(same.len()).unwrap_or(u16::MAX);
                    Some(Occurrence { word: *same.first()?, document, field, count })
                }));
            }
            lengths.push(length);
        }
        index.documents = lengths.len();
        index.weigh(&occurrences, &lengths);
        index.alphabet = (0..).take(index.spelled.len()).collect();
        let spelled = &index.spelled;
        index.alphabet.sort_unstable_by_key(|number| spelled.get(*number as usize));
        index
    }

    fn number_of(&mut self, word: &str) -> u32 {
        if let Some(number) = self.words.get(word) {
            return *number;
        }
        let number = u32::try_from(self.spelled.len()).unwrap_or(u32::MAX);
        self.words.insert(word.into(), number);
        self.spelled.push(word.into());
        number
    }

    fn weigh(&mut self, occurrences: &[Occurrence], lengths: &[[u32; FIELDS]]) {
        let mut averages = [1.0_f32; FIELDS];
        for (field, average) in averages.iter_mut().enumerate() {
            let filled = lengths.iter().filter_map(|length| length.get(field)).filter(|length| **length > 0);
            let (count, sum) =
                filled.fold((0_u32, 0_u64), |(count, sum), length| (count + 1, sum + u64::from(*length)));
            if count > 0 {
                *average = sum as f32 / count as f32;
            }
        }
        self.postings = vec![Vec::new(); self.spelled.len()];
        for one in occurrences {
            let field = usize::from(one.field);
            let length = lengths.get(one.document as usize).and_then(|length| length.get(field)).copied().unwrap_or(1);
            let average = averages.get(field).copied().unwrap_or(1.0);
            let weight = WEIGHTS.get(field).copied().unwrap_or(0.0);
            let norm = 1.0 - LENGTH_SHARE + LENGTH_SHARE * length as f32 / average;
            let counts = weight * f32::from(one.count) / norm;
            let Some(posting) = self.postings.get_mut(one.word as usize) else { continue };
            match posting.last_mut() {
                Some((document, so_far)) if *document == one.document => *so_far += counts,
                _ => posting.push((one.document, counts)),
            }
        }
    }

    /// The documents that fit the question best, best first, with how well: how much its words count there, times the share of them that is there.
    pub(super) fn search(&self, question: &str, limit: usize) -> Vec<(usize, f32)> {
        let asked = self.asked(question);
        let mut fits = vec![Fit::default(); self.documents];
        let mut of_word = vec![Fit::default(); self.documents];
        let mut having: Vec<u32> = Vec::new();
        for alternatives in &asked {
            for (word, weight) in alternatives {
                self.look_for(*word, *weight, &mut of_word, &mut having);
            }
            for document in having.drain(..) {
                let document = document as usize;
                if let (Some(fit), Some(of_word)) = (fits.get_mut(document), of_word.get_mut(document)) {
                    let Fit { counts, share } = std::mem::take(of_word);
                    fit.counts += counts;
                    fit.share += share;
                }
            }
        }
        let words = asked.len() as f32;
        let fits = fits.into_iter().map(|fit| fit.counts * fit.share / words).enumerate();
        let mut found: Vec<(usize, f32)> = fits.filter(|(_, score)| *score > 0.0).collect();
        let best_first = |one: &(usize, f32), other: &(usize, f32)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
        if found.len() > limit {
            found.select_nth_unstable_by(limit, best_first);
            found.truncate(limit);
        }
        found.sort_unstable_by(best_first);
        found
    }

    /// For each word of the question those that are looked for, with how much each counts.
    fn asked(&self, question: &str) -> Vec<Vec<(u32, f32)>> {
        let mut asked: Vec<String> = Vec::new();
        each_word(question, |word| {
            if asked.len() < QUESTION_WORDS && !asked.iter().any(|known| known == word) {
                asked.push(word.to_owned());
            }
        });
        if !asked.iter().all(|word| is_filler(word)) {
            asked.retain(|word| !is_filler(word));
        }
        asked.iter().map(|word| self.alternatives(word)).collect()
    }

    /// A word, or those that begin like it; and others of its group.
    fn alternatives(&self, word: &str) -> Vec<(u32, f32)> {
        let mut found: Vec<(u32, f32)> = match self.words.get(word) {
            Some(number) => vec![(*number, 1.0)],
            None => self.beginning_with(word).map(|number| (number, PREFIX_WEIGHT)).collect(),
        };
        let alike = self.alike.get(word).into_iter().flatten().filter_map(|word| self.words.get(word));
        found.extend(alike.map(|number| (*number, search_synonyms::WEIGHT)));
        found
    }

    /// The first words of the alphabet that begin like this.
    fn beginning_with<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = u32> + 'a {
        let spelled = |number: u32| self.spelled.get(number as usize).map_or("", AsRef::as_ref);
        let first = self.alphabet.partition_point(|number| spelled(*number) < beginning);
        let is_long = beginning.chars().nth(PREFIX_CHARS - 1).is_some();
        let rest = self.alphabet.get(first..).filter(|_| is_long).unwrap_or_default();
        rest.iter().copied().take_while(move |number| spelled(*number).starts_with(beginning)).take(PREFIXED_WORDS)
    }

    /// What a word counts in the documents that have it. Of several words for the same, the one counts that counts most: a document that has
    /// them all says no more than one that has the right one.
    fn look_for(&self, word: u32, weight: f32, of_word: &mut [Fit], having: &mut Vec<u32>) {
        let Some(posting) = self.postings.get(word as usize) else { return };
        let (all, documents) = (self.documents as f32, posting.len() as f32);
        let rarity = (1.0 + (all - documents + 0.5) / (documents + 0.5)).ln();
        for (document, counts) in posting {
            let Some(fit) = of_word.get_mut(*document as usize) else { continue };
            if fit.share == 0.0 {
                having.push(*document);
            }
            fit.counts = fit.counts.max(weight * rarity * counts / (SATURATION + counts));
            fit.share = fit.share.max(weight);
        }
    }
}

/// For each word of a group the others of it.
fn alike() -> HashMap<Box<str>, Vec<Box<str>>> {
    let stemmed = |word: &str| {
        let mut stemmed = String::new();
        each_word(word, |word| stemmed.push_str(word));
        stemmed
    };
    let words = search_synonyms::groups(stemmed);
    let mut alike: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
    for (word, group) in &words {
        let others =
            words.iter().filter(|(other, of)| of == group && other != word).map(|(other, _)| other.as_str().into());
        alike.entry(word.as_str().into()).or_default().extend(others);
    }
    alike
}

#[cfg(test)]
#[path = "search_index_tests.rs"]
mod tests;
