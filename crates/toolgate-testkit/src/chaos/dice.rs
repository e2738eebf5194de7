//! `Dice`: numbers that look random and follow from a seed.

/// Numbers that follow from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of that seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The numbers of that seed for one thing, whose name is these words: the same in whatever order things are asked about.
    #[must_use]
    pub fn about(seed: u64, words: &[&str]) -> Self {
        // FNV-1a, with a byte between words that no text contains.
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0xff]));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut dice = Self(seed ^ hash);
        dice.roll();
        dice
    }

    /// The next number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number, below `end`; 0 when that is 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        let rolled = self.roll();
        if end == 0 { 0 } else { rolled % end }
    }

    /// Whether something happens that happens so often in a thousand times.
    pub const fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// One of several; nothing of nothing.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let at = self.below(things.len() as u64);
        things.get(usize::try_from(at).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let rolls = |mut dice: Dice| (0..5).map(|_| dice.below(1_000)).collect::<Vec<_>>();
        assert_eq!(rolls(Dice::new(7)), rolls(Dice::new(7)));
        assert_ne!(rolls(Dice::new(7)), rolls(Dice::new(8)));
        assert_eq!(rolls(Dice::about(7, &["a", "b"])), rolls(Dice::about(7, &["a", "b"])));
        assert_ne!(rolls(Dice::about(7, &["a", "b"])), rolls(Dice::about(7, &["ab"])));
    }

    #[test]
    fn chances_are_what_they_say() {
        let mut dice = Dice::new(1);
        let hits = (0..100_000).filter(|_| dice.happens(100)).count();
        assert!((9_000..11_000).contains(&hits), "{hits}");
        assert_eq!((Dice::new(1).below(0), Dice::new(1).pick::<u8>(&[])), (0, None));
    }
}
