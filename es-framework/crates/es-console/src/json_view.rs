//! JSON as coloured text. The text is read token by token, so that the order of its members and the escapes
//! of its strings stay as the store has them.

use es_event::json_numbers::string_length;
use maud::{Markup, PreEscaped, html};

use crate::text_view::{brief, escape_controls, shortened, size_text, split_after};

/// The longest text that a page shows, in bytes. A browser is slow with more elements.
const SHOWN: usize = 100_000;
/// The longest string in the short form, in characters.
const SHORT_STRING: usize = 48;

/// A part of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonToken<'a> {
    /// The name of a member, with its quotation marks.
    Name(&'a str),
    /// A string, with its quotation marks.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Word(&'a str),
    /// A bracket, a comma or a colon.
    Mark(char),
}

impl<'a> JsonToken<'a> {
    /// Returns the number of bytes of the token.
    const fn length(self) -> usize {
        match self {
            Self::Name(text) | Self::Text(text) | Self::Word(text) => text.len(),
            Self::Mark(_) => 1,
        }
    }

    /// Returns the token without what follows its first `most` bytes.
    fn cut(self, most: usize) -> Self {
        let head = |text: &'a str| match text.split_at_checked(text.floor_char_boundary(most)) {
            Some((head, _)) => head,
            None => text,
        };
        match self {
            Self::Name(text) => Self::Name(head(text)),
            Self::Text(text) => Self::Text(head(text)),
            Self::Word(text) => Self::Word(head(text)),
            Self::Mark(mark) => Self::Mark(mark),
        }
    }
}

/// Splits a JSON text into its tokens.
struct JsonTokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for JsonTokens<'a> {
    type Item = JsonToken<'a>;

    fn next(&mut self) -> Option<JsonToken<'a>> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let length = match first {
            '"' => string_length(self.rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => word_length(self.rest),
        };
        let (token, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(match first {
            '"' if rest.trim_start().starts_with(':') => JsonToken::Name(token),
            '"' => JsonToken::Text(token),
            '{' | '}' | '[' | ']' | ',' | ':' => JsonToken::Mark(first),
            _ => JsonToken::Word(token),
        })
    }
}

/// Returns the length of the word at the beginning, which is at least one character.
fn word_length(text: &str) -> usize {
    let end = text
        .char_indices()
        .skip(1)
        .find(|(_, one)| one.is_whitespace() || "{}[],:\"".contains(*one));
    end.map_or(text.len(), |(index, _)| index)
}

/// Renders JSON with one member a line, and a note if that is not all of it.
pub(crate) fn pretty(json: &str) -> Markup {
    let mut page = String::new();
    let mut left = SHOWN;
    let mut depth = 0_usize;
    let mut tokens = JsonTokens { rest: json }.peekable();
    while left > 0
        && let Some(token) = tokens.next()
    {
        let token = token.cut(left);
        left = left.saturating_sub(token.length());
        match token {
            JsonToken::Mark(opening @ ('{' | '[')) => {
                page.push(opening);
                if matches!(tokens.peek(), Some(JsonToken::Mark('}' | ']'))) {
                    continue;
                }
                depth = depth.saturating_add(1);
                break_line(&mut page, depth);
            }
            JsonToken::Mark(closing @ ('}' | ']')) => {
                if !page.ends_with(['{', '[']) {
                    depth = depth.saturating_sub(1);
                    break_line(&mut page, depth);
                }
                page.push(closing);
            }
            JsonToken::Mark(',') => {
                page.push(',');
                break_line(&mut page, depth);
            }
            JsonToken::Mark(mark) => {
                page.push(mark);
                page.push(' ');
            }
            value => push_value(&mut page, value),
        }
    }
    html! {
        pre tabindex="0" dir="ltr" { code { (PreEscaped(page)) } }
        @if is_too_long(json) {
            p.missed { "These are the first " (size_text(SHOWN)) " of " (size_text(json.len())) "." }
        }
    }
}

/// Returns true if a page shows only the beginning of this JSON.
pub(crate) const fn is_too_long(json: &str) -> bool {
    json.len() > SHOWN
}

fn break_line(page: &mut String, depth: usize) {
    page.push('\n');
    // A text that nests deeper is not readable anyway.
    page.push_str(&"  ".repeat(depth.min(40)));
}

fn push_value(page: &mut String, token: JsonToken<'_>) {
    let (class, text) = match token {
        JsonToken::Name(text) => ("json-name", text),
        JsonToken::Text(text) => ("json-text", text),
        JsonToken::Word(text) => ("json-word", text),
        JsonToken::Mark(_) => return,
    };
    let markup = html! { bdi class=(class) { (escape_controls(text)) } };
    page.push_str(&markup.into_string());
}

