//! The arguments by which `retry` and `skip` select events.

use clap::{Arg, ArgMatches, Command, builder::ValueParser, value_parser};
use es_event::{
    Error, EventId, EventSelection, EventSelectionParts, EventType, InvalidEventSelection, Result,
};

/// Adds the arguments that select events to a subcommand.
pub(super) fn add_arguments(command: Command) -> Command {
    let id = || ValueParser::from(value_parser!(EventId));
    let arguments = [
        (
            "event",
            "EVENT_ID",
            id(),
            "One event, instead of the one that stopped it",
        ),
        ("from", "EVENT_ID", id(), "First event of a range"),
        ("to", "EVENT_ID", id(), "Last event of a range"),
        (
            "type",
            "TYPE",
            value_parser!(EventType).into(),
            "Events of this type",
        ),
        (
            "fingerprint",
            "FINGERPRINT",
            value_parser!(String),
            "Events that fail alike; `status` shows the fingerprint",
        ),
        (
            "key",
            "KEY",
            ValueParser::string(),
            "The event at which this key is held: the key of a row, or a subject",
        ),
    ];
    arguments
        .into_iter()
        .fold(command, |command, (name, value, parser, help)| {
            command.arg(
                Arg::new(name)
                    .long(name)
                    .value_name(value)
                    .value_parser(parser)
                    .help(help),
            )
        })
}

/// Returns the query of the address with the selection, which begins with `?`, or an empty text.
///
/// # Errors
/// The arguments contradict each other.
pub(super) fn to_query(matches: &ArgMatches) -> Result<String> {
    let id = |name| matches.get_one::<EventId>(name).copied();
    let parts = EventSelectionParts {
        event: id("event"),
        from: id("from"),
        to: id("to"),
        event_type: matches.get_one("type").cloned(),
        fingerprint: matches.get_one("fingerprint").cloned(),
        key: matches.get_one("key").cloned(),
    };
    let query = serde_urlencoded::to_string(&parts)
        .map_err(|error| Error::because("the address cannot be written", error))?;
    let selection: Option<EventSelection> = parts
        .try_into()
        .map_err(|error: InvalidEventSelection| Error::new(error.to_string()))?;
    Ok(selection.map_or_else(String::new, |_| format!("?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(arguments: &[&str]) -> Result<String> {
        let command = add_arguments(Command::new("skip"));
        let arguments = ["skip"].iter().chain(arguments);
        to_query(&command.try_get_matches_from(arguments).unwrap())
    }

    #[test]
    fn arguments_select_events_in_one_way() {
        for (arguments, expected) in [
            (&[][..], ""),
            (&["--event", "7"], "?event=7"),
            (&["--from", "7", "--to", "9"], "?from=7&to=9"),
            (
                &["--type", "com.example.TreePlantedEvent"],
                "?type=com.example.TreePlantedEvent",
            ),
            (
                &["--fingerprint", "0123456789abcdef"],
                "?fingerprint=0123456789abcdef",
            ),
            (&["--key", "/books/a b"], "?key=%2Fbooks%2Fa+b"),
        ] {
            assert_eq!(query(arguments).unwrap(), expected);
        }
        for wrong in [
            &["--from", "7"][..],
            &["--event", "7", "--type", "com.example.TreePlantedEvent"],
            &["--fingerprint", "a&event=7"],
        ] {
            assert!(query(wrong).is_err(), "{wrong:?}");
        }
    }
}
