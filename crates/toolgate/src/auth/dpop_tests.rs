//! Tests of `dpop`.
