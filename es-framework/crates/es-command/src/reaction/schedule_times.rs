//! Computes the times of a schedule.
//!
//! The cron expression is read by the clock on the wall of the time zone, which then becomes a point in time. A time
//! that the clock skips is met at the first moment after the gap, and a time that it shows twice is met at the first of
//! the two.

use std::{collections::BTreeMap, sync::Arc};

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{
    SignedDuration, Timestamp, ToSpan as _,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};

use super::{MissedTimes, ReactionDescriptor, ReactionError, ReactionTiming, Schedule};

/// The highest number of missed times that `missed = all` makes up for.
const MAX_MISSED: usize = 100;
/// A time that is met within a minute is not missed: cron has no smaller unit.
const PUNCTUAL: SignedDuration = SignedDuration::from_mins(1);

/// The schedules of a reaction, by the index of the step.
pub(super) type StepSchedules = Arc<BTreeMap<usize, ScheduleTimes>>;

/// Parses the schedules of a reaction.
pub(super) fn parse_schedules(
    reaction: &ReactionDescriptor,
) -> Result<StepSchedules, ReactionError> {
    let steps = reaction.steps.iter().enumerate();
    let schedules = steps.filter_map(|(step, declared)| match &declared.when {
        ReactionTiming::Schedule(schedule) => Some((step, schedule)),
        ReactionTiming::Immediate | ReactionTiming::Deadline(_) => None,
    });
    let parsed = schedules.map(|(step, schedule)| Ok((step, ScheduleTimes::parse(schedule)?)));
    parsed.collect::<Result<_, _>>().map(Arc::new)
}

/// The times of a schedule.
#[derive(Debug)]
pub(super) struct ScheduleTimes {
    cron: Cron,
    zone: TimeZone,
    missed: MissedTimes,
}

impl ScheduleTimes {
    /// Parses a schedule. `#[schedule]` has checked it, but not one that is written by hand.
    pub(super) fn parse(schedule: &Schedule) -> Result<Self, ReactionError> {
        let refused = |reason: String| ReactionError::Schedule {
            cron: schedule.cron,
            zone: schedule.zone,
            reason,
        };
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser.parse(schedule.cron);
        let zone = TimeZoneDatabase::bundled().get(schedule.zone);
        Ok(Self {
            cron: cron.map_err(|error| refused(error.to_string()))?,
            zone: zone.map_err(|error| refused(error.to_string()))?,
            missed: schedule.missed,
        })
    }

    /// Returns the rule for missed times.
    pub(super) const fn missed(&self) -> MissedTimes {
        self.missed
    }

