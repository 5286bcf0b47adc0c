//! The read models and the reactions: their lag, rebuilds, deadlines and poison events.

use es_event::EventId;
use es_store::newest_id;
use es_subscribe::{
    DeliveryLog, HeldKeyGroup,
    operator::{ComponentKind, OperatorCommand},
    status::{
        ComponentStatus, PoisonEventStatus, ReactionStatus, ReactionStatuses, ReadModelStatus,
        ReadModelStatuses,
    },
};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    operator_action::{action_path, label, section_of},
    page_parts::event_link,
    page_request::{PageRequest, PageResult},
    text_view::{counted, grouped, shortened},
};

/// The number of characters of an error.
const ERROR: usize = 500;

/// Shows all components of a kind.
pub(crate) async fn show_component_list(page: PageRequest, kind: ComponentKind) -> PageResult {
    let console = page.console();
    let store = &*console.store;
    let newest = newest_id(store).await?;
    let (title, cards): (_, Vec<_>) = match kind {
        ComponentKind::ReadModel => {
            let statuses = ReadModelStatuses::measure(&console.read_models, store, newest).await;
            let cards = statuses.0.iter().map(|(name, one)| read_model(name, one));
            ("Read models", cards.collect())
        }
        ComponentKind::Reaction => {
            let statuses = ReactionStatuses::new(&console.reactions, newest);
            let cards = statuses.0.iter().map(|(name, one)| reaction(name, one));
            ("Reactions", cards.collect())
        }
    };
    let content = html! {
        div.bar {
            h1 { (title) }
            span.muted { (counted(EventId::count_to(newest), "event")) " in the store" }
        }
        @if cards.is_empty() { p.empty { "The application declares none." } }
        div.components { @for card in cards { (card) } }
    };
    page.respond(section_of(kind), title, &content)
}

fn read_model(name: &str, status: &ReadModelStatus) -> Markup {
    let kind = ComponentKind::ReadModel;
    let mut exits = status.component.exits.clone();
    // The shadow table may need help while its read model works.
    exits.extend(status.rebuild.iter().flat_map(|one| &one.component.exits));
    let links = html! {
        a.quiet-link href={ "/console/rows/" (name) } { "Rows" }
        (command_links(kind, name, &exits))
    };
    card(kind, name, &status.component, &rebuild(status), &links)
}

fn reaction(name: &str, status: &ReactionStatus) -> Markup {
    let kind = ComponentKind::Reaction;
    let mut exits = status.component.exits.clone();
    let facts = match &status.deliveries {
        Some(log) => {
            exits.push(OperatorCommand::Replay);
            deliveries(log)
        }
        None => deadlines(status),
    };
    card(
        kind,
        name,
        &status.component,
        &facts,
        &command_links(kind, name, &exits),
    )
}

/// Renders a read model or a reaction, with the facts and the links of its kind.
fn card(
    kind: ComponentKind,
    name: &str,
    status: &ComponentStatus,
    facts: &Markup,
    links: &Markup,
) -> Markup {
    html! {
        section.card.component {
            h2 { bdi { (name) } (badge(status)) }
            dl.facts {
                dt { "Last event" }
                dd {
                    @match status.position {
                        Some(id) => (event_link(id)),
                        None => "none",
                    }
                }
                dt { "Lag" }
                dd { (lag_text(status)) }
                (facts)
            }
            @match (&status.event, &status.error) {
                (Some(poison), _) => (poison_event(status.state, poison)),
                (None, Some(error)) => p.bad role="alert" { (shortened(error, ERROR)) },
                (None, None) => {}
            }
            @if let Some(since) = status.since { p.muted { (status.state) " since " (time_text(since)) } }
            @for group in &status.held.failures { (held_keys(kind, name, group)) }
            div.actions { (links) }
        }
    }
}

fn badge(status: &ComponentStatus) -> Markup {
    let (class, text) = match (status.since, status.events_behind) {
        (Some(_), _) => ("bad", status.state),
        (None, 0) => ("good", "up to date"),
        (None, _) => ("muted", "catching up"),
    };
    html! { span.badge.(class) { (text) } }
}

/// Renders keys that wait at events which fail alike, with the commands about them.
fn held_keys(kind: ComponentKind, name: &str, group: &HeldKeyGroup) -> Markup {
    let count = u64::try_from(group.keys).unwrap_or(u64::MAX);
    let more = group.keys.saturating_sub(group.some_keys.len());
    html! {
        div.poison role="alert" {
            p {
                (counted(count, "key")) " with " (counted(group.events, "event")) " held at events such as "
                (event_link(group.event)) " from " (time_text(group.first)) " to " (time_text(group.last))
            }
            (failure(&group.error, &group.fingerprint))
            @if let Some(next) = group.next_attempt {
                p.muted { "The next attempt is at " (time_text(next)) }
            }
            p.muted {
                @for key in &group.some_keys { code { bdi { (key) } } " " }
                @if more > 0 { "and " (more) " more" }
            }
            div.actions {
                @for command in [OperatorCommand::Retry, OperatorCommand::Skip] {
                    a.quiet-link href={ (action_path(kind, name, command)) "?fingerprint=" (group.fingerprint) } {
                        (label(command)) " these…"
                    }
                }
            }
        }
    }
}

