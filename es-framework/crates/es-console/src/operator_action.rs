//! Rebuild, retry and skip: a page that states the consequences, and the form that sends the command.

use axum::{
    extract::Path,
    response::{IntoResponse as _, Redirect},
};
use es_event::EventSelection;
use es_subscribe::operator::{ComponentKind, OperatorCommand};
use maud::{Markup, html};

use crate::{
    console::Console,
    layout::{Section, operator_controls},
    notice::NoticePage,
    page_request::{PageRequest, PageResult},
    query_values::AddressValues,
};

/// The component and its command in a path.
type ActionPath = Path<(String, String)>;

/// A command of an operator to one component.
#[derive(Debug, Clone, Copy)]
struct OperatorAction {
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
        OperatorCommand::Replay => "Replay",
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

/// Returns the section of the pages about a kind of component.
pub(crate) const fn section_of(kind: ComponentKind) -> Section {
    match kind {
        ComponentKind::ReadModel => Section::ReadModels,
        ComponentKind::Reaction => Section::Reactions,
    }
}

impl OperatorAction {
    /// Finds the command that a path names.
    fn find_by_path(
        console: &Console,
        kind: ComponentKind,
        (name, verb): &(String, String),
    ) -> Result<Self, NoticePage> {
        let progress = console.components(kind).find_progress(name);
        let mut commands = kind.commands().iter();
        let command = commands.find(|command| command.verb() == verb);
        match progress.zip(command) {
            Some((progress, &command)) => Ok(Self {
                kind,
                name: progress.name(),
                command,
            }),
            None => Err(NoticePage::not_found(format!(
                "There is no such {kind}, or it has no such command."
            ))),
        }
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
            (_, OperatorCommand::Replay) => &[
                "The events that you select are delivered again: one event, a range, or those of a subject, which is the key here. The receiver knows them by their ids.",
                "A replay reads up to 10,000 events. A larger range needs several.",
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
}

/// Shows the page that states the consequences of a command. The query of its address fills the fields that select
/// events.
pub(crate) async fn show_action(
    Path(path): ActionPath,
    page: PageRequest,
    kind: ComponentKind,
) -> PageResult {
    let action = OperatorAction::find_by_path(page.console(), kind, &path)?;
    let (name, command) = (action.name, action.command);
    let controls = html! {
        @if command != OperatorCommand::Rebuild { (selection_fields(&page.query)) }
        button.send type="submit" { (label(command)) }
        a.quiet-link href=(list_path(kind)) { "Cancel" }
    };
    let content = html! {
        div.notice {
            h1 { (label(command)) " the " (kind) " " bdi { (name) } "?" }
            ul.consequences { @for sentence in action.consequences() { li { (sentence) } } }
            form.inline method="post" action=(action_path(kind, name, command)) {
                (operator_controls(&page.visitor, &controls, "to do this"))
            }
        }
    };
    let title = format!("{} {name}", label(command));
    page.respond(section_of(kind), &title, &content)
}

/// Sends the command of a form.
pub(crate) async fn execute_action(
    Path(path): ActionPath,
    page: PageRequest,
    kind: ComponentKind,
) -> PageResult {
    let console = page.console();
    let OperatorAction { name, command, .. } = OperatorAction::find_by_path(console, kind, &path)?;
    let form: AddressValues = page.read_form()?;
    let selection = match command {
        OperatorCommand::Rebuild => None,
        OperatorCommand::Retry | OperatorCommand::Skip | OperatorCommand::Replay => {
            read_selection(&form)?
        }
    };
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
fn read_selection(form: &AddressValues) -> Result<Option<EventSelection>, NoticePage> {
    EventSelection::from_pairs(filled_fields(form))
        .map_err(|error| NoticePage::invalid_input(format!("{error}.")))
}
