//! Tests of `authorization_url`.
