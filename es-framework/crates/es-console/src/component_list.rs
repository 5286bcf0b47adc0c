//! The read models and the reactions: their lag, rebuilds, deadlines and poison events.

use axum::response::Response;
use es_event::{EventId, PoisonEvent};
use es_store::newest_id;
use es_subscribe::{
    HeldKeyGroup, OpenDeadlines, SubscriberProgress, SubscriberState,
    operator::{ComponentKind, OperatorCommand},
};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    console::Console,
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    operator_action::{action_path, label},
    page_parts::event_link,
    text_view::{counted, grouped, shortened},
};

/// The number of characters of an error.
const ERROR: usize = 500;
/// The number of held keys that are named for each failure.
const SHOWN_KEYS: usize = 20;

/// Shows all components of a kind.
pub(crate) async fn show_component_list(
    console: &Console,
    visitor: &Visitor,
    kind: ComponentKind,
) -> Result<Response, NoticePage> {
    let newest = newest_id(&*console.store).await?;
    let (section, title) = match kind {
        ComponentKind::ReadModel => (Section::ReadModels, "Read models"),
        ComponentKind::Reaction => (Section::Reactions, "Reactions"),
    };
    let frame = PageFrame {
        application: console.name,
        visitor,
        section,
        title,
    };
    let components: Vec<_> = console.components(kind).iter().collect();
    Ok(frame.respond(&html! {
        div.bar {
            h1 { (title) }
            span.muted { (counted(EventId::count_to(newest), "event")) " in the store" }
        }
        @if components.is_empty() { p.empty { "The application declares none." } }
        div.components { @for progress in components { (card(progress, newest)) } }
    }))
}

/// Renders a read model or a reaction.
fn card(progress: &SubscriberProgress, newest: Option<EventId>) -> Markup {
    let (state, lag) = (progress.state(), progress.events_behind(newest));
    html! {
        section.card.component {
            h2 { bdi { (progress.name()) } (badge(&state, lag)) }
            dl.facts {
                dt { "Last event" }
                dd {
                    @match progress.position() {
                        Some(id) => (event_link(id)),
                        None => "none",
                    }
                }
                dt { "Lag" }
                dd { (lag_text(lag, &state)) }
                @match progress.kind() {
                    ComponentKind::ReadModel => (rebuild(progress)),
                    ComponentKind::Reaction => (deadlines(progress.open_deadlines())),
                }
            }
            @if let Some(trouble) = state.trouble() {
                @match &trouble.event {
                    Some(poison) => (poison_event(state.name(), poison)),
                    None => p.bad role="alert" { (shortened(&trouble.reason, ERROR)) },
                }
                p.muted { (state.name()) " since " (time_text(trouble.since)) }
            }
            @for group in progress.held_keys().group_by_failure() { (held_keys(progress, &group)) }
            (actions(progress))
        }
    }
}

fn badge(state: &SubscriberState, lag: u64) -> Markup {
    let (class, text) = match (state, lag) {
        (SubscriberState::Stopped(_) | SubscriberState::Retrying(_), _) => ("bad", state.name()),
        (SubscriberState::Working, 0) => ("good", "up to date"),
        (SubscriberState::Working, _) => ("muted", "catching up"),
    };
    html! { span.badge.(class) { (text) } }
}

/// Renders keys that wait at events which fail alike, with the commands about them.
fn held_keys(progress: &SubscriberProgress, group: &HeldKeyGroup) -> Markup {
    let count = u64::try_from(group.keys.len()).unwrap_or(u64::MAX);
    let more = group.keys.len().saturating_sub(SHOWN_KEYS);
    html! {
        div.poison role="alert" {
            p {
                (counted(count, "key")) " with " (counted(group.events, "event")) " held at events such as "
                (event_link(group.example.id)) " from " (time_text(group.first)) " to " (time_text(group.last))
            }
            (failure(&group.example))
            @if let Some(next) = group.next_attempt {
                p.muted { "The next attempt is at " (time_text(next)) }
            }
            p.muted {
                @for key in group.keys.iter().take(SHOWN_KEYS) { code { bdi { (key) } } " " }
                @if more > 0 { "and " (more) " more" }
            }
            div.actions {
                @for command in [OperatorCommand::Retry, OperatorCommand::Skip] {
                    @let path = action_path(progress.kind(), progress.name(), command);
                    a.quiet-link href={ (path) "?fingerprint=" (group.fingerprint) } {
                        (label(command)) " these…"
                    }
                }
            }
        }
    }
}

