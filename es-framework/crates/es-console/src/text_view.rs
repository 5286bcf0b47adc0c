//! Texts of events as HTML. Nothing in a text can become markup, hide, or change the direction of the page.

use std::fmt::Write as _;

use maud::{Markup, html};

/// Returns a text in which control characters, invisible characters and marks that change the direction of writing
/// are visible as escapes. Line breaks stay.
pub(crate) fn escape_controls(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if needs_escape(character) {
            let _ = write!(visible, "\\u{{{:x}}}", u32::from(character));
        } else {
            visible.push(character);
        }
    }
    visible
}

/// Returns true for characters that nobody sees, or that reorder the text around them: control and format
/// characters, and those that Unicode calls `Default_Ignorable_Code_Point`, without the two selectors of the
/// presentation of emoji.
const fn needs_escape(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
            | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Splits a text after its first `most` characters.
pub(crate) fn split_after(text: &str, most: usize) -> (&str, Option<&str>) {
    match text.char_indices().nth(most) {
        None => (text, None),
        Some((index, _)) => {
            let (head, rest) = text.split_at_checked(index).unwrap_or((text, ""));
            (head, Some(rest))
        }
    }
}

/// Renders a text, isolated from the direction of the text around it.
pub(crate) fn isolated(text: &str) -> Markup {
    html! { bdi { (escape_controls(text)) } }
}

/// Renders the beginning of a text, and a note if that is not all of it.
pub(crate) fn shortened(text: &str, most: usize) -> Markup {
    let (head, rest) = split_after(text, most);
    html! {
        bdi { (escape_controls(head)) }
        @if rest.is_some() { span.cut { "… " (size_text(text.len())) } }
    }
}

/// Returns true for a text in the form of a UUID.
fn is_uuid(text: &str) -> bool {
    let is_separator = |index| matches!(index, 8 | 13 | 18 | 23);
    let mut bytes = text.bytes().enumerate();
    text.len() == 36
        && bytes.all(|(index, byte)| {
            if is_separator(index) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// Returns the end of a UUID. Those of version 7 from one day share their beginning, which is the time.
fn uuid_end(uuid: &str) -> &str {
    split_after(uuid, 28).1.unwrap_or(uuid)
}

/// Renders a value in a list: the end of a UUID, or the beginning of a long text.
pub(crate) fn brief(text: &str, most: usize) -> Markup {
    if is_uuid(text) {
        html! { span title=(text) { "…" (uuid_end(text)) } }
    } else {
        shortened(text, most)
    }
}

/// Renders a subject in a list, with short UUIDs.
pub(crate) fn brief_subject(subject: &str) -> Markup {
    html! {
        bdi title=(subject) {
            @for (index, segment) in subject.split('/').enumerate() {
                @if index > 0 { "/" }
                @if is_uuid(segment) { "…" (uuid_end(segment)) } @else { (segment) }
            }
        }
    }
}

/// Returns a number of bytes for people.
pub(crate) fn size_text(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// Returns a number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len().saturating_mul(2));
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len().saturating_sub(index);
        if index > 0 && left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of things, such as `1 event` or `1,000 events`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", grouped(number)),
    }
}

/// Returns the last segment of an event type, without a version.
pub(crate) fn short_type(event_type: &str) -> &str {
    let is_version = |segment: &str| {
        segment
            .strip_prefix('v')
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match event_type.rsplit_once('.') {
        Some((head, last)) if is_version(last) => head.rsplit('.').next().unwrap_or(head),
        Some((_, last)) => last,
        None => event_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_visible() {
        assert_eq!(
            escape_controls("a\0b\u{202e}c\u{7f}"),
            "a\\u{0}b\\u{202e}c\\u{7f}"
        );
        assert_eq!(
            escape_controls("a\u{200b}b\u{ad}c\u{2060}d\u{3164}e\u{e0041}f"),
            "a\\u{200b}b\\u{ad}c\\u{2060}d\\u{3164}e\\u{e0041}f"
        );
        assert_eq!(
            escape_controls("line\nbreak, ü, 本, שלום"),
            "line\nbreak, ü, 本, שלום"
        );
    }

    #[test]
    fn a_long_text_is_cut_with_a_note() {
        let text = "ü".repeat(1_000_000);
        let shown = shortened(&text, 10).into_string();
        assert_eq!(
            shown,
            format!(
                "<bdi>{}</bdi><span class=\"cut\">… 2 MB</span>",
                "ü".repeat(10)
            )
        );
        assert_eq!(shortened("<b>", 3).into_string(), "<bdi>&lt;b&gt;</bdi>");
    }

    #[test]
    fn ids_are_short_in_lists() {
        let id = "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11";
        let shown = brief(id, 48).into_string();
        assert_eq!(shown, format!("<span title=\"{id}\">…7a0d2c11</span>"));
        let shown = brief_subject(&format!("/books/{id}/pages/1")).into_string();
        assert!(
            shown.ends_with(">/books/…7a0d2c11/pages/1</bdi>"),
            "{shown}"
        );
        assert_eq!(brief("5f0c8b1e", 48).into_string(), "<bdi>5f0c8b1e</bdi>");
    }

    #[test]
    fn ids_of_one_day_differ_in_lists() {
        let [one, other] = ["3f4b7a0d2c11", "b07c1e5a9d42"]
            .map(|end| brief(&format!("019a1b2c-0000-7000-8000-{end}"), 48).into_string());
        let shown = |markup: &str| markup.rsplit('>').nth(1).map(str::to_owned);
        assert_ne!(shown(&one), shown(&other));
    }

    #[test]
    fn numbers_and_types_are_short() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [counted(0, "event"), counted(1, "event")],
            ["0 events", "1 event"]
        );
        assert_eq!(
            short_type("com.example.library.BookPurchasedEvent"),
            "BookPurchasedEvent"
        );
        assert_eq!(
            short_type("com.example.library.CopyPricedEvent.v2"),
            "CopyPricedEvent"
        );
    }
}
