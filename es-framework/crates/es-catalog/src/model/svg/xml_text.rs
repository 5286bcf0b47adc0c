//! Texts in XML.

use std::borrow::Cow;

/// Escapes a text for element content and for attributes. XML has no control characters, so they are
/// replaced.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let is_special =
        |character: char| matches!(character, '<' | '>' | '&' | '"' | '\'') || !is_xml(character);
    if !text.contains(is_special) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other if is_xml(other) => escaped.push(other),
            _ => escaped.push('\u{fffd}'),
        }
    }
    escaped.into()
}

/// Returns whether XML 1.0 allows a character.
const fn is_xml(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= ' ' && other != '\u{7f}',
    }
}
