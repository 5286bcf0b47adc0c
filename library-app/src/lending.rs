//! The rules of lending.

use es_framework::prelude::*;

use crate::reader::Reader;

const SECONDS_A_DAY: i64 = 24 * 60 * 60;
const CENTS_A_DAY: i64 = 50;

/// The limits of lending.
#[derive(Debug, Settings)]
pub struct LendingRules {
    /// The number of copies that a reader may hold at once.
    #[setting(default = 5)]
    pub loan_limit: u32,
    /// The number of days for which a copy is lent.
    #[setting(default = 28)]
    pub loan_days: u32,
    /// The number of titles that a reader may have reserved at once.
    #[setting(default = 3)]
    pub reservation_limit: u32,
    /// The number of days for which a copy is set aside for a reader who has reserved it.
    #[setting(default = 7)]
    pub hold_days: u32,
}

impl LendingRules {
    /// Returns true if the reader holds fewer copies than allowed.
    pub fn allow_loan(&self, reader: &Reader) -> bool {
        is_below(self.loan_limit, reader.loans.len())
    }

    /// Returns true if the reader has fewer reservations than allowed.
    pub fn allow_reservation(&self, reader: &Reader) -> bool {
        is_below(self.reservation_limit, reader.reservations.len())
    }

    /// Returns the due date of a copy that is lent now.
    pub fn due_at(&self, now: Timestamp) -> Timestamp {
        after_days(self.loan_days, now)
    }

    /// Returns the time until which a copy is set aside now.
    pub fn held_until(&self, now: Timestamp) -> Timestamp {
        after_days(self.hold_days, now)
    }

    /// Returns the fee: an amount for each started day past the due date.
    pub fn late_fee_cents(&self, due_at: Timestamp, now: Timestamp) -> i64 {
        let late = now.duration_since(due_at);
        if !late.is_positive() {
            return 0;
        }
        let seconds = late.as_secs() + i64::from(late.subsec_nanos() > 0);
        let started_days = (seconds + SECONDS_A_DAY - 1) / SECONDS_A_DAY;
        started_days * CENTS_A_DAY
    }
}

fn is_below(limit: u32, count: usize) -> bool {
    u32::try_from(count).is_ok_and(|count| count < limit)
}

fn after_days(days: u32, now: Timestamp) -> Timestamp {
    let end = now.as_second() + i64::from(days) * SECONDS_A_DAY;
    Timestamp::new(end, now.subsec_nanosecond()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use es_framework::settings::DeclaredSettings as _;

    use super::*;

    #[test]
    fn the_reference_has_a_row_for_every_setting() {
        let page = include_str!("../../docs/src/reference/settings.md");
        for arg in LendingRules::arguments() {
            let [flag, default] = [arg.get_long(), arg.get_default_values()[0].to_str()];
            let env = arg.get_env().and_then(|env| env.to_str());
            let row = [env, flag, default].map(Option::unwrap);
            let row = format!("| `{}` | `--{}` | `{}` |", row[0], row[1], row[2]);
            assert!(page.contains(&row), "{row} is missing");
        }
    }
}
