//! The subcommands `projection` and `reaction`. They send the commands of operators to the application that runs.

use clap::{Args, Command, Subcommand};
use es_event::{Error, EventId, EventType, Result};
use es_subscribe::operator::{ComponentKind, OperatorCommand};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use super::{
    client::OperatorArguments,
    component::{command_path, describe_command, status_path},
};

#[derive(Debug, Args)]
pub(crate) struct ComponentArguments {
    #[command(flatten)]
    api: OperatorArguments,
    #[command(subcommand)]
    action: ComponentAction,
}

#[derive(Debug, Subcommand)]
enum ComponentAction {
    /// Prints the status of each, by name: its position, what it holds, and the event that stopped it.
    Status,
    Rebuild {
        #[command(flatten)]
        component: ComponentName,
    },
    Retry {
        #[command(flatten)]
        component: ComponentName,
        #[command(flatten)]
        events: SelectedEvents,
    },
    Skip {
        #[command(flatten)]
        component: ComponentName,
        #[command(flatten)]
        events: SelectedEvents,
    },
    Replay {
        #[command(flatten)]
        component: ComponentName,
        #[command(flatten)]
        events: SelectedEvents,
    },
}

#[derive(Debug, Args)]
struct ComponentName {
    /// Name of the read model or the reaction.
    name: String,
}

/// The events that a command is about. The application refuses a selection that contradicts itself.
#[derive(Debug, Args, Serialize)]
struct SelectedEvents {
    /// One event, instead of the one that stopped it.
    #[arg(long, value_name = "EVENT_ID")]
    event: Option<EventId>,
    /// First event of a range.
    #[arg(long, value_name = "EVENT_ID")]
    from: Option<EventId>,
    /// Last event of a range.
    #[arg(long, value_name = "EVENT_ID")]
    to: Option<EventId>,
    /// Events of this type.
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    event_type: Option<EventType>,
    /// Events that fail alike; `status` shows the fingerprint.
    #[arg(long)]
    fingerprint: Option<String>,
    /// The event at which this key is held: the key of a row, or a subject. For a replay, the events of this subject.
    #[arg(long)]
    key: Option<String>,
}

/// Describes each command in the words for the kind of component.
pub(crate) fn describe_commands(component: ComponentKind, subcommand: Command) -> Command {
    let replay = OperatorCommand::Replay;
    let is_hidden = !component.commands().contains(&replay);
    let subcommand = subcommand.mut_subcommand(replay.verb(), |replay| replay.hide(is_hidden));
    let commands = component.commands().iter();
    commands.fold(subcommand, |subcommand, &command| {
        let about = describe_command(component, command).trim_end_matches('.');
        subcommand.mut_subcommand(command.verb(), |subcommand| subcommand.about(about))
    })
}

impl ComponentArguments {
    /// Sends the command to the application, and returns its answer.
    pub(crate) async fn send(self, component: ComponentKind) -> Result<Value> {
        let (command, ComponentName { name }, events) = match self.action {
            ComponentAction::Status => {
                let path = status_path(component);
                return self.api.send_request(Method::GET, path, None).await;
            }
            ComponentAction::Rebuild { component } => (OperatorCommand::Rebuild, component, None),
            ComponentAction::Retry { component, events } => {
                (OperatorCommand::Retry, component, Some(events))
            }
            ComponentAction::Skip { component, events } => {
                (OperatorCommand::Skip, component, Some(events))
            }
            ComponentAction::Replay { component, events } => {
                (OperatorCommand::Replay, component, Some(events))
            }
        };
        let query = serde_urlencoded::to_string(events)
            .map_err(|error| Error::because("the address cannot be written", error))?;
        let path = format!("{}?{query}", command_path(component, &name, command));
        self.api.send_request(Method::POST, &path, None).await
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        events: SelectedEvents,
    }

    #[test]
    fn arguments_select_events_in_the_query_of_the_address() {
        for (arguments, expected) in [
            (&[][..], ""),
            (&["--event", "7"], "event=7"),
            (&["--from", "7", "--to", "9"], "from=7&to=9"),
            (
                &["--type", "com.example.TreePlantedEvent"],
                "type=com.example.TreePlantedEvent",
            ),
            (&["--fingerprint", "a&event=7"], "fingerprint=a%26event%3D7"),
            (&["--key", "/books/a b"], "key=%2Fbooks%2Fa+b"),
        ] {
            let line = Line::parse_from(["skip"].iter().chain(arguments));
            assert_eq!(serde_urlencoded::to_string(line.events).unwrap(), expected);
        }
    }
}
