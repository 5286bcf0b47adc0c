//! Tells how far the events of a store are ahead of the clock.

use jiff::Timestamp;

use super::{EventLog, StoreError, latest_event};
use es_event::{EventTime, Subject};

/// Returns the number of seconds by which the time of the newest event is ahead of this machine's clock;
/// `None` for less than one second. Event times never go back. So after a clock that was too far ahead
/// is set right, new events keep the time of the last event until the clock has reached it.
pub async fn event_time_lead(log: &dyn EventLog) -> Result<Option<u64>, StoreError> {
    let newest = latest_event(log, Subject::root(), true).await?;
    Ok(newest.and_then(|event| seconds_ahead(&event.time, Timestamp::now())))
}

fn seconds_ahead(time: &EventTime, now: Timestamp) -> Option<u64> {
    let seconds = time.timestamp().ok()?.duration_since(now).as_secs();
    u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_seconds_ahead_of_the_clock_count() {
        let time = |text: &str| EventTime::from_timestamp(text.parse().unwrap());
        let now = "2026-07-01T12:00:00Z".parse().unwrap();
        for (event, expected) in [
            ("2026-07-01T11:00:00Z", None),
            ("2026-07-01T12:00:00Z", None),
            ("2026-07-01T12:00:00.9Z", None),
            ("2026-07-01T12:00:01Z", Some(1)),
            ("2026-07-01T13:00:00Z", Some(3_600)),
        ] {
            assert_eq!(seconds_ahead(&time(event), now), expected, "{event}");
        }
    }
}
