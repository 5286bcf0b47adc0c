//! One subject: the subjects below it, and its events with the states that follow from them.

use std::{num::NonZeroU64, ops::RangeInclusive};

use axum::extract::Path;
use es_event::{EventId, Subject};
use es_store::{Bound, EventLog, Order, ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use maud::{Markup, html};

use crate::{
    command_list,
    console::{Console, DeclaredState},
    event_list::{event_type, time},
    event_preview::EventPreview,
    layout::Section,
    notice::NoticePage,
    page_parts::{next_page, subject_link},
    page_request::{PageRequest, PageResult},
    query_values::parse_value,
    state_fold::{FoldedState, PageStates, fold_states_for_page, too_long},
    state_view,
    subject_list::{children, own_segment},
};

/// The number of events on a page.
const PAGE: usize = 20;
/// The number of tokens of its data that an event shows.
const SUMMARY: usize = 80;

/// A declared state, and the last event of its snapshot if it has one.
type StateWithSnapshot = (DeclaredState, Option<EventId>);

/// The events of a page, oldest first, and whether there are older ones.
struct TimelineSlice {
    events: Vec<EventPreview>,
    has_older: bool,
}

impl TimelineSlice {
    /// Returns the ids of the oldest and the newest event.
    fn ids(&self) -> Option<RangeInclusive<EventId>> {
        Some(self.events.first()?.id..=self.events.last()?.id)
    }
}

/// Shows the subjects that have no other above them, with the events of the root.
pub(crate) async fn show_root(page: PageRequest) -> PageResult {
    show_subject_timeline(Path(String::new()), page).await
}

/// Shows a subject. The path has it without the `/` at its beginning.
pub(crate) async fn show_subject_timeline(
    Path(path): Path<String>,
    page: PageRequest,
) -> PageResult {
    let console = page.console();
    let subject: Subject = parse_value(&format!("/{path}"))?;
    let children = children(console, &subject, &page.query).await?;
    let states = console.states_of(&subject);
    let is_recursive = states.iter().any(|state| state.recursive);
    // The event before which the page ends.
    let before = page.query.parsed::<EventId>("before");
    let slice = load_slice(&*console.store, &subject, is_recursive, before).await?;
    if slice.events.is_empty() && children.is_empty() && subject != Subject::root() {
        return Err(NoticePage::not_found(format!(
            "The subject {subject} has no events, and there are none below it."
        )));
    }
    let mut marked = Vec::new();
    for state in &states {
        marked.push((
            *state,
            console.last_event_of_snapshot(&subject, *state).await,
        ));
    }
    let folded = fold_states_for_page(console, &subject, &states, slice.ids(), |event, folded| {
        states_part(&subject, event, &marked, folded)
    })
    .await?;
    let title = if subject == Subject::root() {
        "Subjects".to_owned()
    } else {
        subject.to_string()
    };
    let content = html! {
        (heading(&subject))
        (opener(console))
        @if !children.is_empty() { (children.render(&subject)) }
        @if !slice.events.is_empty() {
            section {
                div.bar {
                    h2 { "Timeline" }
                    @if !console.commands_of(&subject).is_empty() {
                        a.quiet-link href=(command_list::address(&subject)) { "Commands" }
                    }
                    @if before.is_some() {
                        a.quiet-link href={ "/console/subjects" (subject) } { "To the newest" }
                    }
                }
                @if marked.is_empty() { p.muted { "No command handler takes a state of this subject." } }
                @if folded.is_too_long { p.missed { (too_long()) } }
                (timeline(&subject, &slice.events, &folded))
                (paging(&subject, &slice))
            }
        } @else if subject == Subject::root() && children.is_empty() {
            p.empty { "No event is recorded yet." }
        }
    };
    page.respond(Section::Subjects, &title, &content)
}

async fn load_slice(
    store: &dyn EventLog,
    subject: &Subject,
    recursive: bool,
    before: Option<EventId>,
) -> Result<TimelineSlice, StoreError> {
    let one_more = u64::try_from(PAGE).unwrap_or_default().saturating_add(1);
    let options = ReadOptions {
        recursive,
        order: Order::Antichronological,
        upper_bound: before.map(Bound::Exclusive),
        limit: NonZeroU64::new(one_more),
        ..ReadOptions::default()
    };
    let recorded = store.read(subject.clone(), options);
    let previews = recorded.map_ok(|event| EventPreview::new(&event, SUMMARY));
    let mut events: Vec<_> = previews.try_collect().await?;
    let has_older = events.len() > PAGE;
    events.truncate(PAGE);
    events.reverse();
    Ok(TimelineSlice { events, has_older })
}

/// Renders the subject with links to the subjects above it.
fn heading(subject: &Subject) -> Markup {
    let mut path = Vec::new();
    let mut next = subject.parent();
    while let Some(parent) = next {
        next = parent.parent();
        path.push(parent);
    }
    path.reverse();
    html! {
        div.bar {
            h1.subject-path {
                @if subject == &Subject::root() { "Subjects" }
                @else {
                    @for parent in &path {
                        @let name = own_segment(parent);
                        a href={ "/console/subjects" (parent) } { @if name.is_empty() { "Subjects" } @else { bdi { (name) } } }
                        span.gap { " / " }
                    }
                    bdi { (own_segment(subject)) }
                }
            }
            a.quiet-link href={ "/console?subject=" (subject) } { "In the event stream" }
        }
    }
}

/// Renders the form that opens a subject by its name. The script completes the address.
fn opener(console: &Console) -> Markup {
    html! {
        form.filter.opener action="/console" method="get" data-opens-subject {
            div.field {
                label for="subject" { "Open a subject" }
                input #subject name="subject" placeholder={ (console.example_subject()) "/…" } autocomplete="off" spellcheck="false" required;
            }
            div.buttons { button.quiet type="submit" { "Open" } }
        }
    }
}

/// Renders the events, newest first.
fn timeline(subject: &Subject, events: &[EventPreview], folded: &PageStates) -> Markup {
    html! {
        ol.timeline reversed {
            @for event in events.iter().rev() {
                li #{ "event-" (event.id) } {
                    (event_part(subject, event))
                    @if let Some(step) = folded.steps.get(&event.id) { (step) }
                }
            }
        }
    }
}

fn event_part(subject: &Subject, event: &EventPreview) -> Markup {
    html! {
        div.happened {
            div.line {
                a href={ "/console/events/" (event.id) } { (event_type(event.event_type.as_str())) }
                span.number { "#" (event.id) }
                span.time { (time(&event.time)) }
            }
            @if event.subject != *subject {
                p { (subject_link(&event.subject)) }
            }
            div.data { (event.data) }
        }
    }
}

fn states_part(
    subject: &Subject,
    event: EventId,
    states: &[StateWithSnapshot],
    steps: &[FoldedState<'_>],
) -> Markup {
    html! {
        div.states {
            @for ((state, snapshot), folded) in states.iter().zip(steps) {
                (state_view::render_step(*state, subject, event, folded, *snapshot == Some(event)))
            }
        }
    }
}

fn paging(subject: &Subject, page: &TimelineSlice) -> Markup {
    html! {
        @if page.has_older && let Some(oldest) = page.events.first() {
            @let address = format!("/console/subjects{subject}?before={}", oldest.id);
            (next_page("Timeline", &address, "Older"))
        }
    }
}
