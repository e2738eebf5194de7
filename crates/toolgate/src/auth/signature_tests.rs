//! Tests of `signature`.
