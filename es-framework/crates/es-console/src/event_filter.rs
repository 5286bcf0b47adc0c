//! The filter of the event stream, which is part of the address.

use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_read::projection::fold_text;
use jiff::Timestamp;

use crate::{
    query_values::{AddressValues, address},
    text_view::short_type,
};

/// The longest text to search for, in characters.
const TEXT_LENGTH: usize = 200;

/// The filter of the event stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventFilter {
    /// The subject of the events.
    pub(crate) subject: Option<Subject>,
    /// True if the events of the subjects below are left out.
    pub(crate) exact: bool,
    /// The type of the events.
    pub(crate) event_type: Option<EventType>,
    /// The earliest time.
    pub(crate) from: Option<Timestamp>,
    /// The latest time.
    pub(crate) to: Option<Timestamp>,
    /// A text in the data or the source, folded.
    pub(crate) text: Option<String>,
    /// The id of the trace.
    pub(crate) trace: Option<String>,
}

/// The values of the address as they were entered, and the mistakes in them.
#[derive(Debug, Default)]
pub(crate) struct ParsedFilterForm {
    values: AddressValues,
    /// The filter of all values without a mistake.
    pub(crate) filter: EventFilter,
    /// The mistakes: the name of the field, and a sentence.
    pub(crate) mistakes: Vec<(&'static str, String)>,
    /// The event before which the page ends.
    pub(crate) before: Option<EventId>,
    /// The event after which a live stream begins.
    pub(crate) after: Option<EventId>,
}

/// The fields of the filter.
const FIELDS: [&str; 7] = ["subject", "exact", "type", "from", "to", "text", "trace"];

impl ParsedFilterForm {
    /// Reads the values in the query of an address.
    pub(crate) fn new(values: AddressValues, event_types: &[&str]) -> Self {
        let mut input = Self {
            values,
            ..Self::default()
        };
        input.before = input.values.parsed("before");
        input.after = input.values.parsed("after");
        input.read_subject();
        input.read_type(event_types);
        input.filter.from = input.read_time("from");
        input.filter.to = input.read_time("to");
        input.read_text();
        input.read_trace();
        input
    }

    /// Returns the entered value of a field.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.values.value_or_empty(name)
    }

    /// Returns the mistake of a field.
    pub(crate) fn mistake(&self, name: &str) -> Option<&str> {
        let found = self.mistakes.iter().find(|(field, _)| *field == name);
        found.map(|(_, sentence)| sentence.as_str())
    }

    /// Returns true if the filter selects a part of the events.
    pub(crate) fn is_active(&self) -> bool {
        FIELDS.iter().any(|name| !self.value(name).is_empty())
    }

    /// Returns the address of the same filter with another parameter.
    pub(crate) fn address(&self, path: &str, parameter: Option<(&str, String)>) -> String {
        let fields = FIELDS.iter().map(|name| (*name, self.value(name)));
        let filled = fields.filter(|(_, value)| !value.is_empty());
        let added = parameter.as_ref().into_iter();
        let extra = added.map(|(name, value)| (*name, value.as_str()));
        let values: Vec<_> = filled.chain(extra).collect();
        address(path, &values)
    }

    fn reject(&mut self, field: &'static str, sentence: impl Into<String>) {
        self.mistakes.push((field, sentence.into()));
    }

    fn read_subject(&mut self) {
        self.filter.exact = !self.value("exact").is_empty();
        if self.value("subject").is_empty() {
            return;
        }
        match self.value("subject").parse() {
            Ok(subject) => self.filter.subject = Some(subject),
            Err(_) => self.reject(
                "subject",
                "A subject starts with / and has only ASCII letters, digits, - and _ between slashes.",
            ),
        }
    }

    /// Reads the type. The last segment of a declared type is enough.
    fn read_type(&mut self, event_types: &[&str]) {
        let value = self.value("type");
        if value.is_empty() {
            return;
        }
        let declared = event_types.iter().find(|one| short_type(one) == value);
        match declared.unwrap_or(&value).parse() {
            Ok(event_type) => self.filter.event_type = Some(event_type),
            Err(_) => self.reject(
                "type",
                "No declared event has this name. Enter the whole type.",
            ),
        }
    }

