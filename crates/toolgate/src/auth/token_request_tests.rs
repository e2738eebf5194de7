//! Tests of `token_request`.
