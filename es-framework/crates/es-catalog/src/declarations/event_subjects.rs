//! The subjects on which events can occur, as templates.

use std::collections::{BTreeMap, BTreeSet};

use es_command::command::CommandDescriptor;
use es_event::{
    EventDescriptor, Upcasters,
    subject_template::{is_field, segments, shape},
};

/// The templates of the subjects on which each event can occur, as far as the declarations say so.
#[derive(Debug)]
pub(crate) struct EventSubjects {
    by_event: BTreeMap<&'static str, BTreeSet<String>>,
    /// The events that an upcaster makes of older ones, which may be on any subject.
    upcast: BTreeSet<&'static str>,
    /// False if a handler does not say which events it returns.
    is_complete: bool,
}

impl EventSubjects {
    /// Collects the subjects of the events that the handlers return.
    pub(crate) fn new(
        commands: &[CommandDescriptor],
        events: &[EventDescriptor],
        upcasters: &Upcasters,
    ) -> Self {
        let mut by_event: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        let mut is_complete = true;
        for command in commands {
            let recorded = (command.events)();
            is_complete &= !recorded.is_empty();
            for event_type in recorded {
                match events.iter().find(|one| one.event_type == event_type) {
                    Some(event) => {
                        let subject = event_subject(event, command.subject);
                        by_event.entry(event_type).or_default().insert(subject);
                    }
                    None => is_complete = false,
                }
            }
        }
        let upcast = upcasters.iter().flat_map(|upcaster| upcaster.to).copied();
        Self {
            by_event,
            upcast: upcast.collect(),
            is_complete,
        }
    }

    /// Returns the subjects of an event, or `None` if the declarations do not say all of them. An event
    /// that no handler returns may come from another service.
    pub(crate) fn all_subjects_of(&self, event_type: &str) -> Option<&BTreeSet<String>> {
        let is_known = self.is_complete && !self.upcast.contains(event_type);
        is_known.then(|| self.by_event.get(event_type)).flatten()
    }

    /// Returns the subjects of all these events, if none of them can occur in the scope.
    pub(crate) fn subjects_if_outside(
        &self,
        events: &[&'static str],
        scope: SubjectScope<'_>,
    ) -> Option<BTreeSet<&str>> {
        let mut outside = BTreeSet::new();
        for event in events {
            let subjects = self.all_subjects_of(event)?;
            if subjects.iter().any(|subject| scope.may_contain(subject)) {
                return None;
            }
            outside.extend(subjects.iter().map(String::as_str));
        }
        (!outside.is_empty()).then_some(outside)
    }

    /// Returns each event that occurs on exactly this subject.
    pub(crate) fn events_on<'a>(
        &'a self,
        subject: &'a str,
    ) -> impl Iterator<Item = &'static str> + 'a {
        let scope = SubjectScope {
            template: subject,
            recursive: false,
        };
        let events = self.by_event.iter();
        events
            .filter(move |(_, subjects)| {
                subjects.iter().any(|subject| scope.has_same_shape(subject))
            })
            .map(|(event, _)| *event)
    }
}

/// Returns the subject of an event that a command with this subject leads to.
fn event_subject(event: &EventDescriptor, command_subject: &str) -> String {
    match event.subject {
        None => command_subject.to_owned(),
        Some(own) => match own.strip_prefix('.') {
            Some(below) => format!("{command_subject}{below}"),
            None => own.to_owned(),
        },
    }
}

/// The subjects whose events something reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubjectScope<'a> {
    pub(crate) template: &'a str,
    /// True if the descendants belong to it.
    pub(crate) recursive: bool,
}

impl SubjectScope<'_> {
    /// Returns whether a subject of `template` can be in this scope.
    pub(crate) fn may_contain(self, template: &str) -> bool {
        let mut other = segments(template);
        let fits = segments(self.template).all(|expected| {
            other.next().is_some_and(|segment| {
                segment == expected || is_field(segment) || is_field(expected)
            })
        });
        fits && (self.recursive || other.next().is_none())
    }

    /// Returns whether both templates are equal but for the names of fields.
    pub(crate) fn has_same_shape(self, template: &str) -> bool {
        shape(self.template) == shape(template)
    }
}
