//! How far a rule reaches when a text can be read in more than one way.

/// How far a rule reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Only what is certainly meant: for what permits.
    Permission,
    /// Everything that could be meant: for what restricts.
    Restriction,
}
