//! Tests of `machine`.
