//! The state of the whole application: the events of the last hour, the store, and the lag of its components.

use std::time::{Duration, Instant};

use es_command::command::command_statistics::commands_of_last_hour;
use es_event::EventId;
use es_store::{EventLog, StoreError, newest_id};
use es_subscribe::{operator::ComponentKind, status::ComponentStatus};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::{
    bar_chart::{BarChart, ChartBar},
    command_charts,
    component_list::lag_text,
    console::Console,
    event_search::first_event_where,
    layout::Section,
    operator_action::list_path,
    page_parts::event_link,
    page_request::{PageRequest, PageResult},
    text_view::{counted, grouped, shortened, size_text},
};

/// The number of bars of the chart.
const BARS: u32 = 30;
/// The minutes that a bar stands for.
const MINUTES: i64 = 2;
/// Time after which the chart ends. Each bar asks the store a few times.
const CHART_TIME: Duration = Duration::from_secs(2);
/// Time in which the store has to answer the health check.
const HEALTH_TIME: Duration = Duration::from_secs(3);

/// The events of the last hour, counted in equal parts of it.
#[derive(Debug, Default)]
struct EventCounts {
    /// The oldest part first: its begin and its number of events.
    parts: Vec<(Timestamp, u64)>,
    /// True if the store took too long to count all of them.
    is_incomplete: bool,
}

/// Shows the overview.
pub(crate) async fn show_overview(page: PageRequest) -> PageResult {
    let console = page.console();
    let store = &*console.store;
    let newest = newest_id(store).await?;
    let counts = count_events(store, newest, Timestamp::now()).await?;
    let health = match tokio::time::timeout(HEALTH_TIME, console.catalog.health()).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the store does not answer the health check in time".to_owned()),
    };
    let size = console.database.size().await.ok();
    let content = html! {
        div.bar { h1 { "Overview" } }
        (chart_card(&counts))
        div.columns { (command_charts::cards(&commands_of_last_hour(), Timestamp::now())) }
        div.components {
            (store_card(console, newest, &health))
            (components_card(console, newest, size))
        }
    };
    page.respond(Section::Overview, "Overview", &content)
}

/// Counts the events of the last hour. Times of events never go back, so binary searches find the borders.
async fn count_events(
    store: &dyn EventLog,
    newest: Option<EventId>,
    now: Timestamp,
) -> Result<EventCounts, StoreError> {
    let begin = Instant::now();
    let end = EventId::count_to(newest);
    let mut counts = EventCounts::default();
    let mut later = end;
    for part in 1..=BARS {
        if begin.elapsed() > CHART_TIME {
            counts.is_incomplete = true;
            break;
        }
        let minutes = i64::from(part).saturating_mul(MINUTES);
        let Ok(from) = now.checked_sub(SignedDuration::from_mins(minutes)) else {
            break;
        };
        let first = first_event_where(store, 0..later, |time| time >= from).await?;
        counts.parts.push((from, later.saturating_sub(first)));
        later = first;
    }
    counts.parts.reverse();
    Ok(counts)
}

fn chart_card(counts: &EventCounts) -> Markup {
    let sum = counts.parts.iter().map(|(_, count)| count).sum();
    let most = counts.parts.iter().map(|(_, count)| *count).max();
    let bar = |(from, count): &(Timestamp, u64)| ChartBar {
        title: format!(
            "{} UTC: {}",
            from.strftime("%H:%M"),
            counted(*count, "event")
        ),
        height: *count,
        filled: *count,
    };
    let title = "Events of the last hour";
    let chart = BarChart {
        title,
        places: BARS,
        bars: counts.parts.iter().map(bar).collect(),
    };
    html! {
        section.card {
            h2 {
                (title)
                span.muted {
                    (counted(sum, "event")) ", at most " (grouped(most.unwrap_or_default())) " in " (MINUTES) " minutes"
                    @if counts.is_incomplete { "; the store took too long to count older ones" }
                }
            }
            (chart.render())
        }
    }
}

fn store_card(console: &Console, newest: Option<EventId>, health: &Result<(), String>) -> Markup {
    html! {
        section.card.component {
            h2 {
                "Event store"
                @match health {
                    Ok(()) => span.badge.good { "up" },
                    Err(_) => span.badge.bad { "down" },
                }
            }
            dl.facts {
                dt { "Store" }
                dd { (shortened(&console.catalog.description(), 200)) }
                dt { "Events" }
                dd { (grouped(EventId::count_to(newest))) }
                @if let Some(id) = newest {
                    dt { "Newest" }
                    dd { (event_link(id)) }
                }
            }
            @if let Err(error) = health { p.bad role="alert" { (shortened(error, 500)) } }
        }
    }
}

fn components_card(console: &Console, newest: Option<EventId>, size: Option<u64>) -> Markup {
    let size = size.and_then(|size| usize::try_from(size).ok());
    html! {
        section.card.component {
            h2 {
                "Lag"
                span.muted {
                    (console.database.kind())
                    @if let Some(size) = size { ", " (size_text(size)) }
                }
            }
            dl.facts {
                @for kind in [ComponentKind::ReadModel, ComponentKind::Reaction] {
                    @for progress in console.components(kind).iter() {
                        dt { a href=(list_path(kind)) { (progress.name()) } }
                        @let status = ComponentStatus::new(progress, newest);
                        dd {
                            (lag_text(&status))
                            @if status.since.is_some() { " " span.badge.bad { (status.state) } }
                        }
                    }
                }
            }
        }
    }
}
