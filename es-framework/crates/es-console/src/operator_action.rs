//! Rebuild, retry and skip: a page that states the consequences, and the form that sends the command.

use axum::{
    http::HeaderMap,
    response::{IntoResponse as _, Redirect, Response},
};
use bytes::Bytes;
use es_event::EventSelection;
use es_subscribe::{
    SubscriberProgress,
    operator::{ComponentKind, OperatorCommand},
};
use maud::{Markup, html};

use crate::{
    access::check_form,
    console::{Console, ConsoleState},
    layout::{PageFrame, Section, Visitor, operator_controls},
    notice::NoticePage,
    query_values::AddressValues,
};

/// A command of an operator to one component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperatorAction {
    kind: ComponentKind,
    name: &'static str,
    command: OperatorCommand,
}

/// Returns the label of a command.
pub(crate) const fn label(command: OperatorCommand) -> &'static str {
    match command {
        OperatorCommand::Rebuild => "Rebuild",
        OperatorCommand::Retry => "Retry",
        OperatorCommand::Skip => "Skip",
    }
}

/// Returns the path of the list of components.
pub(crate) const fn list_path(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::ReadModel => "/console/read-models",
        ComponentKind::Reaction => "/console/reactions",
    }
}

/// Returns the path of the page of a command.
pub(crate) fn action_path(kind: ComponentKind, name: &str, command: OperatorCommand) -> String {
    format!("{}/{name}/{}", list_path(kind), command.verb())
}

impl OperatorAction {
    /// Finds the command that a path names.
    pub(crate) fn find_by_path(
        console: &Console,
        kind: ComponentKind,
        name: &str,
        verb_in_path: &str,
    ) -> Result<Self, NoticePage> {
        let progress = console.components(kind).find_progress(name);
        let mut commands = kind.commands().iter();
        let command = commands.find(|command| command.verb() == verb_in_path);
        let found = progress.map(SubscriberProgress::name).zip(command);
        let action = found.map(|(name, &command)| Self {
            kind,
            name,
            command,
        });
        action.ok_or_else(|| {
            NoticePage::not_found(format!(
                "There is no such {kind}, or it has no such command."
            ))
        })
    }

    /// Returns the sentences that an operator should know before the command.
    const fn consequences(self) -> &'static [&'static str] {
        match (self.kind, self.command) {
            (ComponentKind::Reaction, OperatorCommand::Rebuild) => &[
                "The tasks of the reaction were lost. It begins as at its first start, and may repeat calls of other systems, with the same idempotency keys.",
            ],
            (ComponentKind::ReadModel, OperatorCommand::Rebuild) => &[
                "The rows are computed again from the first event, in a shadow table. Meanwhile queries get the current rows.",
                "It reads all events once. A large store is busy with that for a while; the page of the read models shows the progress.",
                "At the end, the new rows replace the current ones at once. No event is lost or changed.",
            ],
            (ComponentKind::ReadModel, OperatorCommand::Retry) => &[
                "The read model tries again at once, also with the events of held rows. It stops again, or holds them again, if the reason remains.",
                "Events that you select are no longer skipped. A read model that has passed them is rebuilt.",
            ],
            (ComponentKind::Reaction, OperatorCommand::Retry) => &[
                "The reaction tries again at once, also with the events of held subjects. It stops again, or holds them again, if the reason remains.",
                "A call of another system that failed halfway is sent again, with the same idempotency key.",
            ],
            (ComponentKind::ReadModel, OperatorCommand::Skip) => &[
                "The read model skips the event that stopped it and those at which rows are held, now and in every rebuild. Of a selection, it skips each event that it cannot apply.",
                "Its rows will lack what the event says. Only a repaired projection of a new version can include the event again.",
            ],
            (ComponentKind::Reaction, OperatorCommand::Skip) => &[
                "The reaction leaves out the actions that failed at the events at which subjects are held, in every instance. Nothing carries them out later.",
                "Whoever waits for the action, such as a reader for a reminder, does not get it.",
            ],
        }
    }

    /// Returns the page that states the consequences. The query of its address fills the fields that select events.
    pub(crate) fn show_confirmation(
        self,
        console: &Console,
        visitor: &Visitor,
        selected: &AddressValues,
    ) -> Response {
        let Self {
            kind,
            name,
            command,
        } = self;
        let frame = PageFrame {
            application: console.name,
            visitor,
            section: match kind {
                ComponentKind::ReadModel => Section::ReadModels,
                ComponentKind::Reaction => Section::Reactions,
            },
            title: &format!("{} {name}", label(command)),
        };
        let controls = html! {
            @if command != OperatorCommand::Rebuild { (selection_fields(selected)) }
            button.send type="submit" { (label(command)) }
            a.quiet-link href=(list_path(kind)) { "Cancel" }
        };
        frame.respond(&html! {
            div.notice {
                h1 { (label(command)) " the " (kind) " " bdi { (name) } "?" }
                ul.consequences { @for sentence in self.consequences() { li { (sentence) } } }
                form.inline method="post" action=(action_path(kind, name, command)) {
                    (operator_controls(visitor, &controls, "to do this"))
                }
            }
        })
    }

    /// Sends the command of a form.
    pub(crate) async fn send_to_component(
        self,
        state: &ConsoleState,
        visitor: &Visitor,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Response, NoticePage> {
        let console = &*state.console;
        check_form(state, headers, visitor, body)?;
        let selection = match self.command {
            OperatorCommand::Rebuild => None,
            OperatorCommand::Retry | OperatorCommand::Skip => read_selection(body)?,
        };
        let Self {
            kind,
            name,
            command,
        } = self;
        let operator = match kind {
            ComponentKind::ReadModel => &console.read_model_operator,
            ComponentKind::Reaction => &console.reaction_operator,
        };
        tracing::info!(
            command = command.verb(),
            component = name,
            "an operator sends a command from the console"
        );
        match operator.send_selection(name, command, selection).await {
            Ok(_) => Ok(Redirect::to(list_path(kind)).into_response()),
            Err(error) => Err(NoticePage::invalid_input(format!("{error}."))),
        }
    }
}

/// The fields that select events, with their titles.
const SELECTION: [(&str, &str); 6] = [
    ("event", "One event"),
    ("from", "From event"),
    ("to", "To event"),
    ("type", "Events of a type"),
    ("fingerprint", "Fingerprint of a failure"),
    ("key", "Key that is held"),
];

/// Returns the values of the fields that are filled.
fn filled_fields(values: &AddressValues) -> impl Iterator<Item = (&str, &str)> {
    let fields = SELECTION
        .into_iter()
        .map(|(name, _)| (name, values.value_or_empty(name)));
    fields.filter(|(_, value)| !value.is_empty())
}

fn selection_fields(selected: &AddressValues) -> Markup {
    html! {
        details open[filled_fields(selected).next().is_some()] {
            summary { "Select events, instead of the one that stopped it and those at which keys are held" }
            @for (name, title) in SELECTION {
                label { (title) " " input type="text" name=(name) value=(selected.value_or_empty(name)) autocomplete="off"; }
            }
        }
    }
}

/// Reads the selection of a form.
fn read_selection(body: &Bytes) -> Result<Option<EventSelection>, NoticePage> {
    let values = AddressValues::parse(&String::from_utf8_lossy(body));
    EventSelection::from_pairs(filled_fields(&values))
        .map_err(|error| NoticePage::invalid_input(format!("{error}.")))
}
