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

/// Writes times for records; what those of one second have in common is written once.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// The second, counted since 1970, with the start of its times up to the point.
    last: Option<(u64, String)>,
}

impl Stamps {
    /// The same as [`written`].
    pub(super) fn of(&mut self, at: SystemTime) -> String {
        let Ok(since) = at.duration_since(SystemTime::UNIX_EPOCH) else { return written(at) };
        let start = match &self.last {
            Some((second, start)) if *second == since.as_secs() => start,
            _ => {
                let text = written(at);
                let start = text.get(..text.len().saturating_sub("678Z".len())).unwrap_or_default().to_owned();
                self.last = Some((since.as_secs(), start));
                return text;
            }
        };
        let millis = since.subsec_millis();
        let digit = |of: u32| char::from_digit(of % 10, 10).unwrap_or('0');
        let mut text = start.clone();
        text.extend([digit(millis / 100), digit(millis / 10), digit(millis), 'Z']);
        text
    }
}

/// Milliseconds since 1970.
pub(super) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Stamps, millis, moment, written, written_moment};

    #[test]
    fn stamps_are_what_is_written() {
        let mut stamps = Stamps::default();
        let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        let later =
            [0, 1, 12, 999, 1_000, 1_007, 86_400_000, 86_400_120].map(|millis| second + Duration::from_millis(millis));
        for at in
            later.into_iter().chain([second, SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH - Duration::from_millis(5)])
        {
            assert_eq!(stamps.of(at), written(at));
            assert_eq!(stamps.of(at + Duration::from_micros(100)), written(at + Duration::from_micros(100)));
        }
    }

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
