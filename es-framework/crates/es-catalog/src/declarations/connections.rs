//! The connections between declarations: who records, evolves, reads, starts and sends which.

use std::collections::BTreeSet;

use crate::model::EdgeKind;
use es_command::{
    command::{CommandDescriptor, Parameter},
    publication::Publications,
    reaction::{ReactionTiming, Reactions},
};
use es_event::{Declaration, Upcasters};
use es_read::{
    projection::ReadModels,
    query::{QueryRoute, QueryRouteTarget},
};

use super::state_parameter::{states_of, states_of_parameters};

/// A declaration at one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CatalogEntry {
    Command(&'static str, Declaration),
    Event(&'static str),
    State(&'static str, Declaration),
    ReadModel(&'static str),
    /// The route with this index.
    Query(usize),
    /// The step with this index of the reaction with this name.
    Step(&'static str, usize),
    PublicEvent(&'static str),
}

/// A connection from one declaration to the one that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Connection {
    pub(crate) from: CatalogEntry,
    pub(crate) kind: EdgeKind,
    pub(crate) to: CatalogEntry,
}

/// The graph of the declarations.
#[derive(Debug, Default)]
pub(crate) struct Connections(BTreeSet<Connection>);

impl CatalogEntry {
    pub(crate) const fn command(command: &CommandDescriptor) -> Self {
        Self::Command(command.name, command.declaration)
    }
}

impl Connections {
    /// Connects declarations.
    pub(crate) fn between(
        commands: &[CommandDescriptor],
        upcasters: &Upcasters,
        models: &ReadModels,
        queries: &[QueryRoute],
        reactions: &Reactions,
    ) -> Self {
        let mut connections = Self::default();
        for command in commands {
            connections.connect_events_of_command(command);
        }
        for state in states_of(commands) {
            let entry = CatalogEntry::State(state.state.name, state.state.declaration);
            connections.connect_events(state.state.events, EdgeKind::Evolves, entry);
            connections.connect(
                entry,
                EdgeKind::Decides,
                CatalogEntry::command(state.command),
            );
        }
        for upcaster in upcasters.iter() {
            for to in upcaster.to {
                connections.connect_events(
                    &[upcaster.from],
                    EdgeKind::Upcasts,
                    CatalogEntry::Event(to),
                );
            }
        }
        for table in models.iter() {
            let entry = CatalogEntry::ReadModel(table.model.name);
            connections.connect_events(table.model.events, EdgeKind::Projects, entry);
        }
        for (index, route) in queries.iter().enumerate() {
            let models = match &route.target {
                QueryRouteTarget::Query(query) => query.read_models,
                QueryRouteTarget::BrowseEvents(table) | QueryRouteTarget::FindEvent(table) => {
                    &[table.model.name]
                }
            };
            for model in models {
                let model = CatalogEntry::ReadModel(model);
                connections.connect(model, EdgeKind::Answers, CatalogEntry::Query(index));
            }
        }
        connections.connect_reactions(reactions);
        connections
    }

    fn connect_events_of_command(&mut self, command: &CommandDescriptor) {
        for event in (command.events)() {
            let event = CatalogEntry::Event(event);
            self.connect(CatalogEntry::command(command), EdgeKind::Records, event);
        }
    }

    fn connect_reactions(&mut self, reactions: &Reactions) {
        for reaction in reactions.iter() {
            for (index, step) in reaction.steps.iter().enumerate() {
                let entry = CatalogEntry::Step(reaction.name, index);
                if !matches!(step.when, ReactionTiming::Schedule(_)) {
                    self.connect_events(&[step.event], EdgeKind::Starts, entry);
                }
                if let ReactionTiming::Deadline(deadline) = step.when {
                    self.connect_events(deadline.unless, EdgeKind::Cancels, entry);
                }
                self.connect_states(step.parameters, entry);
                for command in (step.commands)() {
                    self.connect_events_of_command(&command);
                    self.connect(entry, EdgeKind::Sends, CatalogEntry::command(&command));
                }
            }
        }
    }

    /// Connects stored events to the public events that follow from them.
    pub(crate) fn with_publications(mut self, publications: &Publications) -> Self {
        for publication in publications.iter() {
            for public_event in (publication.public_events)() {
                let entry = CatalogEntry::PublicEvent(public_event.event_type);
                self.connect_events(&[publication.event], EdgeKind::Publishes, entry);
                self.connect_states(publication.parameters, entry);
            }
        }
        self
    }

    /// Connects the states among parameters to the function that decides on them.
    fn connect_states(&mut self, parameters: &[Parameter], decides: CatalogEntry) {
        for (state, _) in states_of_parameters(parameters) {
            let entry = CatalogEntry::State(state.name, state.declaration);
            self.connect_events(state.events, EdgeKind::Evolves, entry);
            self.connect(entry, EdgeKind::Decides, decides);
        }
    }

    fn connect_events(&mut self, events: &[&'static str], kind: EdgeKind, to: CatalogEntry) {
        for event in events {
            self.connect(CatalogEntry::Event(event), kind, to);
        }
    }

    fn connect(&mut self, from: CatalogEntry, kind: EdgeKind, to: CatalogEntry) {
        self.0.insert(Connection { from, kind, to });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.0.iter()
    }

    /// Returns the connections that leave a declaration.
    pub(crate) fn leaving(&self, from: CatalogEntry) -> impl Iterator<Item = &Connection> {
        self.0.iter().filter(move |one| one.from == from)
    }
}
