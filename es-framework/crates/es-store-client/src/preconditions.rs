//! Preconditions as JSON, in both versions of the API.

use serde_json::{Value, json};

use es_event::{EventId, Subject};
use es_store::Precondition;

/// Encodes a precondition for version 1. Version 1 has no precondition on a subtree or on the whole store,
/// so a precondition on the result of an EventQL query takes its place.
pub(super) fn encode_v1(condition: &Precondition) -> Vec<Value> {
    let subject = condition.subject();
    match condition {
        Precondition::SubjectIsPristine(_) => {
            vec![json!({"type": "isSubjectPristine", "payload": {"subject": subject}})]
        }
        Precondition::SubjectIsPopulated(_) => {
            vec![json!({"type": "isSubjectPopulated", "payload": {"subject": subject}})]
        }
        Precondition::SubjectIsOnEventId(_, id) => {
            let payload = json!({"subject": subject, "eventId": id});
            vec![json!({"type": "isSubjectOnEventId", "payload": payload})]
        }
        Precondition::SubtreeIsPristine(subject) => vec![count_below(subject, "", "== 0")],
        Precondition::SubtreeIsPopulated(subject) => vec![count_below(subject, "", "> 0")],
        Precondition::SubtreeIsOnEventId(subject, id) => vec![
            count_below(subject, &format!("e.id AS INT > {id} AND "), "== 0"),
            count_below(subject, &format!("e.id AS INT == {id} AND "), "== 1"),
        ],
        // Ids have no gaps, so the number of events determines the last id.
        Precondition::StoreIsOnEventId(id) => {
            let count = EventId::count_to(*id);
            let query = format!("FROM e IN events PROJECT INTO COUNT() == {count}");
            vec![json!({"type": "isEventQlQueryTrue", "payload": {"query": query}})]
        }
    }
}

/// Returns a precondition on the number of events at and below a subject.
fn count_below(subject: &Subject, filter: &str, comparison: &str) -> Value {
    let base = subject.as_str().trim_end_matches('/');
    let query = format!(
        "FROM e IN events \
         WHERE {filter}(e.subject == '{base}' OR STARTSWITH(e.subject, '{base}/')) \
         PROJECT INTO COUNT() {comparison}"
    );
    json!({"type": "isEventQlQueryTrue", "payload": {"query": query}})
}

/// Encodes a precondition for version 2.
pub(super) fn encode_v2(condition: &Precondition) -> Vec<Value> {
    let recursive = json!({"recursive": true});
    vec![match condition {
        Precondition::SubjectIsPristine(_)
        | Precondition::SubjectIsPopulated(_)
        | Precondition::SubjectIsOnEventId(..) => return encode_v1(condition),
        Precondition::SubtreeIsPristine(subject) => {
            let payload = json!({"subject": subject, "options": recursive});
            json!({"type": "isSubjectPristine", "payload": payload})
        }
        Precondition::SubtreeIsPopulated(subject) => {
            let payload = json!({"subject": subject, "options": recursive});
            json!({"type": "isSubjectPopulated", "payload": payload})
        }
        Precondition::SubtreeIsOnEventId(subject, id) => {
            let payload = json!({"subject": subject, "eventId": id, "options": recursive});
            json!({"type": "isSubjectOnEventId", "payload": payload})
        }
        // All events are on the root or below it.
        Precondition::StoreIsOnEventId(None) => {
            return encode_v2(&Precondition::SubtreeIsPristine(Subject::root()));
        }
        Precondition::StoreIsOnEventId(Some(id)) => {
            return encode_v2(&Precondition::SubtreeIsOnEventId(Subject::root(), *id));
        }
    }]
}
