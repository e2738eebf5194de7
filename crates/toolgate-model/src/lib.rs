//! The model in front of a [`toolgate::Host`]: which tools it is offered and in which words, and the turns in which it uses them.
//!
//! [`provider`] (who answers) → [`declare`] (a tool in the words of a provider).

pub mod provider;

pub mod declare;
