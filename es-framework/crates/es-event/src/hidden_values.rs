//! Texts about events with personal data, such as an error that quotes a value. They go into logs, health checks and
//! pages, which no erasure reaches.

use std::collections::HashSet;

use serde_json::Value;
use uuid::Uuid;

use super::{BrokenChain, RecordedEvent};

/// Stands for a word of a value.
const HIDDEN: &str = "…";

impl RecordedEvent {
    /// Replaces each word of a text that is a word of a value in the event, if sealed values of the event were opened.
    /// Ids stay.
    #[doc(hidden)]
    #[must_use]
    pub fn hide_values(&self, text: String) -> String {
        if !self.has_opened_values() {
            return text;
        }
        let mut words = HashSet::new();
        let data: Value = serde_json::from_str(self.data.get()).unwrap_or_default();
        collect_words(&data, &mut words);
        replace_words(&text, &words)
    }

    /// Returns true if the data is another one than that which the event store recorded: sealed values were opened.
    fn has_opened_values(&self) -> bool {
        let verified = self.verify(self.predecessor_hash);
        matches!(verified, Err(BrokenChain::Hash { .. }))
    }
}

fn collect_words(value: &Value, words: &mut HashSet<String>) {
    match value {
        Value::String(text) if text.parse::<Uuid>().is_err() => {
            words.extend(words_of(text).map(str::to_lowercase));
        }
        Value::Number(number) => words.extend(words_of(&number.to_string()).map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        Value::Object(members) => members.values().for_each(|item| collect_words(item, words)),
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

fn replace_words(text: &str, hidden: &HashSet<String>) -> String {
    let mut replaced = String::with_capacity(text.len());
    // Each part is a word and the sign behind it.
    for part in text.split_inclusive(|character: char| !character.is_alphanumeric()) {
        let word = part.trim_end_matches(|character: char| !character.is_alphanumeric());
        let sign = part.strip_prefix(word).unwrap_or_default();
        let is_hidden = !word.is_empty() && hidden.contains(&word.to_lowercase());
        replaced.push_str(if is_hidden { HIDDEN } else { word });
        replaced.push_str(sign);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventCandidate, EventId, EventTime, EventType, Hash, PoisonEvent};

    const ID: &str = "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55";

    fn event(name: &str) -> RecordedEvent {
        let data = format!(r#"{{"payload":{{"id":"{ID}","name":{name},"age":77}}}}"#);
        let candidate = EventCandidate {
            source: "test".into(),
            subject: "/readers/1".parse().unwrap(),
            event_type: EventType::declared("com.example.ReaderRegisteredEvent"),
            data: serde_json::value::RawValue::from_string(data).unwrap(),
            trace: None,
        };
        RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO)
    }

    /// Returns an event whose sealed values were opened: its hash covers the sealed form.
    fn opened(name: &str) -> RecordedEvent {
        RecordedEvent {
            hash: event(r#"{"$sealed":{}}"#).hash,
            ..event(name)
        }
    }

    #[test]
    fn a_text_about_an_opened_event_quotes_no_value() {
        let opened = opened(r#""Ada \"Zoë\" Lovelace""#);
        for (text, hidden) in [
            (
                r#"invalid type: string "Ada \"Zoë\" Lovelace", expected u32 at line 1"#,
                r#"invalid type: string "… \"…\" …", expected u32 at line 1"#,
            ),
            (
                "Key (name)=(ADA lovelace) exists",
                "Key (name)=(… …) exists",
            ),
            ("no reader Lovelace", "no reader …"),
            ("77 years are too many", "… years are too many"),
            (ID, ID),
            ("connection refused", "connection refused"),
        ] {
            assert_eq!(opened.hide_values(text.to_owned()), hidden);
            assert_eq!(event("\"Ada\"").hide_values(text.to_owned()), text);
        }
    }

    #[test]
    fn neither_a_poison_event_nor_a_decode_error_quotes_a_value() {
        #[derive(Debug, serde::Deserialize)]
        struct RegisteredReader {
            #[expect(dead_code, reason = "nothing reads it")]
            name: u32,
        }
        let opened = opened("\"Lovelace\"");
        let error = opened.payload::<RegisteredReader>().unwrap_err();
        let poison = PoisonEvent::new(&opened, "panicked: no Lovelace");
        for text in [error.to_string(), format!("{error:?}"), poison.to_string()] {
            assert!(!text.contains("Lovelace"), "{text}");
        }
        let plain = event("\"Lovelace\"").payload::<RegisteredReader>();
        assert!(plain.unwrap_err().to_string().contains("Lovelace"));
    }
}
