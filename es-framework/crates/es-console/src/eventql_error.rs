//! The error of an EventQL query, with the marked line of the query.

use es_eventql::{QueryError, Token};
use maud::{Markup, html};

use crate::text_view::{escape_controls, shortened};

/// The number of characters before and after the mark.
const AROUND: usize = 60;
/// The number of characters of the mark.
const MARKED: usize = 120;
/// The number of characters of the sentence.
const SENTENCE: usize = 500;

/// The line of a query with its part at fault.
#[derive(Debug, PartialEq, Eq)]
struct MarkedLine {
    before: String,
    marked: String,
    after: String,
}

impl MarkedLine {
    /// Returns the line of the first token. The mark ends with the last token, or with the line.
    fn find(query: &str, first: &Token, last: &Token) -> Option<Self> {
        let index = usize::try_from(first.line.checked_sub(1)?).ok()?;
        let line: Vec<char> = query.split('\n').nth(index)?.chars().collect();
        let column = |token: &Token| usize::try_from(token.column).unwrap_or(usize::MAX);
        let begin = column(first).saturating_sub(1).min(line.len());
        let length = last.text.chars().count();
        let last_end = if last.line == first.line {
            column(last).saturating_sub(1).saturating_add(length)
        } else {
            line.len()
        };
        let end = last_end
            .min(begin.saturating_add(MARKED))
            .min(line.len())
            .max(begin);
        let text = |from: usize, to: usize| -> String {
            line.get(from..to).unwrap_or_default().iter().collect()
        };
        Some(Self {
            before: text(begin.saturating_sub(AROUND), begin),
            marked: text(begin, end),
            after: text(end, end.saturating_add(AROUND).min(line.len())),
        })
    }

    fn render(&self) -> Markup {
        html! {
            // At the end of the query, the mark has no text.
            pre.source dir="ltr" { code {
                (escape_controls(&self.before))
                mark { @if self.marked.is_empty() { "\u{a0}" } @else { (escape_controls(&self.marked)) } }
                (escape_controls(&self.after))
            } }
        }
    }
}

/// Renders an error as a sentence with its position, and the line of the query.
pub(crate) fn render(query: &str, error: &QueryError) -> Markup {
    let tokens = error.start_token().zip(error.end_token());
    html! {
        p.bad role="alert" {
            @if let Some((first, _)) = tokens {
                strong { "Line " (first.line) ", column " (first.column) ": " }
            }
            (shortened(&error.kind().to_string(), SENTENCE))
        }
        @if let Some((first, last)) = tokens && let Some(line) = MarkedLine::find(query, first, last) {
            (line.render())
        }
    }
}

#[cfg(test)]
mod tests {
    use es_eventql::EventQlQuery;

    use super::*;

    fn marked(query: &str) -> (String, String, String) {
        let error = EventQlQuery::parse(query).unwrap_err();
        let (first, last) = (error.start_token().unwrap(), error.end_token().unwrap());
        let line = MarkedLine::find(query, first, last).unwrap();
        (line.before, line.marked, line.after)
    }

    #[test]
    fn the_mark_is_at_the_token_at_fault() {
        let text = |before: &str, marked: &str, after: &str| {
            (before.to_owned(), marked.to_owned(), after.to_owned())
        };
        assert_eq!(
            marked("FROM e IN events\nPROJECT INTO ü + 1"),
            text("PROJECT INTO ", "ü", " + 1")
        );
        assert_eq!(marked("FROM e IN events"), text("FROM e IN events", "", ""));
        let long = format!(
            "FROM e IN events WHERE {} f PROJECT INTO e",
            "e.a AND ".repeat(99)
        );
        let (before, mark, after) = marked(&long);
        assert_eq!((before.chars().count(), &*mark), (AROUND, "f"), "{after}");
        let (_, string, _) = marked("FROM e IN events WHERE e.id == 'a\nPROJECT INTO e");
        assert!(string.starts_with('\''), "{string}");
    }
}
