//! One event with everything that is known about it.

use std::time::Instant;

use axum::extract::Path;
use es_event::{EventId, Hash, RecordedEvent, TraceContext};
use es_store::{Bound, EventLog, ReadOptions, StoreError, event_with_id};
use futures_util::TryStreamExt as _;
use maud::{Markup, html};

use crate::{
    command_list,
    console::Console,
    event_list::{SUMMARY, event_type, render_table, time},
    event_preview::{EventPreview, payload},
    event_search::SEARCH_TIME,
    json_file::respond_with_json,
    json_view,
    layout::Section,
    notice::NoticePage,
    page_request::{PageRequest, PageResult},
    query_values::parse_value,
    text_view::{grouped, isolated, short_type, shortened, size_text},
};

/// The number of events before and after an event in which events of the same trace are searched.
const NEIGHBOURS: u64 = 1_000;
/// The number of events of the same trace that are shown.
const RELATED: usize = 30;
/// The number of characters of a value of the metadata.
const METADATA: usize = 500;

/// The events of the same trace.
#[derive(Debug, Default)]
struct RelatedEvents {
    events: Vec<EventPreview>,
    /// True if the store took too long to search all neighbours.
    is_incomplete: bool,
}

/// Shows one event.
pub(crate) async fn show_event_details(Path(id): Path<String>, page: PageRequest) -> PageResult {
    let console = page.console();
    let event = load_event(console, &id).await?;
    let (id, store) = (event.id, &*console.store);
    // The hash covers the sealed form of personal values, and the page shows their replacements.
    let recorded = match &console.personal_data {
        Some(personal) => event_with_id(&**personal.sealed_store(), id).await?,
        None => None,
    };
    let hash = HashCheck::run(store, recorded.as_ref().unwrap_or(&event)).await?;
    let related = related_events(store, &event).await?;
    let has_next = event_with_id(store, id.next().unwrap_or(id))
        .await?
        .is_some();
    let title = format!("{} {id}", short_type(event.event_type.as_str()));
    let content = html! {
        (heading(&event, has_next))
        div.columns {
            section.card {
                h2 { "Data" span.muted { (size_text(event.data.get().len())) } }
                (json_view::pretty(payload(&event)))
                p { a href={ "/console/events/" (id) "/data" } { "All data as JSON" } }
            }
            section.card {
                h2 { "Event" }
                (facts(console, &event, &hash))
                (metadata(&event))
            }
        }
        (related_section(&event, &related))
    };
    page.respond(Section::Events, &title, &content)
}

/// Shows all data of an event as JSON.
pub(crate) async fn show_event_data(Path(id): Path<String>, page: PageRequest) -> PageResult {
    let event = load_event(page.console(), &id).await?;
    Ok(respond_with_json(&event.data))
}

async fn load_event(console: &Console, id: &str) -> Result<RecordedEvent, NoticePage> {
    let id: EventId = parse_value(id)?;
    let event = event_with_id(&*console.store, id).await?;
    event.ok_or_else(|| NoticePage::not_found(format!("The store has no event {id}.")))
}

fn heading(event: &RecordedEvent, has_next: bool) -> Markup {
    let previous = event.id.get().checked_sub(1);
    html! {
        div.bar {
            h1 { (event_type(event.event_type.as_str())) " " span.number { "#" (event.id) } }
            div.steps {
                @if let Some(previous) = previous {
                    a.quiet-link rel="prev" href={ "/console/events/" (previous) } { "← " (previous) }
                }
                @if has_next && let Some(next) = event.id.next() {
                    a.quiet-link rel="next" href={ "/console/events/" (next) } { (next) " →" }
                }
            }
        }
    }
}

/// The comparison of an event's hash with its content and its predecessor.
struct HashCheck {
    is_right: bool,
    sentence: String,
}

impl HashCheck {
    async fn run(store: &dyn EventLog, event: &RecordedEvent) -> Result<Self, StoreError> {
        let before = event.id.get().checked_sub(1).and_then(EventId::new);
        let wrong = |sentence| Self {
            is_right: false,
            sentence,
        };
        let predecessor = match before {
            None => Hash::ZERO,
            Some(id) => match event_with_id(store, id).await? {
                Some(predecessor) => predecessor.hash,
                None => return Ok(wrong(format!("event {id} before it is missing"))),
            },
        };
        if let Err(error) = event.verify(predecessor) {
            return Ok(wrong(error.to_string()));
        }
        let sentence = match before {
            None => "verified: it fits the content, and this is the first event".to_owned(),
            Some(id) => format!("verified: it fits the content and continues event {id}"),
        };
        Ok(Self {
            is_right: true,
            sentence,
        })
    }
}