/// Renders the commands that help a component or its shadow table.
fn actions(progress: &SubscriberProgress) -> Markup {
    let (kind, name) = (progress.kind(), progress.name());
    let of_shadow = progress.shadow_progress().map(|shadow| shadow.exits());
    let mut exits = progress.exits();
    exits.extend(of_shadow.unwrap_or_default());
    html! {
        div.actions {
            @if kind == ComponentKind::ReadModel {
                a.quiet-link href={ "/console/rows/" (name) } { "Rows" }
            }
            @for &command in kind.commands().iter().filter(|command| exits.contains(command)) {
                a.quiet-link href=(action_path(kind, name, command)) { (label(command)) "…" }
            }
        }
    }
}

/// Returns the lag of a component. A stopped one does not catch up.
pub(crate) fn lag_text(lag: u64, state: &SubscriberState) -> String {
    let events = counted(lag, "event");
    if state.is_stopped() {
        format!("{events} not applied")
    } else {
        events
    }
}

/// Renders the event that stopped a component.
fn poison_event(state: &str, event: &PoisonEvent) -> Markup {
    html! {
        div.poison role="alert" {
            p {
                (state) " at event " (event_link(event.id))
                @if let Some(subject) = &event.subject {
                    " of " a href={ "/console/subjects" (subject) "#event-" (event.id) } { bdi { (subject) } }
                }
            }
            (failure(event))
        }
    }
}

fn failure(event: &PoisonEvent) -> Markup {
    html! {
        p.bad { (shortened(&event.reason, ERROR)) }
        p.muted { "Fingerprint of the failure: " code { (event.fingerprint()) } }
    }
}

fn time_text(time: Timestamp) -> String {
    format!("{} UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Renders the progress of a rebuild, in place or in a shadow table.
fn rebuild(progress: &SubscriberProgress) -> Markup {
    let shadow = progress.shadow_progress();
    // A component that has stopped rebuilds nothing.
    if shadow.is_none() && (progress.has_caught_up() || progress.is_stopped()) {
        return Markup::default();
    }
    let rebuilt = shadow.as_ref().unwrap_or(progress);
    html! {
        dt { "Rebuild" }
        dd {
            @if shadow.is_some() { "in a shadow table, while the current rows answer queries" }
            @else { "in place; queries wait" }
            @if let Some(pace) = rebuilt.rebuild_pace() {
                ": " (counted(pace.events_left, "event")) " left"
                @if let Some(seconds) = pace.seconds_left {
                    ", " (grouped(pace.events_per_second)) " a second, about " (seconds) " seconds"
                }
            }
            @if let Some(trouble) = rebuilt.state().trouble() { p.bad { (shortened(&trouble.reason, ERROR)) } }
        }
    }
}

fn deadlines(deadlines: OpenDeadlines) -> Markup {
    html! {
        dt { "Open deadlines" }
        dd { (deadlines.count) }
        @if let Some(next) = deadlines.next {
            dt { "Next deadline" }
            dd { (time_text(next)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use es_subscribe::{OngoingFailure, TroubleCause};

    use super::*;

    #[test]
    fn a_stopped_component_does_not_catch_up() {
        let trouble = OngoingFailure {
            reason: "the payload does not fit".to_owned(),
            since: Timestamp::UNIX_EPOCH,
            cause: TroubleCause::Action,
            event: None,
        };
        let stopped = SubscriberState::Stopped(trouble.clone());
        assert_eq!(lag_text(3, &stopped), "3 events not applied");
        assert_eq!(lag_text(3, &SubscriberState::Retrying(trouble)), "3 events");
        assert_eq!(lag_text(1, &SubscriberState::Working), "1 event");
        let progress = SubscriberProgress::new(ComponentKind::ReadModel, "copies");
        assert!(rebuild(&progress).into_string().contains("in place"));
        progress.record_failure(es_subscribe::SubscriberFailure::new(
            TroubleCause::Action,
            false,
            "the payload does not fit",
        ));
        assert_eq!(rebuild(&progress).into_string(), "");
    }
}
