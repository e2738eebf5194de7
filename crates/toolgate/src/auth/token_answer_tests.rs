//! Tests of `token_answer`.
