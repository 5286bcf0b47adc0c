//! Finds declarations that are probably mistaken. An attribute silences each finding.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{EdgeKind, FindingKind};
use es_command::{
    command::CommandDescriptor, reaction::ReactionDescriptor, settings::SettingsDescriptor,
};
use es_event::{Declaration, EventDescriptor, subject_template::shape};

use super::{
    catalog::Catalog,
    connections::{CatalogEntry, Connection},
    finding::Finding,
    state_parameter::StateParameter,
};

impl Catalog {
    /// Returns the probable mistakes in the declarations, in a stable order. `roles` are all roles that a caller
    /// can have, if that is known.
    #[doc(hidden)]
    #[must_use]
    pub fn findings(&self, roles: Option<&BTreeSet<String>>) -> Vec<Finding> {
        let mut findings = self.unconsumed_events();
        findings.extend(self.ignored_events());
        findings.extend(self.reaction_loops());
        findings.extend(self.unused_settings());
        if let Some(roles) = roles {
            findings.extend(self.unknown_roles(roles));
        }
        findings
    }

    fn is_consumed(&self, event_type: &'static str) -> bool {
        let mut leaving = self.connections.leaving(CatalogEntry::Event(event_type));
        // An upcaster may drop the event.
        leaving.next().is_some() || self.upcasters.get(event_type).is_some()
    }

    fn unconsumed_events(&self) -> Vec<Finding> {
        let events = self.events.iter();
        let unconsumed =
            events.filter(|event| !event.informational && !self.is_consumed(event.event_type));
        let finding = |event: &EventDescriptor| {
            let (kind, entry) = (FindingKind::UnconsumedEvent, event_entry(event));
            let (name, place) = (event.event_type, event.declaration);
            Finding::new(kind, entry, (name, place), |at| {
                format!(
                    "no state, read model or reaction consumes {name}{}: consume it, or write `#[event(informational)]` if it is recorded for others only",
                    at(" at ", place)
                )
            })
        };
        unconsumed.map(finding).collect()
    }

    /// Returns the consumed events that no state of their subject has a function for. It is enough if one state has
    /// such a function, because each state of a subject serves one decision only.
    fn ignored_events(&self) -> Vec<Finding> {
        let mut by_subject: BTreeMap<String, Vec<StateParameter<'_>>> = BTreeMap::new();
        for taken in self.states() {
            let states = by_subject.entry(shape(taken.subject)).or_default();
            states.push(taken);
        }
        let mut findings = vec![];
        for states in by_subject.values() {
            let Some(first) = states.first() else {
                continue;
            };
            for event_type in self.subjects.events_on(first.subject) {
                let is_known =
                    |taken: &StateParameter<'_>| taken.state.events.contains(&event_type);
                if let Some(event) = self.find_event(event_type)
                    && !event.informational
                    && !states.iter().any(is_known)
                    && self.is_consumed(event_type)
                {
                    findings.push(ignored_event(first, event));
                }
            }
        }
        findings
    }

    /// Returns a finding for each reaction whose commands can lead back to an event that starts it.
    fn reaction_loops(&self) -> Vec<Finding> {
        let checked = self.reactions.iter().filter(|one| !one.repeats);
        checked.filter_map(|one| self.find_loop(one)).collect()
    }

    fn find_loop(&self, reaction: &ReactionDescriptor) -> Option<Finding> {
        let mut steps = reaction.steps.iter().enumerate();
        steps.find_map(|(index, step)| {
            let start = CatalogEntry::Event(step.event);
            let mut commands = (step.commands)().into_iter();
            commands.find_map(|command| {
                let events = (command.events)().into_iter();
                let mut back = events.filter(|event| self.leads_to(event, start));
                Some(reaction_loop(reaction, index, &command, back.next()?))
            })
        })
    }

    /// Returns whether an event leads to another one through reactions that do not end by themselves.
    fn leads_to(&self, event: &'static str, to: CatalogEntry) -> bool {
        let is_followed = |one: &&Connection| match (one.kind, one.to) {
            (EdgeKind::Records | EdgeKind::Sends, _) => true,
            (EdgeKind::Starts, CatalogEntry::Step(name, _)) => {
                let mut reactions = self.reactions.iter();
                reactions.any(|reaction| reaction.name == name && !reaction.repeats)
            }
            _ => false,
        };
        let (mut seen, mut open) = (BTreeSet::new(), vec![CatalogEntry::Event(event)]);
        while let Some(entry) = open.pop() {
            if entry == to {
                return true;
            }
            if seen.insert(entry) {
                let leaving = self.connections.leaving(entry).filter(is_followed);
                open.extend(leaving.map(|one| one.to));
            }
        }
        false
    }

