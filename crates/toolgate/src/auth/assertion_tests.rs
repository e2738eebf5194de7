//! Tests of `assertion`.