fn facts(console: &Console, event: &RecordedEvent, hash: &HashCheck) -> Markup {
    let subject = event.subject.as_str();
    let metadata = event.metadata();
    let has_commands = !console.commands_of(&event.subject).is_empty();
    html! {
        dl.facts {
            dt { "Subject" }
            dd { a href={ "/console/subjects" (subject) "#event-" (event.id) } { (subject) } }
            dt { "Type" }
            dd { (event.event_type.as_str()) }
            dt { "Time" }
            dd { (time(&event.time)) " UTC" }
            dt { "Position" }
            dd { (grouped(event.id.get())) }
            dt { "Source" }
            dd { (shortened(&event.source, METADATA)) }
            @if let Some(caller) = metadata.get("caller") {
                dt { "Caller" }
                dd { (shortened(caller, METADATA)) }
            }
            @if let Some(trace) = &event.trace { (trace_facts(trace)) }
            dt { "Hash" }
            dd {
                code { (event.hash.to_string()) }
                @if hash.is_right { p.good { "✓ " (hash.sentence) } }
                @else { p.bad role="alert" { "✗ " (hash.sentence) } }
            }
            dt { "Predecessor" }
            dd { code { (event.predecessor_hash.to_string()) } }
            @if has_commands {
                dt { "Commands" }
                dd { a href=(command_list::address(&event.subject)) { "about this subject" } }
            }
        }
    }
}

fn trace_facts(trace: &TraceContext) -> Markup {
    html! {
        dt { "Trace" }
        dd {
            @if let Some(id) = trace.id() {
                a href={ "/console?trace=" (id) } { code { (id) } }
            } @else { code { (trace.parent()) } }
        }
        @if let Some(state) = trace.state() {
            dt { "Trace state" }
            dd { (isolated(state)) }
        }
    }
}

fn metadata(event: &RecordedEvent) -> Markup {
    let metadata = event.metadata();
    html! {
        h2 { "Metadata" }
        @if metadata.iter().next().is_none() {
            p.muted { "The event has no metadata." }
        } @else {
            dl.facts {
                @for (name, value) in metadata.iter() {
                    dt { (shortened(name, 80)) }
                    dd { (shortened(value, METADATA)) }
                }
            }
        }
    }
}

/// Returns the events of the same trace near an event, without the event itself. The search ends after a time,
/// because its events can be large.
async fn related_events(
    store: &dyn EventLog,
    event: &RecordedEvent,
) -> Result<RelatedEvents, StoreError> {
    let mut related = RelatedEvents::default();
    let Some(trace) = event.trace.as_ref().and_then(TraceContext::id) else {
        return Ok(related);
    };
    let begin = Instant::now();
    let id = event.id.get();
    let options = ReadOptions {
        lower_bound: EventId::new(id.saturating_sub(NEIGHBOURS)).map(Bound::Inclusive),
        upper_bound: EventId::new(id.saturating_add(NEIGHBOURS)).map(Bound::Inclusive),
        ..ReadOptions::recursive()
    };
    let mut neighbours = store.read(es_event::Subject::root(), options);
    while let Some(neighbour) = neighbours.try_next().await? {
        let of_trace = neighbour.trace.as_ref().and_then(TraceContext::id) == Some(trace);
        if of_trace && neighbour.id != event.id {
            related.events.push(EventPreview::new(&neighbour, SUMMARY));
        }
        related.is_incomplete = begin.elapsed() > SEARCH_TIME;
        if related.events.len() >= RELATED || related.is_incomplete {
            break;
        }
    }
    Ok(related)
}

fn related_section(event: &RecordedEvent, related: &RelatedEvents) -> Markup {
    let trace = event.trace.as_ref().and_then(TraceContext::id);
    html! {
        @if let Some(trace) = trace {
            section.related {
                h2 { "Events of the same trace" }
                p.muted {
                    "The same request caused them, directly or through a reaction. Searched the "
                    (grouped(NEIGHBOURS)) " events before and after this one. "
                    a href={ "/console?trace=" (trace) } { "Search all events" }
                }
                @if related.is_incomplete {
                    p.missed { "The store took too long to search all of them." }
                }
                @if related.events.is_empty() {
                    p.empty { "There are no others." }
                } @else {
                    (render_table(&related.events))
                }
            }
        }
    }
}
