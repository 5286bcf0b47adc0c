//! The charts of the commands of the last hour: their times and their conflicts.

use std::time::Duration;

use es_command::command::command_statistics::CommandMinute;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::{
    bar_chart::{BarChart, ChartBar},
    text_view::counted,
};

/// Renders the charts of minutes, of which the last one is now.
pub(crate) fn cards(minutes: &[CommandMinute], now: Timestamp) -> Markup {
    let mut sum = CommandMinute::default();
    for minute in minutes {
        sum.add_minute(minute);
    }
    let times = chart("Command times of the last hour", minutes, now, |minute| {
        (
            describe_times(minute),
            microseconds(minute.percentile_99()),
            microseconds(minute.median()),
        )
    });
    let conflicts = chart("Conflicts of the last hour", minutes, now, |minute| {
        (
            counted(minute.conflicts, "conflict"),
            minute.conflicts,
            minute.conflicts,
        )
    });
    html! {
        section.card {
            h2 {
                (times.title)
                span.muted { (describe_times(&sum)) }
            }
            (times.render())
        }
        section.card {
            h2 {
                (conflicts.title)
                span.muted { (counted(sum.conflicts, "decision")) " met a changed subject" }
            }
            (conflicts.render())
        }
    }
}

fn describe_times(minute: &CommandMinute) -> String {
    if minute.command_count() == 0 {
        return counted(0, "command");
    }
    format!(
        "{}, median {}, 99th percentile {}, longest {}",
        counted(minute.command_count(), "command"),
        milliseconds(minute.median()),
        milliseconds(minute.percentile_99()),
        milliseconds(minute.longest())
    )
}

/// Returns a chart with the text, the height and the filled part of each minute.
fn chart(
    title: &'static str,
    minutes: &[CommandMinute],
    now: Timestamp,
    show: impl Fn(&CommandMinute) -> (String, u64, u64),
) -> BarChart {
    let bar = |(age, minute): (i64, &CommandMinute)| {
        let (text, height, filled) = show(minute);
        let begin = now.checked_sub(SignedDuration::from_mins(age));
        let time = begin.unwrap_or(now).strftime("%H:%M");
        ChartBar {
            title: format!("{time} UTC: {text}"),
            height,
            filled,
        }
    };
    let mut bars: Vec<_> = (0..).zip(minutes.iter().rev()).map(bar).collect();
    bars.reverse();
    BarChart {
        title,
        places: u32::try_from(bars.len()).unwrap_or_default(),
        bars,
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minute_has_its_time_and_its_numbers() {
        let mut busy = CommandMinute::default();
        busy.conflicts = 1;
        for milliseconds in [1, 1, 4, 4] {
            busy.add_command(Duration::from_millis(milliseconds));
        }
        let minutes = [busy, CommandMinute::default()];
        let now = "2026-07-01T12:30:10Z".parse().unwrap();
        let page = cards(&minutes, now).into_string();
        for text in [
            "12:29 UTC: 4 commands, median 1.0 ms, 99th percentile 3.9 ms, longest 4.0 ms",
            "12:30 UTC: 0 commands<",
            "12:29 UTC: 1 conflict<",
            "4 commands, median 1.0 ms, 99th percentile 3.9 ms, longest 4.0 ms</span>",
            "1 decision met a changed subject",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        // The median is the filled part of the 99th percentile.
        assert_eq!(page.matches("class=\"rest\"").count(), 1, "{page}");
    }
}