    /// Returns the settings that no handler and no reaction takes.
    fn unused_settings(&self) -> Vec<Finding> {
        let used: Vec<_> = self
            .required_services()
            .map(|(service, _)| service)
            .collect();
        let settings = self.settings.iter();
        let unused = settings.filter(|one| !one.may_be_unused && !used.contains(&one.service));
        let finding = |settings: &SettingsDescriptor| {
            let (name, place) = (settings.service.name, settings.declaration);
            Finding::new(FindingKind::UnusedSettings, None, (name, place), |at| {
                format!(
                    "no handler and no reaction takes the settings {name}{}, so that their flags and variables do not exist: take them as `&{name}`, remove them, or write `#[settings(unused)]` if that is intended",
                    at(" at ", place)
                )
            })
        };
        unused.map(finding).collect()
    }

    /// Returns the roles that a command or a query requires and that nobody can have, each once.
    fn unknown_roles(&self, roles: &BTreeSet<String>) -> Vec<Finding> {
        let commands = self.commands.iter();
        let posted = commands.filter(|command| !command.is_internal());
        let by_commands = posted.map(|command| RequiredRole {
            roles: command.roles,
            without_token: command.role_without_token,
            name: command.name,
            declaration: command.declaration,
            entry: CatalogEntry::command(command),
        });
        let queries = self.queries.iter().enumerate();
        let by_queries = queries.map(|(index, query)| RequiredRole {
            roles: query.roles(),
            without_token: query.role_without_token(),
            name: &query.path,
            declaration: query.declaration,
            entry: CatalogEntry::Query(index),
        });
        let required: Vec<_> = by_commands.chain(by_queries).collect();
        // One key `role_without_token` is enough for a role that several declarations require.
        let without_token = required.iter().filter(|one| one.without_token);
        let mut known: BTreeSet<&str> = without_token.flat_map(|one| one.roles).copied().collect();
        known.extend(roles.iter().map(String::as_str));
        let mut findings = vec![];
        for one in &required {
            if !one.roles.is_empty() && !one.roles.iter().any(|role| known.contains(role)) {
                known.extend(one.roles);
                findings.push(unknown_role(one));
            }
        }
        findings
    }
}

/// The roles of which a command or a query requires one.
struct RequiredRole<'a> {
    roles: &'static [&'static str],
    without_token: bool,
    /// The name of the command, or the path of the query.
    name: &'a str,
    declaration: Declaration,
    entry: CatalogEntry,
}

fn event_entry(event: &EventDescriptor) -> Option<CatalogEntry> {
    Some(CatalogEntry::Event(event.event_type))
}

fn ignored_event(taken: &StateParameter<'_>, event: &EventDescriptor) -> Finding {
    let StateParameter { state, subject, .. } = taken;
    let (name, place) = (event.event_type, event.declaration);
    let (kind, entry) = (FindingKind::IgnoredEvent, event_entry(event));
    Finding::new(kind, entry, (name, place), |at| {
        format!(
            "the state {}{} ignores {name}{}, which occurs on its subject {subject}: add a function for it to `#[evolve]`, or write `#[event(informational)]` if no decision depends on the event",
            state.name,
            at(" at ", state.declaration),
            at(" at ", place)
        )
    })
}

fn reaction_loop(
    reaction: &ReactionDescriptor,
    step: usize,
    command: &CommandDescriptor,
    event: &str,
) -> Finding {
    let (name, place) = (reaction.name, reaction.declaration);
    let entry = Some(CatalogEntry::Step(name, step));
    Finding::new(FindingKind::ReactionLoop, entry, (name, place), |at| {
        format!(
            "the reaction {name}{} can start itself for ever: it sends {}{}, which records {event}, which leads back to it: break the circle, or write `#[reaction(repeats)]` if the handler ends it",
            at(" at ", place),
            command.name,
            at(", handled at ", command.handler)
        )
    })
}

fn unknown_role(required: &RequiredRole<'_>) -> Finding {
    let (name, place) = (required.name, required.declaration);
    let entry = Some(required.entry);
    Finding::new(FindingKind::UnknownRole, entry, (name, place), |at| {
        format!(
            "no token in AUTH_TOKENS_FILE has the role {}, which {name}{} requires, so that nobody can call it: add a token with `token create`, correct the role, or write `role_without_token` beside it if that is intended",
            required.roles.join(" or "),
            at(" at ", place)
        )
    })
}
