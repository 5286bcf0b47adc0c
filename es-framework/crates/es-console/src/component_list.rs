//! The read models and the reactions: their lag, rebuilds, deadlines and poison events.

use axum::response::Response;
use es_command::reaction::ReactionStatus;
use es_event::{EventId, PoisonEvent};
use es_read::projection::{ReadModelProgress, RebuildPace};
use es_runtime::operator::{ComponentKind, OperatorCommand, SubscriberState};
use es_store::newest_id;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::{
    console::Console,
    layout::{PageFrame, Section, Visitor},
    notice::NoticePage,
    operator_action::{action_path, label},
    text_view::{counted, grouped, shortened},
};

/// The number of characters of an error.
const ERROR: usize = 500;

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
    let cards = match kind {
        ComponentKind::ReadModel => read_models(console, newest),
        ComponentKind::Reaction => reactions(console, newest),
    };
    Ok(frame.respond(&html! {
        div.bar {
            h1 { (title) }
            span.muted { (counted(EventId::count_to(newest), "event")) " in the store" }
        }
        @if cards.is_empty() { p.empty { "The application declares none." } }
        div.components { @for card in cards { (card) } }
    }))
}

fn read_models(console: &Console, newest: Option<EventId>) -> Vec<Markup> {
    let cards = console.read_models.iter().map(|(name, progress)| {
        let card = ComponentCard {
            kind: ComponentKind::ReadModel,
            name,
            position: progress.visible_position(),
            state: progress.state(),
            exits: exits_of_read_model(progress),
        };
        card.render(newest, &render_rebuild(progress))
    });
    cards.collect()
}

fn reactions(console: &Console, newest: Option<EventId>) -> Vec<Markup> {
    let statuses = console.reactions.all_by_name().into_iter();
    let cards = statuses.map(|(name, status)| {
        let card = ComponentCard {
            kind: ComponentKind::Reaction,
            name,
            position: status.position,
            exits: status.state.exits(ComponentKind::Reaction),
            state: status.state.clone(),
        };
        card.render(newest, &deadlines(&status))
    });
    cards.collect()
}

/// A read model or a reaction with the members that both have.
struct ComponentCard {
    kind: ComponentKind,
    name: &'static str,
    position: Option<EventId>,
    state: SubscriberState,
    exits: Vec<OperatorCommand>,
}

/// Returns the commands that help a read model or its shadow table.
fn exits_of_read_model(progress: &ReadModelProgress) -> Vec<OperatorCommand> {
    const KIND: ComponentKind = ComponentKind::ReadModel;
    let mut exits = progress.state().exits(KIND);
    if let Some(shadow) = progress.shadow_progress() {
        let of_shadow = shadow.state().exits(KIND).into_iter();
        exits.extend(
            of_shadow
                .filter(|exit| !exits.contains(exit))
                .collect::<Vec<_>>(),
        );
    }
    exits
}

impl ComponentCard {
    fn render(&self, newest: Option<EventId>, more: &Markup) -> Markup {
        let lag = EventId::count_to(newest).saturating_sub(EventId::count_to(self.position));
        html! {
            section.card.component {
                h2 { bdi { (self.name) } (self.badge(lag)) }
                dl.facts {
                    dt { "Last event" }
                    dd {
                        @match self.position {
                            Some(id) => a href={ "/console/events/" (id) } { (id) },
                            None => "none",
                        }
                    }
                    dt { "Lag" }
                    dd { (counted(lag, "event")) }
                    (more)
                }
                @if let Some(trouble) = self.state.trouble() {
                    @match &trouble.event {
                        Some(poison) => (poison_event(self.state.name(), poison)),
                        None => p.bad role="alert" { (shortened(&trouble.reason, ERROR)) },
                    }
                    p.muted { (self.state.name()) " since " (time_text(trouble.since)) }
                }
                (self.actions())
            }
        }
    }

    fn badge(&self, lag: u64) -> Markup {
        let (class, text) = match (&self.state, lag) {
            (SubscriberState::Stopped(_) | SubscriberState::Retrying(_), _) => {
                ("bad", self.state.name())
            }
            (SubscriberState::Working, 0) => ("good", "up to date"),
            (SubscriberState::Working, _) => ("muted", "catching up"),
        };
        html! { span.badge.(class) { (text) } }
    }

    fn actions(&self) -> Markup {
        html! {
            div.actions {
                @if self.kind == ComponentKind::ReadModel {
                    a.quiet-link href={ "/console/rows/" (self.name) } { "Rows" }
                }
                @for command in self.exits.iter().copied() {
                    a.quiet-link href=(action_path(self.kind, self.name, command)) { (label(command)) "…" }
                }
            }
        }
    }
}

/// Renders the event that stopped a component.
fn poison_event(state: &str, event: &PoisonEvent) -> Markup {
    html! {
        div.poison role="alert" {
            p {
                (state) " at event " a href={ "/console/events/" (event.id) } { (event.id) }
                @if let Some(subject) = &event.subject {
                    " of " a href={ "/console/subjects" (subject) "#event-" (event.id) } { bdi { (subject) } }
                }
            }
            p.bad { (shortened(&event.reason, ERROR)) }
            p.muted { "Fingerprint of the failure: " code { (event.fingerprint()) } }
        }
    }
}

fn time_text(time: Timestamp) -> String {
    format!("{} UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Renders the progress of a rebuild, in place or in a shadow table.
fn render_rebuild(progress: &ReadModelProgress) -> Markup {
    let shadow = progress.shadow_progress();
    if shadow.is_none() && progress.has_caught_up() {
        return Markup::default();
    }
    let place = match shadow {
        Some(_) => "in a shadow table, while the current rows answer queries",
        None => "in place; queries wait",
    };
    let rebuilt = shadow.as_ref().unwrap_or(progress);
    html! {
        dt { "Rebuild" }
        dd {
            (place)
            @if let Some(pace) = rebuilt.rebuild_pace() { ": " (pace_text(pace)) }
            @if let Some(trouble) = rebuilt.state().trouble() { p.bad { (shortened(&trouble.reason, ERROR)) } }
        }
    }
}

fn pace_text(pace: RebuildPace) -> String {
    let left = counted(pace.events_left, "event");
    let rate = grouped(pace.events_per_second);
    match pace.seconds_left {
        Some(seconds) => format!("{left} left, {rate} a second, about {seconds} seconds"),
        None => format!("{left} left"),
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
