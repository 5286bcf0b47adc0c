//! The charts of the commands of the last hour: their times and their conflicts.

use std::time::Duration;

use es_runtime::metrics::CommandMinute;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::{
    bar_chart::{BarChart, ChartBar},
    text_view::counted,
};

/// Renders the charts of minutes, of which the last one is now.
pub(crate) fn cards(minutes: &[CommandMinute], now: Timestamp) -> Markup {
    let sum = minutes.iter().copied();
    let sum = sum.fold(CommandMinute::default(), CommandMinute::joined_with);
    let times = chart("Command times of the last hour", minutes, now, |minute| {
        let text = format!(
            "{}, mean {}, longest {}",
            counted(minute.commands, "command"),
            milliseconds(minute.mean()),
            milliseconds(minute.longest)
        );
        (
            text,
            microseconds(minute.longest),
            microseconds(minute.mean()),
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
                span.muted {
                    (counted(sum.commands, "command")) ", mean " (milliseconds(sum.mean())) ", longest " (milliseconds(sum.longest))
                }
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

/// Returns a chart with the text, the height and the filled part of each minute.
fn chart(
    title: &'static str,
    minutes: &[CommandMinute],
    now: Timestamp,
    show: impl Fn(&CommandMinute) -> (String, u64, u64),
) -> BarChart {
    let bar = |(age, minute): (i64, &CommandMinute)| {
        let (text, height, filled) = show(minute);
        let time = now.checked_sub(SignedDuration::from_mins(age));
        let time = time.unwrap_or(now).strftime("%H:%M");
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
        let minutes = [
            CommandMinute {
                commands: 2,
                conflicts: 1,
                total: Duration::from_micros(5_000),
                longest: Duration::from_micros(4_000),
            },
            CommandMinute::default(),
        ];
        let now = "2026-07-01T12:30:10Z".parse().unwrap();
        let page = cards(&minutes, now).into_string();
        for text in [
            "12:29 UTC: 2 commands, mean 2.5 ms, longest 4.0 ms",
            "12:30 UTC: 0 commands, mean 0.0 ms, longest 0.0 ms",
            "12:29 UTC: 1 conflict<",
            "2 commands, mean 2.5 ms, longest 4.0 ms</span>",
            "1 decision met a changed subject",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        // The mean is the filled part of the longest time.
        assert_eq!(page.matches("class=\"rest\"").count(), 1, "{page}");
    }
}
