//! The parameters that each kind of function can have. All messages about parameters take their lists from one table.

/// A kind of function of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionKind {
    Handler,
    State,
    Projection,
    /// A function of a reaction that sends commands.
    Send,
    /// A function of a reaction that calls another system.
    Call,
    /// A function that publishes public events.
    Publish,
    Upcaster,
    /// A function that answers a query.
    Query,
}

use FunctionKind::{Call, Handler, Projection, Publish, Query, Send};

/// The types that a function can take by reference, and the kinds of functions that can.
const REFERENCES: [(&str, &[FunctionKind]); 9] = [
    (
        "states (`#[derive(State)]`)",
        &[Handler, Send, Call, Publish],
    ),
    ("the `QueryContext`", &[Query]),
    ("settings (`#[derive(Settings)]`)", &[Handler, Call, Query]),
    (
        "what `App::provide` is given (`#[derive(Service)]`)",
        &[Handler, Call, Query],
    ),
    ("the `Clock`", &[Handler, Call, Query]),
    ("the `Caller`", &[Handler, Query]),
    ("the `Metadata`", &[Handler]),
    ("the `ReactionKey`", &[Call]),
    ("the `RecordedEvent`", &[Call, Projection]),
];

impl FunctionKind {
    /// Returns the sentence about the parameters of this kind of function.
    pub(crate) fn allowed(self) -> String {
        let taken = match self {
            Self::Handler => "a handler takes its command",
            Self::State => "a function of a state takes one event",
            Self::Projection => "a function of a projection takes one event",
            Self::Send => "a function of a reaction that is not `async` takes its event",
            Self::Call => "an `async` function of a reaction takes its event",
            Self::Publish => "a publication takes its event",
            Self::Upcaster => "an upcaster takes one old event",
            Self::Query => "a query handler takes its query",
        };
        let allowed = REFERENCES.iter().filter(|(_, kinds)| kinds.contains(&self));
        let others: Vec<_> = allowed.map(|(name, _)| *name).collect();
        match others.split_last() {
            None => format!("{taken} and nothing else"),
            Some((only, [])) => format!("{taken} and, if need be, a reference to {only}"),
            Some((last, others)) => {
                format!(
                    "{taken}, and references to {} and {last}",
                    others.join(", ")
                )
            }
        }
    }

    /// Returns the message for a parameter that this kind of function cannot have.
    pub(crate) fn refused(self) -> String {
        format!("{}: remove this parameter", self.allowed())
    }

    /// Returns the message for a parameter in the place of the event that is none.
    pub(crate) fn no_event(self) -> String {
        format!(
            "this is no event: write a reference to a struct with `#[derive(Event)]`, such as `&BookPurchasedEvent`; {}",
            self.allowed()
        )
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_notes_of_the_traits_list_the_same_parameters() {
        let crate_source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../es-framework/crates/es-command/src");
        let source = fs::read_to_string(crate_source.join("command/inject.rs")).unwrap();
        for kind in [Handler, Call, Query] {
            let note = format!("note = \"{}\"", kind.allowed());
            assert!(source.contains(&note), "{note}");
        }
        let source = fs::read_to_string(crate_source.join("reaction/declared.rs")).unwrap();
        assert!(source.contains(&format!("\"{}: let it", Call.allowed())));
    }

    #[test]
    fn each_kind_of_function_lists_what_it_can_have() {
        assert_eq!(
            Projection.allowed(),
            "a function of a projection takes one event and, if need be, a reference to the `RecordedEvent`"
        );
        assert_eq!(
            FunctionKind::Upcaster.allowed(),
            "an upcaster takes one old event and nothing else"
        );
    }
}
