//! The event stream: the newest events first, filtered and paged.

use es_event::EventTime;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    console::Console,
    event_filter::ParsedFilterForm,
    event_preview::EventPreview,
    event_search::{FoundEvents, PreviewLimits, SearchRange, search},
    layout::Section,
    page_parts::event_link,
    page_request::{PageRequest, PageResult},
    text_view::{brief_subject, grouped, short_type},
};

/// The number of events on a page, and the number of tokens of its data that a row shows.
pub(crate) const PAGE: PreviewLimits = PreviewLimits {
    events: 50,
    tokens: SUMMARY,
};
/// The number of tokens of its data that a row shows.
pub(crate) const SUMMARY: usize = 40;

/// Shows a page of the event stream.
pub(crate) async fn show_event_list(mut page: PageRequest) -> PageResult {
    let query = std::mem::take(&mut page.query);
    let console = page.console();
    let input = ParsedFilterForm::new(query, &console.event_types());
    let range = SearchRange {
        after: None,
        before: input.before,
    };
    let found = if input.mistakes.is_empty() {
        search(&*console.store, &input.filter, range, PAGE).await?
    } else {
        FoundEvents::default()
    };
    let content = html! {
        div.bar {
            h1 { "Events" }
            (live_controls(&input, &found))
        }
        (filter_form(&input, console))
        (event_table(&input, &found))
        (paging(&input, &found))
    };
    page.respond(Section::Events, "Events", &content)
}

/// Renders the state of the live stream and its switch. Only the newest page is live.
fn live_controls(input: &ParsedFilterForm, found: &FoundEvents) -> Markup {
    let is_live = input.before.is_none() && input.filter.to.is_none() && input.mistakes.is_empty();
    let newest = found.events.first().map(|event| event.id.to_string());
    let address = input.address("/console/events/live", None);
    html! {
        @if is_live {
            div.live #live data-address=(address) data-newest=(newest.unwrap_or_default()) hidden {
                span.dot aria-hidden="true" {}
                span.state role="status" { "Live" }
                button.quiet type="button" { "Pause" }
            }
        } @else if input.before.is_some() {
            a.quiet-link href=(input.address("/console", None)) { "To the newest" }
        }
    }
}

fn filter_form(input: &ParsedFilterForm, console: &Console) -> Markup {
    let event_types = console.event_types();
    let example = event_types.first().map(|one| short_type(one));
    let hidden_fields = ["from", "to", "trace"];
    let is_open = hidden_fields
        .iter()
        .any(|name| !input.value(name).is_empty());
    html! {
        form.filter role="search" action="/console" method="get" {
            (field(input, "subject", "Subject", console.example_subject(), None))
            (field(input, "type", "Type", example.unwrap_or_default(), Some("types")))
            (field(input, "text", "Text in data", "", None))
            datalist #types { @for one in &event_types { option value=(short_type(one)) {} } }
            details.more open[is_open] {
                summary { "More" }
                div.filter-more {
                    (time_field(input, "from", "From (UTC)"))
                    (time_field(input, "to", "To (UTC)"))
                    (field(input, "trace", "Trace id", "", None))
                    label.check {
                        input type="checkbox" name="exact" value="1" checked[input.filter.exact];
                        "Without subjects below"
                    }
                }
            }
            div.buttons {
                button.send type="submit" { "Filter" }
                @if input.is_active() { a.quiet-link href="/console" { "Clear" } }
            }
        }
    }
}

fn field(
    input: &ParsedFilterForm,
    name: &str,
    label: &str,
    placeholder: &str,
    list: Option<&str>,
) -> Markup {
    let mistake = input.mistake(name);
    html! {
        div.field {
            label for=(name) { (label) }
            input id=(name) name=(name) value=(input.value(name)) placeholder=(placeholder) list=[list]
                autocomplete="off" spellcheck="false" dir="auto" aria-invalid=[mistake.map(|_| "true")];
            @if let Some(sentence) = mistake { p.error role="alert" { (sentence) } }
        }
    }
}

fn time_field(input: &ParsedFilterForm, name: &str, label: &str) -> Markup {
    field(input, name, label, "2026-07-01T12:00", None)
}

fn event_table(input: &ParsedFilterForm, found: &FoundEvents) -> Markup {
    html! {
        p.missed #missed role="status" hidden {
            "More events were recorded than this page can add. "
            a href=(input.address("/console", None)) { "Reload" }
        }
        (render_table(&found.events))
        p.empty #empty hidden[!found.events.is_empty()] {
            @if input.is_active() { "No event matches the filter." } @else { "No event is recorded yet." }
        }
    }
}

/// Renders events as a table.
pub(crate) fn render_table(events: &[EventPreview]) -> Markup {
    html! {
        table.events {
            thead {
                tr {
                    th.id scope="col" { "Id" }
                    th scope="col" { "Time (UTC)" }
                    th scope="col" { "Type" }
                    th scope="col" { "Subject" }
                    th scope="col" { "Data" }
                }
            }
            tbody #rows { (render_rows(events)) }
        }
    }
}

/// Renders the rows of events, for a page and for the live stream.
pub(crate) fn render_rows(events: &[EventPreview]) -> Markup {
    html! { @for event in events { (row(event)) } }
}

fn row(event: &EventPreview) -> Markup {
    let subject = event.subject.as_str();
    html! {
        tr {
            td.id { (event_link(event.id)) }
            td.time { (time(&event.time)) }
            td.type { (event_type(event.event_type.as_str())) }
            td.subject { a href={ "/console/subjects" (subject) "#event-" (event.id) } { (brief_subject(subject)) } }
            td.data { div.line { (event.data) } }
        }
    }
}

/// Renders the last segment of an event type, in one of eight colours.
pub(crate) fn event_type(event_type: &str) -> Markup {
    let sum = event_type
        .bytes()
        .fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    html! {
        span class={ "type-name hue-" (sum % 8) } title=(event_type) { (short_type(event_type)) }
    }
}

/// Renders a time with milliseconds.
pub(crate) fn time(time: &EventTime) -> Markup {
    let text = time.as_str();
    let parsed: Option<Timestamp> = time.timestamp().ok();
    html! {
        time datetime=(text) title=(text) {
            @match parsed {
                Some(time) => {
                    span.date { (time.strftime("%Y-%m-%d").to_string()) } " "
                    (time.strftime("%H:%M:%S%.3f").to_string())
                },
                None => (text),
            }
        }
    }
}

fn paging(input: &ParsedFilterForm, found: &FoundEvents) -> Markup {
    html! {
        nav.paging aria-label="Pages" {
            @if input.filter.needs_search() {
                span.muted { "Searched " (grouped(found.searched)) " events" }
            }
            @if let Some(next) = found.next {
                a.quiet-link rel="next" href=(input.address("/console", Some(("before", next.to_string())))) {
                    @if found.events.len() < PAGE.events { "Continue with older events" } @else { "Older" }
                }
            } @else if found.searched > 0 {
                span.muted { "There are no older events." }
            }
        }
    }
}
