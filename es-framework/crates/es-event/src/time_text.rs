//! The points in time and the dates that requests may contain, and that a column can hold.

use jiff::{Timestamp, civil::Date};

/// The rule, for clients.
pub const RULE: &str = "must be a point in time such as 2026-07-01T12:00:00Z, from the year 0 to the year 9998, with at most nine digits of a second";

/// The rule as a pattern beside `"format": "date-time"`. RFC 3339 also allows the year 9999 and more digits, which
/// [`Timestamp`] does not hold. With the year 0 or 9999, an offset could lead to another year.
pub const PATTERN: &str = r"^(000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-8]\d{3}|9[0-8]\d\d|99[0-8]\d|999[0-8])-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$";

/// The rule of a date, for clients.
pub const DATE_RULE: &str = "must be a date such as 2026-07-01, from the year 0 to the year 9999";

/// A text that is a date, and no point in time.
pub const ANY_DATE: &str = "2026-07-01";

/// The rule of a date as a pattern beside `"format": "date"`.
pub const DATE_PATTERN: &str = r"^\d{4}-\d\d-\d\d$";

/// The begin of the year 0. A time before it has a sign in its text, so texts would not sort by time.
const FIRST: Timestamp = Timestamp::constant(-62_167_219_200, 0);

/// Checks that the time is not before the year 0.
///
/// # Errors
/// Returns the rule.
pub fn check_time(time: Timestamp) -> Result<(), String> {
    if time < FIRST {
        return Err(RULE.to_owned());
    }
    Ok(())
}

/// Checks that the date is not before the year 0.
///
/// # Errors
/// Returns the rule.
pub fn check_date(date: Date) -> Result<(), String> {
    if date.year() < 0 {
        return Err(DATE_RULE.to_owned());
    }
    Ok(())
}

/// Returns true if a text was refused with this message as a point in time or as a date.
#[must_use]
pub fn is_refusal(text: &str, message: &str) -> bool {
    let time = text.parse::<Timestamp>().err();
    let date = text.parse::<Date>().err();
    let mut errors = [time, date].into_iter().flatten();
    errors.any(|error| error.to_string() == message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_sort_as_texts_from_the_year_0_on() {
        let first: Date = "0000-01-01".parse().unwrap();
        assert!(check_date(first).is_ok());
        assert_eq!(first.to_string(), "0000-01-01");
        let before: Date = "-000001-12-31".parse().unwrap();
        assert_eq!(check_date(before), Err(DATE_RULE.to_owned()));
    }

    #[test]
    fn texts_sort_by_time_from_the_year_0_on() {
        let first: Timestamp = "0000-01-01T00:00:00Z".parse().unwrap();
        assert!(check_time(first).is_ok());
        assert_eq!(first.to_string(), "0000-01-01T00:00:00Z");
        let before: Timestamp = "-000001-12-31T23:59:59.999999999Z".parse().unwrap();
        assert_eq!(check_time(before), Err(RULE.to_owned()));
    }
}