/// Renders the commands that help a component.
fn command_links(kind: ComponentKind, name: &str, exits: &[OperatorCommand]) -> Markup {
    html! {
        @for &command in kind.commands().iter().filter(|command| exits.contains(command)) {
            a.quiet-link href=(action_path(kind, name, command)) { (label(command)) "…" }
        }
    }
}

/// Returns the lag of a component. A stopped one does not catch up.
pub(crate) fn lag_text(status: &ComponentStatus) -> String {
    let events = counted(status.events_behind, "event");
    if status.stopped {
        format!("{events} not applied")
    } else {
        events
    }
}

/// Renders the event that stopped a component.
fn poison_event(state: &str, event: &PoisonEventStatus) -> Markup {
    html! {
        div.poison role="alert" {
            p {
                (state) " at event " (event_link(event.id))
                @if let Some(subject) = &event.subject {
                    " of " a href={ "/console/subjects" (subject) "#event-" (event.id) } { bdi { (subject) } }
                }
            }
            (failure(&event.error, &event.fingerprint))
        }
    }
}

fn failure(error: &str, fingerprint: &str) -> Markup {
    html! {
        p.bad { (shortened(error, ERROR)) }
        p.muted { "Fingerprint of the failure: " code { (fingerprint) } }
    }
}

fn time_text(time: Timestamp) -> String {
    format!("{} UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Renders the progress of a rebuild, in place or in a shadow table.
fn rebuild(status: &ReadModelStatus) -> Markup {
    // A component that has stopped rebuilds nothing.
    let is_stopped = status.component.stopped;
    let Some(rebuild) = status
        .rebuild
        .as_ref()
        .filter(|one| one.beside || !is_stopped)
    else {
        return Markup::default();
    };
    html! {
        dt { "Rebuild" }
        dd {
            @if rebuild.beside { "in a shadow table, while the current rows answer queries" }
            @else { "in place; queries wait" }
            @if let Some(events) = rebuild.events_left {
                ": " (counted(events, "event")) " left"
                @if let (Some(pace), Some(seconds)) = (rebuild.events_per_second, rebuild.seconds_left) {
                    ", " (grouped(pace)) " a second, about " (seconds) " seconds"
                }
            }
            @if let Some(error) = &rebuild.component.error { p.bad { (shortened(error, ERROR)) } }
        }
    }
}

/// Renders the last deliveries of a sink.
fn deliveries(log: &DeliveryLog) -> Markup {
    html! {
        dt { "Last deliveries" }
        dd {
            @if log.iter().next().is_none() { "none since the start" }
            @for one in log.iter() {
                p {
                    (time_text(one.time)) " " (event_link(one.event)) " "
                    bdi { (one.subject) } " " (one.publication) " "
                    @match &one.error {
                        Some(error) => span.bad { (shortened(error, ERROR)) },
                        None => span.good { "confirmed" },
                    }
                }
            }
        }
    }
}

fn deadlines(status: &ReactionStatus) -> Markup {
    html! {
        dt { "Open deadlines" }
        dd { (status.open_deadlines) }
        @if let Some(next) = status.next_deadline {
            dt { "Next deadline" }
            dd { (time_text(next)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use es_store::memory::MemoryStore;
    use es_subscribe::{ProgressRegistry, SubscriberFailure, TroubleCause};

    use super::*;

    #[tokio::test]
    async fn a_stopped_component_does_not_catch_up() {
        let copies = ProgressRegistry::new(ComponentKind::ReadModel, ["copies"]);
        let shown = async || {
            let newest = EventId::new(2);
            let measured = ReadModelStatuses::measure(&copies, &MemoryStore::new(), newest).await;
            let status = &measured.0["copies"];
            (lag_text(&status.component), rebuild(status).into_string())
        };
        let (lag, in_place) = shown().await;
        assert_eq!(lag, "3 events");
        assert!(in_place.contains("in place"), "{in_place}");
        let progress = copies.find_progress("copies").unwrap();
        let fail = |is_transient| {
            let reason = "the payload does not fit";
            progress.record_failure(SubscriberFailure::new(
                TroubleCause::Action,
                is_transient,
                reason,
            ));
        };
        fail(true);
        assert_eq!(shown().await.0, "3 events");
        fail(false);
        assert_eq!(
            shown().await,
            ("3 events not applied".to_owned(), String::new())
        );
        progress.record_position(EventId::new(1));
        assert_eq!(shown().await.0, "1 event");
    }
}
