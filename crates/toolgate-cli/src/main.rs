//! The toolgate program.

fn main() {}
