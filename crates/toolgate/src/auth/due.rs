//! When a login is renewed, and whether it still has to be. Pure.

use std::time::{Duration, SystemTime};

use super::login::Login;
use crate::limits::REFRESH_AHEAD_MS;
use crate::secret::Secret;

/// Why somebody asks for another login than the one at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// None is at hand, or it ends soon.
    Due,
    /// The server did not take it: this token, or a request without any.
    Refused(Option<Secret>),
}

/// What to do with the login that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is good.
    Use,
    /// It has to be renewed.
    Renew,
}

/// From when on a login is renewed: a while before its end, and in the last tenth of a short life. `None` when it has no end.
pub(crate) fn due_at(login: &Login) -> Option<SystemTime> {
    let end = login.expires_at?;
    let life = end.duration_since(login.obtained_at).unwrap_or_default();
    let ahead = Duration::from_millis(REFRESH_AHEAD_MS).min(life / 10);
    Some(end.checked_sub(ahead).unwrap_or(end))
}

/// Whether a login has ended.
pub(crate) fn is_over(login: &Login, now: SystemTime) -> bool {
    login.expires_at.is_some_and(|end| end <= now)
}

/// What to do with the login that is kept, now that nobody else can change it.
pub(crate) fn next(stored: Option<&Login>, reason: &Reason, now: SystemTime) -> Next {
    let Some(login) = stored else { return Next::Renew };
    let is_refused = matches!(reason, Reason::Refused(Some(token)) if *token == login.access_token);
    if is_refused || due_at(login).is_some_and(|due| due <= now) { Next::Renew } else { Next::Use }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::{Next, Reason, due_at, is_over, next};
    use crate::auth::login::Login;
    use crate::auth::login::samples::login;
    use crate::secret::Secret;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn living(from: u64, to: Option<u64>) -> Login {
        Login { obtained_at: at(from), expires_at: to.map(at), ..login("one") }
    }

    #[test]
    fn a_login_is_renewed_a_while_before_its_end() {
        let cases = [
            ("a day", 1_000, Some(87_400), Some(87_100)),
            ("an hour", 1_000, Some(4_600), Some(4_300)),
            ("ten minutes", 1_000, Some(1_600), Some(1_540)),
            ("ten seconds", 1_000, Some(1_010), Some(1_009)),
            ("no time at all", 1_000, Some(1_000), Some(1_000)),
            ("ended before it began", 1_000, Some(900), Some(900)),
            ("no end", 1_000, None, None),
        ];
        for (what, from, to, expected) in cases {
            assert_eq!(due_at(&living(from, to)), expected.map(at), "{what}");
        }
    }

    #[test]
    fn a_kept_login_is_used_unless_it_is_refused_or_ends_soon() {
        let refused = |token: &str| Reason::Refused(Some(Secret::new(token)));
        let long = living(1_000, Some(4_600));
        let cases = [
            ("none", None, Reason::Due, 1_000, Next::Renew),
            ("good", Some(&long), Reason::Due, 1_000, Next::Use),
            ("ends soon", Some(&long), Reason::Due, 4_300, Next::Renew),
            ("over", Some(&long), Reason::Due, 5_000, Next::Renew),
            ("another was refused", Some(&long), refused("two"), 1_000, Next::Use),
            ("another was refused, and it ends soon", Some(&long), refused("two"), 4_400, Next::Renew),
            ("this one was refused", Some(&long), refused("one"), 1_000, Next::Renew),
            ("a request without any was refused", Some(&long), Reason::Refused(None), 1_000, Next::Use),
        ];
        for (what, stored, reason, now, expected) in cases {
            assert_eq!(next(stored, &reason, at(now)), expected, "{what}");
        }
        assert!(is_over(&long, at(4_600)) && !is_over(&long, at(4_599)) && !is_over(&living(1, None), at(9_999)));
    }
}