    /// Reads a time. A browser sends it without a zone and sometimes without seconds.
    fn read_time(&mut self, field: &'static str) -> Option<Timestamp> {
        let value = self.value(field);
        if value.is_empty() {
            return None;
        }
        let candidates = [
            value.to_owned(),
            format!("{value}Z"),
            format!("{value}:00Z"),
            format!("{value}T00:00:00Z"),
        ];
        let time = candidates.iter().find_map(|text| text.parse().ok());
        if time.is_none() {
            self.reject(field, "Enter a time such as 2026-07-01T12:00.");
        }
        time
    }

    fn read_text(&mut self) {
        let text = self.value("text");
        match text.chars().count() {
            0 => {}
            1..=TEXT_LENGTH => self.filter.text = Some(fold_text(text)),
            _ => self.reject("text", format!("Enter at most {TEXT_LENGTH} characters.")),
        }
    }

    fn read_trace(&mut self) {
        let trace = self.value("trace").to_lowercase();
        let is_id = trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id {
            self.filter.trace = Some(trace);
        } else if !trace.is_empty() {
            self.reject("trace", "A trace id has 32 hexadecimal digits.");
        }
    }
}

impl EventFilter {
    /// Returns true for an event that the filter selects. The store has checked subject and type already.
    pub(crate) fn matches_event(&self, event: &RecordedEvent) -> bool {
        self.matches_time(event) && self.matches_trace(event) && self.matches_text(event)
    }

    fn matches_time(&self, event: &RecordedEvent) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        event.time.timestamp().is_ok_and(|time| {
            self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to)
        })
    }

    fn matches_trace(&self, event: &RecordedEvent) -> bool {
        self.trace.as_deref().is_none_or(|wanted| {
            let trace = event.trace.as_ref();
            trace.and_then(|trace| trace.id()) == Some(wanted)
        })
    }

    fn matches_text(&self, event: &RecordedEvent) -> bool {
        self.text.as_deref().is_none_or(|wanted| {
            fold_text(event.data.get()).contains(wanted)
                || fold_text(&event.source).contains(wanted)
        })
    }

    /// Returns true if the store alone cannot find the events, so that the number of events that a page reads
    /// has to be limited.
    pub(crate) const fn needs_search(&self) -> bool {
        self.text.is_some() || self.trace.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [&str; 1] = ["com.example.library.BookPurchasedEvent"];

    fn parse(query: &str) -> ParsedFilterForm {
        ParsedFilterForm::new(AddressValues::parse(query), &TYPES)
    }

    #[test]
    fn a_filter_is_read_from_the_address_and_written_back() {
        let query = "subject=%2Fbooks&type=BookPurchasedEvent&from=2026-07-01T12%3A00&text=%C3%9Cber+uns&before=7";
        let input = parse(query);
        assert!(input.mistakes.is_empty(), "{:?}", input.mistakes);
        assert_eq!(input.filter.subject, Some("/books".parse().unwrap()));
        assert_eq!(input.filter.event_type.as_ref().unwrap().as_str(), TYPES[0]);
        assert_eq!(
            input.filter.from,
            Some("2026-07-01T12:00:00Z".parse().unwrap())
        );
        assert_eq!(input.filter.text.as_deref(), Some("über uns"));
        assert_eq!(input.before, EventId::new(7));
        let next = input.address("/console", Some(("before", "3".to_owned())));
        let again = parse(next.split_once('?').unwrap().1);
        assert_eq!(again.filter, input.filter);
        assert_eq!(again.before, EventId::new(3));
        assert_eq!(parse("").address("/console", None), "/console");
    }

    #[test]
    fn a_mistake_is_told_at_its_field() {
        for (query, field) in [
            ("subject=books", "subject"),
            ("type=Nothing", "type"),
            ("from=yesterday", "from"),
            ("to=1", "to"),
            ("trace=xyz", "trace"),
        ] {
            let input = parse(query);
            assert!(input.mistake(field).is_some(), "{query}");
            assert_eq!(input.filter, EventFilter::default());
        }
        let long = format!("text={}", "x".repeat(201));
        assert!(parse(&long).mistake("text").is_some());
    }
}
