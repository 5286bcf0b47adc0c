//! A schedule meets each of its times once, none of them early, although clocks jump and processes are killed.

use jiff::Timestamp;

use super::LogFold;

/// The minutes between two times of the schedule.
const INTERVAL: i64 = 20;
/// At the end of a run, all clocks are moved forward by ten hours. At the first start, one of them may have been an hour
/// ahead.
const FEWEST: usize = 26;

pub(super) fn collect_violations(log: &LogFold, violations: &mut Vec<String>) {
    let mut minutes = Vec::new();
    for rung in log.events_named("BellRungEvent") {
        let minute = rung.payload_number("minute");
        let time = Timestamp::from_second(minute.saturating_mul(60));
        if time.is_ok_and(|time| rung.latest_time < time) {
            violations.push(format!("the bell rang before minute {minute}"));
        }
        minutes.push(minute);
    }
    minutes.sort_unstable();
    for (first, second) in minutes.iter().zip(minutes.iter().skip(1)) {
        if second.saturating_sub(*first) != INTERVAL {
            violations.push(format!(
                "the bell rang at minute {first} and then at minute {second}"
            ));
        }
    }
    if minutes.len() < FEWEST {
        violations.push(format!("the bell rang only {} times", minutes.len()));
    }
}
