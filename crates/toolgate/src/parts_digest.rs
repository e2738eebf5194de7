//! `PartsDigest`: a hash over parts that are told apart. Each is written with its length, so two lists of parts have the same hash only when they
//! are the same list.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

/// Parts that become one hash.
#[derive(Default)]
pub(crate) struct PartsDigest(Vec<u8>);

impl PartsDigest {
    /// One more part.
    pub(crate) fn put(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.count(part.len());
        self.0.extend_from_slice(part);
    }

    /// How many parts follow that belong together.
    pub(crate) fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_le_bytes());
    }

    /// A part that may be missing, which is something else than an empty one.
    pub(crate) fn maybe(&mut self, part: Option<impl AsRef<[u8]>>) {
        self.count(usize::from(part.is_some()));
        part.into_iter().for_each(|part| self.put(part));
    }

    /// Parts that belong together.
    pub(crate) fn all(&mut self, parts: impl ExactSizeIterator<Item: AsRef<[u8]>>) {
        self.count(parts.len());
        parts.for_each(|part| self.put(part));
    }

    /// The SHA-256 of all parts.
    pub(crate) fn finish(&self) -> [u8; SHA256_OUTPUT_LEN] {
        let mut hash = [0; SHA256_OUTPUT_LEN];
        hash.copy_from_slice(digest(&SHA256, &self.0).as_ref());
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::PartsDigest;

    #[test]
    fn only_the_same_parts_have_the_same_hash() {
        let of = |write: &dyn Fn(&mut PartsDigest)| {
            let mut parts = PartsDigest::default();
            write(&mut parts);
            parts.finish()
        };
        let none: Option<&str> = None;
        let all = [
            of(&|_| ()),
            of(&|parts| parts.put("ab")),
            of(&|parts| ["a", "b"].into_iter().for_each(|part| parts.put(part))),
            of(&|parts| parts.all(["a", "b"].into_iter())),
            of(&|parts| parts.put("")),
            of(&|parts| parts.maybe(Some(""))),
            of(&|parts| parts.put("ba")),
        ];
        for (at, hash) in all.iter().enumerate() {
            assert!(!all[..at].contains(hash), "{at}");
        }
        assert_eq!(of(&|parts| parts.put("ab")), all[1]);
        assert_ne!(of(&|parts| parts.maybe(none)), of(&|parts| parts.maybe(Some(""))));
    }
}