    /// Returns the first time after another one.
    pub(super) fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        let mut shown = self.zone.to_datetime(time);
        loop {
            shown = self.cron.find_next_occurrence(&shown, false).ok()?;
            // In a repeated hour, the clock shows times that were met in its first run.
            let next = self.find_moment(shown)?;
            if next > time {
                return Some(next);
            }
        }
    }

    /// Returns true if a time lies more than a minute behind one moment and before another one.
    pub(super) fn has_time_between(&self, from: Timestamp, until: Timestamp) -> bool {
        let from = from.saturating_add(PUNCTUAL).unwrap_or(Timestamp::MAX);
        from < until && self.next_after(from).is_some_and(|next| next < until)
    }

    /// Returns the time that comes next if the first open time has passed: this one, or a later one if missed times
    /// are left out.
    pub(super) fn skip_missed(&self, first: Timestamp, now: Timestamp) -> Timestamp {
        let next = match self.missed {
            MissedTimes::One => self.times_until(now).next(),
            MissedTimes::All => {
                let newest = self.times_until(now).take(MAX_MISSED);
                newest.take_while(|time| *time >= first).last()
            }
            MissedTimes::None => {
                let late = now.saturating_sub(PUNCTUAL).unwrap_or(Timestamp::MIN);
                (first <= late).then(|| self.next_after(late)).flatten()
            }
        };
        next.unwrap_or(first).max(first)
    }

    /// Returns the times until a moment, the newest first.
    fn times_until(&self, until: Timestamp) -> impl Iterator<Item = Timestamp> {
        // The search is before a time, and the clock has shown later times than now if it went back.
        let margin = if self.was_clock_changed_before(until) {
            1.day()
        } else {
            1.minute()
        };
        let shown = self.zone.to_datetime(until);
        let mut shown = shown.checked_add(margin).unwrap_or(DateTime::MAX);
        let mut last = None;
        let times = std::iter::from_fn(move || {
            loop {
                shown = self.cron.find_previous_occurrence(&shown, false).ok()?;
                // All times that the clock skips are met at the same moment.
                let moment = Some(self.find_moment(shown)?);
                if moment != std::mem::replace(&mut last, moment) {
                    return moment;
                }
            }
        });
        times.skip_while(move |time| *time > until)
    }

    /// Returns true if the clock on the wall may have shown later times than at this moment, because it was changed within
    /// the last day.
    fn was_clock_changed_before(&self, moment: Timestamp) -> bool {
        let next = moment.saturating_add(1.second()).unwrap_or(moment);
        let change = self.zone.preceding(next).next();
        change.is_some_and(|change| {
            moment.duration_since(change.timestamp()) <= SignedDuration::from_hours(24)
        })
    }

    /// Returns the moment at which the clock on the wall shows a time.
    fn find_moment(&self, shown: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(shown).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(shown).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                let before_gap = after.to_timestamp(shown).ok()?;
                let mut transitions = self.zone.following(before_gap);
                transitions.next().map(|gap| gap.timestamp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn in_berlin(cron: &'static str, missed: MissedTimes) -> ScheduleTimes {
        let zone = "Europe/Berlin";
        ScheduleTimes::parse(&Schedule { cron, zone, missed }).unwrap()
    }

    /// The clock goes from 02:00 to 03:00 on 29 March at 01:00 UTC, and from 03:00 to 02:00 on 25 October at 01:00 UTC.
    #[test]
    fn times_are_those_of_the_clock_on_the_wall_at_both_changes_of_summer_time() {
        let cases: [(&str, &str, &[&str]); 8] = [
            (
                "0 6 * * *",
                "03-28T00:00",
                &["03-28T05:00", "03-29T04:00", "03-30T04:00"],
            ),
            (
                "0 6 * * *",
                "10-24T00:00",
                &["10-24T04:00", "10-25T05:00", "10-26T05:00"],
            ),
            (
                "30 2 * * *",
                "03-28T00:00",
                &["03-28T01:30", "03-29T01:00", "03-30T00:30"],
            ),
            (
                "30 2 * * *",
                "10-24T00:00",
                &["10-24T00:30", "10-25T00:30", "10-26T01:30"],
            ),
            (
                "0 2,14 * * *",
                "03-28T20:00",
                &["03-29T01:00", "03-29T12:00", "03-30T00:00"],
            ),
            (
                "0 2,14 * * *",
                "10-24T20:00",
                &["10-25T00:00", "10-25T13:00", "10-26T01:00"],
            ),
            (
                "*/30 * * * *",
                "03-29T00:00",
                &["03-29T00:30", "03-29T01:00", "03-29T01:30"],
            ),
            (
                "*/30 * * * *",
                "10-25T00:00",
                &["10-25T00:30", "10-25T02:00", "10-25T02:30"],
            ),
        ];
        for (cron, from, expected) in cases {
            let schedule = in_berlin(cron, MissedTimes::One);
            let at = |text: &str| time(&format!("2026-{text}:00Z"));
            let mut last = at(from);
            for expected in expected {
                last = schedule.next_after(last).unwrap();
                assert_eq!(last, at(expected), "{cron} after {from}");
            }
        }
    }

    #[test]
    fn within_the_repeated_hour_the_last_missed_time_is_that_of_its_first_run() {
        let schedule = in_berlin("*/30 * * * *", MissedTimes::One);
        let (first, now) = (time("2026-10-24T00:00:00Z"), time("2026-10-25T01:15:00Z"));
        let last = schedule.skip_missed(first, now);
        assert_eq!(last, time("2026-10-25T00:30:00Z"));
    }

    #[test]
    fn a_time_between_two_seconds_is_before_the_next_one() {
        let schedule = in_berlin("0 6 * * *", MissedTimes::One);
        let next = schedule.next_after(time("2026-07-01T03:59:59.7Z"));
        assert_eq!(next, Some(time("2026-07-01T04:00:00Z")));
        let next = schedule.next_after(time("2026-07-01T04:00:00.2Z"));
        assert_eq!(next, Some(time("2026-07-02T04:00:00Z")));
    }

    #[test]
    fn a_day_that_never_comes_has_no_time() {
        let schedule = in_berlin("0 6 30 2 *", MissedTimes::All);
        assert_eq!(schedule.next_after(time("2026-07-01T00:00:00Z")), None);
    }
}
