//! Refuses texts that a database cannot store.

use serde_json::Value;

use super::{CommandError, CommandRequest};
use crate::validate::Violations;

/// The escape of the NUL character in JSON, which has no other form there.
const ESCAPE: &[u8] = br"\u0000";
const MESSAGE: &str = "must not contain the character U+0000";

/// Refuses the character U+0000 in each text and each name of a member. PostgreSQL stores no text with
/// it, so the rows of a read model could not follow from the events.
pub(super) fn check_texts(request: &CommandRequest<'_>) -> Result<(), CommandError> {
    let mut violations = Violations::default();
    for (name, value) in request.path_parameters {
        check_text(name, value, &mut violations);
    }
    if request
        .body
        .windows(ESCAPE.len())
        .any(|part| part == ESCAPE)
        && let Ok(body) = serde_json::from_slice(request.body)
    {
        check_value(&body, &mut violations);
    }
    CommandError::refuse_violations(violations)
}

fn check_text(name: &str, text: &str, violations: &mut Violations) {
    if text.contains('\0') {
        violations.check(name, Err(MESSAGE.to_owned()));
    }
}

fn check_value(value: &Value, violations: &mut Violations) {
    match value {
        Value::String(text) if text.contains('\0') => violations.add(Err(MESSAGE.to_owned())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                violations.check_member(&index.to_string(), |inner| check_value(item, inner));
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                violations.check_member(name, |inner| {
                    if name.contains('\0') {
                        inner.add(Err(format!("the name of a member {MESSAGE}")));
                    }
                    check_value(member, inner);
                });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::CommandContext;

    fn pointers(body: &str, path_parameters: &[(&str, &str)]) -> Vec<String> {
        let request = CommandRequest {
            body: body.as_bytes(),
            path_parameters,
            context: &CommandContext::default(),
        };
        match check_texts(&request) {
            Ok(()) => Vec::new(),
            Err(CommandError::Invalid(violations)) => violations
                .into_iter()
                .map(|violation| {
                    assert!(violation.message.contains("U+0000"), "{violation:?}");
                    violation.pointer
                })
                .collect(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn the_nul_character_is_refused_in_each_text_with_its_place() {
        let body = r#"{"title":"a\u0000","tags":["x",{"y":"\u0000"}],"note":"\\u0000"}"#;
        let mut found = pointers(body, &[("id", "4\u{0}2")]);
        found.sort();
        assert_eq!(found, ["/id", "/tags/1/y", "/title"]);
        assert_eq!(pointers(r#"{"\u0000":1}"#, &[]), ["/\u{0}"]);
    }

    #[test]
    fn other_characters_are_accepted() {
        let body = r#"{"title":"\u0001\u0010\\u0000 \ud83d\ude00"}"#;
        assert!(pointers(body, &[("id", "42")]).is_empty());
        assert!(pointers("no JSON \\u0000", &[]).is_empty());
    }
}
