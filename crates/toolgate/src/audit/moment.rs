//! Times as people type them and as records have them.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Units a time span may have, in seconds.
const UNITS: [(&str, u64); 5] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400)];

/// The time that a text means: so long ago (`30m`, `24h`, `7d`, `2w`), a moment (`2026-01-02T03:04:05Z`), or the beginning of a day in UTC
/// (`2026-01-02`).
#[must_use]
pub fn moment(text: &str, now: SystemTime) -> Option<SystemTime> {
    let text = text.trim();
    let span = UNITS.iter().find_map(|(unit, seconds)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(count.checked_mul(*seconds)?))
    });
    if let Some(span) = span {
        return Some(now.checked_sub(span).unwrap_or(SystemTime::UNIX_EPOCH).max(SystemTime::UNIX_EPOCH));
    }
    if let Some(written) = written_moment(text) {
        return Some(written);
    }
    let day: Date = text.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}

/// The time that a record has.
pub(super) fn written_moment(text: &str) -> Option<SystemTime> {
    text.parse::<Timestamp>().ok().map(Into::into)
}

/// A time for a record: in UTC, with milliseconds.
pub(super) fn written(at: SystemTime) -> String {
    let at = Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

/// Milliseconds since 1970.
pub(super) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{millis, moment, written, written_moment};

    #[test]
    fn times_are_read_as_people_type_them() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_323_045_678);
        assert_eq!(written(now), "2026-01-02T03:04:05.678Z");
        assert_eq!(written(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        let cases = [
            ("5s", "2026-01-02T03:04:00.678Z"),
            ("4m", "2026-01-02T03:00:05.678Z"),
            ("24h", "2026-01-01T03:04:05.678Z"),
            (" 1d ", "2026-01-01T03:04:05.678Z"),
            ("1w", "2025-12-26T03:04:05.678Z"),
            ("99999w", "1970-01-01T00:00:00.000Z"),
            ("2026-01-01T10:00:00+02:00", "2026-01-01T08:00:00.000Z"),
            ("2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00.500Z"),
            ("2025-12-31", "2025-12-31T00:00:00.000Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(moment(text, now).map(written).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "7", "d", "-1d", "1y", "yesterday", "2026-13-01", "99999999999999999999d"] {
            assert_eq!(moment(text, now), None, "{text}");
        }
        assert_eq!(written_moment(&written(now)), Some(now));
        assert_eq!(millis(now), 1_767_323_045_678);
    }
}
