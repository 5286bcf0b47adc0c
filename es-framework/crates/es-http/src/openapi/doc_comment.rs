//! A doc comment: sentences, and examples in separate paragraphs.

use serde_json::Value;

const OPENING: &str = "Example:";

/// A doc comment, split into its sentences and its examples.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DocComment {
    sentences: String,
    pub(super) examples: Vec<Value>,
}

impl DocComment {
    /// Parses a doc comment. Paragraphs such as ``Example: `{"id": 7}` `` become examples. An example
    /// that is not JSON is a string.
    pub(super) fn parse(text: &str) -> Self {
        let mut sentences = Vec::new();
        let mut examples = Vec::new();
        for paragraph in text.split("\n\n").map(str::trim) {
            match paragraph.strip_prefix(OPENING) {
                Some(example) => examples.push(read_example(example)),
                None => sentences.push(paragraph),
            }
        }
        let sentences = sentences.join("\n\n").trim().to_owned();
        Self {
            sentences,
            examples,
        }
    }

    /// Returns the text without the examples.
    pub(super) fn text_without_examples(&self) -> &str {
        &self.sentences
    }

    /// Returns the text after the first paragraph.
    pub(super) fn text_after_summary(&self) -> &str {
        let rest = self.sentences.split_once("\n\n");
        rest.map_or("", |(_, rest)| rest.trim())
    }
}

fn read_example(text: &str) -> Value {
    let text = text.trim().trim_matches('`').replace('\n', " ");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn examples_are_taken_out() {
        let text = DocComment::parse(
            "Plants\na tree.\n\nOne a year.\n\nExample: `{\"id\": 1,\n\"age\": 2}`",
        );
        assert_eq!(text.examples, [json!({ "id": 1, "age": 2 })]);
        assert_eq!(
            text.text_without_examples(),
            "Plants\na tree.\n\nOne a year."
        );
        assert_eq!(text.text_after_summary(), "One a year.");
    }

    #[test]
    fn what_is_no_json_is_an_example_of_a_text() {
        let text = DocComment::parse("The kind.\n\nExample: `Quercus robur`");
        assert_eq!(
            (text.text_without_examples(), text.text_after_summary()),
            ("The kind.", "")
        );
        assert_eq!(text.examples, ["Quercus robur"]);
        assert_eq!(DocComment::parse(""), DocComment::default());
    }
}
