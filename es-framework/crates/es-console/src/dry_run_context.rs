//! The subject and the event that a command is tried after, which are part of the address.

use es_event::{EventId, InvalidEventId, InvalidSubject, Subject};

use crate::{notice::NoticePage, query_values::QueryValues};

/// The subject and the event that a command is tried after.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DryRunContext {
    /// The subject of the command.
    pub(crate) subject: Option<Subject>,
    /// The last event that the states contain. Without it, they contain all events.
    pub(crate) at: Option<EventId>,
}

impl DryRunContext {
    /// Reads the query of an address.
    pub(crate) fn parse(query: &str) -> Result<Self, NoticePage> {
        let values = QueryValues::parse(query);
        let subject = match values.value_or_empty("subject") {
            "" => None,
            subject => Some(subject.parse().map_err(|error: InvalidSubject| {
                NoticePage::invalid_input(format!("The subject is not valid: {error}."))
            })?),
        };
        let at = match values.value_or_empty("at") {
            "" => None,
            at => Some(at.parse().map_err(|error: InvalidEventId| {
                NoticePage::invalid_input(format!("The event is not valid: {error}."))
            })?),
        };
        Ok(Self { subject, at })
    }

    /// Returns the address of a page with this context.
    pub(crate) fn address(&self, path: &str) -> String {
        let subject = self.subject.as_ref();
        let subject = subject.map(|subject| ("subject", subject.to_string()));
        let at = self.at.map(|at| ("at", at.to_string()));
        let pairs: Vec<_> = subject.into_iter().chain(at).collect();
        match serde_urlencoded::to_string(pairs) {
            Ok(query) if !query.is_empty() => format!("{path}?{query}"),
            Ok(_) | Err(_) => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_the_subject_and_the_event() {
        let context = DryRunContext::parse("subject=%2Fbooks%2F42&at=7&other=1").unwrap();
        assert_eq!(
            context.address("/console/commands"),
            "/console/commands?subject=%2Fbooks%2F42&at=7"
        );
        assert_eq!(DryRunContext::parse("at=").unwrap().address("/x"), "/x");
        assert!(DryRunContext::parse("at=x").is_err());
        assert!(DryRunContext::parse("subject=books").is_err());
    }
}