/// Renders the beginning of a JSON object in one line: names and values, without brackets around them.
pub(crate) fn short(json: &str, most: usize) -> Markup {
    let mut left = most;
    let mut depth = 0_usize;
    let tokens = JsonTokens { rest: json };
    html! {
        @for token in tokens.take_while(|_| {
            let has_room = left > 0;
            left = left.saturating_sub(1);
            has_room
        }) {
            @match token {
                JsonToken::Name(name) => span.name { (shortened(unquoted(name), SHORT_STRING)) " " },
                JsonToken::Text(text) => span.value { (brief(unquoted(text), SHORT_STRING)) },
                JsonToken::Word(word) => span.value { (shortened(word, SHORT_STRING)) },
                JsonToken::Mark(mark) => (mark_text(mark, &mut depth)),
            }
        }
        @if is_too_long(json) { span.cut { " … " (size_text(json.len())) } }
    }
}

/// Returns a mark in the short form. The outermost brackets are left out.
fn mark_text(mark: char, depth: &mut usize) -> Markup {
    let is_shown = match mark {
        '{' | '[' => {
            *depth = depth.saturating_add(1);
            *depth > 1
        }
        '}' | ']' => {
            *depth = depth.saturating_sub(1);
            *depth > 0
        }
        _ => false,
    };
    html! {
        @if mark == ',' { span.gap { " · " } }
        @else if is_shown { span.gap { (mark) } }
    }
}

/// Returns a string without its quotation marks.
fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('"').unwrap_or(text);
    inner.strip_suffix('"').unwrap_or(inner)
}

/// Renders one value of a state: its beginning, without quotation marks around a string.
pub(crate) fn leaf(json: &str, most: usize) -> Markup {
    let (head, rest) = split_after(unquoted(json), most);
    html! {
        bdi { (escape_controls(head)) }
        @if rest.is_some() { span.cut { "… " (size_text(json.len())) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that a reader sees.
    fn text_of(markup: Markup) -> String {
        let mut text = String::new();
        let mut is_tag = false;
        for character in markup.into_string().chars() {
            match character {
                '<' => is_tag = true,
                '>' => is_tag = false,
                one if !is_tag => text.push(one),
                _ => {}
            }
        }
        text
    }

    #[test]
    fn members_keep_their_order_and_their_escapes() {
        let json = r#"{"b":[1,2],"a":{"text":"x\u0000\"y"},"empty":{},"none":[]}"#;
        let expected = "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {\n    \"text\": \"x\\u0000\\\"y\"\n  },\n  \"empty\": {},\n  \"none\": []\n}";
        assert_eq!(text_of(pretty(json)).replace("&quot;", "\""), expected);
    }

    #[test]
    fn markup_in_a_value_stays_text() {
        let json = r#"{"<b>":"<script>alert(1)</script>"}"#;
        for shown in [pretty(json), short(json, 20), leaf(json, 100)] {
            let shown = shown.into_string();
            assert!(
                !shown.contains("<script") && !shown.contains("<b>"),
                "{shown}"
            );
        }
    }

    #[test]
    fn the_short_form_has_a_limit() {
        let json = format!(
            "{{\"title\":\"{}\",\"list\":[{}0]}}",
            "x".repeat(1_000_000),
            "0,".repeat(100_000)
        );
        let shown = short(&json, 40).into_string();
        assert!(shown.len() < 4_000, "{}", shown.len());
        assert!(shown.contains("… 1 MB"), "{shown}");
    }

    #[test]
    fn a_long_text_is_shown_in_part() {
        let long = format!("{{\"a\":\"{}\"}}", "\u{fc}".repeat(4_000_000));
        let many = format!("[{}0]", "0,".repeat(4_000_000));
        for json in [long, many] {
            let shown = pretty(&json).into_string();
            assert!(shown.len() < 3_000_000, "{}", shown.len());
            assert!(shown.contains("the first 100 kB of 8 MB"), "{}", json.len());
        }
        let whole = pretty(&format!("[{}0]", "0,".repeat(40_000))).into_string();
        assert!(!whole.contains("the first"));
    }

    #[test]
    fn no_text_makes_the_tokens_endless() {
        for text in [
            "",
            "\"",
            "\"a\\",
            "{\"a\"",
            "]]]]",
            "ü",
            "nul",
            "{\"a\":tru",
            "\u{202e}",
        ] {
            assert!(JsonTokens { rest: text }.count() <= text.len(), "{text}");
            let _ = pretty(text);
        }
    }
}
