//! Behaviour of the peer.
