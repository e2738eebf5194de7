//! Stage 7 · the memory of what servers offered: one file for each server, found again only while nothing has changed that decides what it
//! offers. Only what servers said is in it, no secret and no decision; what is missing or broken is asked again.

mod offers;

mod fingerprint;

mod key;

mod written;

mod freshness;

#[cfg(test)]
mod sample;

pub use freshness::{Freshness, freshness};
pub(crate) use offers::KeptReader;
pub use offers::{KeptOffers, KeptPlace};
pub use written::KeptOffer;
