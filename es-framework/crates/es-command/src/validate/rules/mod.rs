//! The rules of `#[validate(…)]`. Each of the framework's rules checks a value and accepts an absent value.

mod regex_pattern;
mod value_kinds;

use std::fmt::Display;

pub use regex_pattern::Pattern;
pub use value_kinds::{Items, Number, Text};

/// The maximum length of a [`url`] in characters.
///
/// ```
/// use es_framework::validate::rules::{LONGEST_URL, url};
///
/// let long = format!("https://example.com/{}", "a".repeat(LONGEST_URL));
/// assert!(url(&long).is_err());
/// ```
pub const LONGEST_URL: usize = 2_000;

/// A character that people can see by itself. Besides white space, Unicode has characters without a glyph, such as the
/// zero-width space, and combining marks. U+2800 is the empty Braille pattern, which Unicode counts as a symbol.
static VISIBLE: Pattern =
    Pattern::new(r"[^\s\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u{2800}]");

/// Requires a text that has a visible character, has a length within the bounds and contains no control
/// characters.
///
/// ```
/// use es_framework::validate::rules::text;
///
/// assert_eq!(text(&"The Ring".to_owned(), 1, 500), Ok(()));
/// assert_eq!(text(&" ".to_owned(), 1, 500), Err("must not be blank".into()));
/// assert_eq!(text(&"\u{200b}".to_owned(), 1, 500), Err("must not be blank".into()));
/// assert_eq!(text(&None::<String>, 1, 500), Ok(()));
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn text(value: &impl Text, min: usize, max: usize) -> Result<(), String> {
    let Some(text) = value.text() else {
        return Ok(());
    };
    let length = text.chars().count();
    if !VISIBLE.matches(text) {
        return Err("must not be blank".into());
    }
    if length < min {
        return Err(format!("must have at least {min} characters, not {length}"));
    }
    if length > max {
        return Err(format!("must have at most {max} characters, not {length}"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not hold control characters such as line breaks".into());
    }
    Ok(())
}

/// Requires a text that consists of these characters.
///
/// ```
/// use es_framework::validate::rules::characters;
///
/// assert!(characters(&"978-3".to_owned(), "0123456789-").is_ok());
/// assert!(characters(&"978 3".to_owned(), "0123456789-").is_err());
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn characters(value: &impl Text, allowed: &str) -> Result<(), String> {
    let foreign = value
        .text()
        .and_then(|text| text.chars().find(|one| !allowed.contains(*one)));
    match foreign {
        None => Ok(()),
        Some(foreign) => Err(format!(
            "must hold only the characters {allowed:?}, not {foreign:?}"
        )),
    }
}

/// Requires a text that matches the pattern.
///
/// ```
/// use es_framework::validate::rules::{Pattern, pattern};
///
/// static ISBN: Pattern = Pattern::new("^[0-9]{13}$");
/// assert!(pattern(&"9780261103573".to_owned(), &ISBN).is_ok());
/// assert!(pattern(&"97802611".to_owned(), &ISBN).is_err());
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn pattern(value: &impl Text, pattern: &Pattern) -> Result<(), String> {
    match value.text() {
        Some(text) if !pattern.matches(text) => Err(format!("must match {pattern}")),
        _ => Ok(()),
    }
}

/// Requires an e-mail address according to the HTML standard. The rule does not check that the
/// address exists.
///
/// ```
/// use es_framework::validate::rules::email;
///
/// assert!(email(&"reader@example.com".to_owned()).is_ok());
/// assert!(email(&"reader".to_owned()).is_err());
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn email(value: &impl Text) -> Result<(), String> {
    let Some(text) = value.text() else {
        return Ok(());
    };
    let wrong =
        |why: &dyn Display| format!("must be an e-mail address such as reader@example.com: {why}");
    garde::rules::email::parse_email(text).map_err(|error| wrong(&error))?;
    // RFC 5321 has addresses of hosts without a name, such as `a@[192.0.2.1]`. Browsers refuse them.
    if text.ends_with(']') {
        return Err(wrong(&"value has no domain name"));
    }
    Ok(())
}

/// Requires an absolute URL with `http://` or `https://`. Other schemes such as `javascript:` could
/// harm a page that shows the URL as a link.
///
/// ```
/// use es_framework::validate::rules::url;
///
/// assert!(url(&"https://example.com/books".to_owned()).is_ok());
/// assert!(url(&"javascript:alert(1)".to_owned()).is_err());
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn url(value: &impl Text) -> Result<(), String> {
    let Some(text) = value.text() else {
        return Ok(());
    };
    let wrong = |why: &dyn Display| {
        let message = format!("must be a web address such as https://example.com/books: {why}");
        Err(message)
    };
    if text.chars().count() > LONGEST_URL {
        return wrong(&format_args!("it has more than {LONGEST_URL} characters"));
    }
    // The URL parser ignores these characters, so the parsed URL would differ from the text.
    if text.contains(|one: char| one.is_whitespace() || one.is_control()) {
        return wrong(&"it holds white space");
    }
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return wrong(&"it begins neither with http:// nor with https://");
    }
    match garde::rules::url::Url::validate_url(&text) {
        Ok(()) => Ok(()),
        Err(error) => wrong(&error),
    }
}

/// Requires a number between two bounds, both inclusive.
///
/// ```
/// use es_framework::validate::rules::range;
///
/// assert_eq!(range(&310, Some(1), Some(5_000)), Ok(()));
/// assert_eq!(range(&0, Some(1), None), Err("must be at least 1, not 0".into()));
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn range<N: Number>(
    value: &N,
    min: Option<N::Value>,
    max: Option<N::Value>,
) -> Result<(), String> {
    let Some(number) = value.number() else {
        return Ok(());
    };
    if let Some(min) = min.filter(|min| number < *min) {
        return Err(format!("must be at least {min}, not {number}"));
    }
    if let Some(max) = max.filter(|max| number > *max) {
        return Err(format!("must be at most {max}, not {number}"));
    }
    Ok(())
}

/// Requires a list whose number of items lies between two bounds, both inclusive.
///
/// ```
/// use es_framework::validate::rules::items;
///
/// assert_eq!(items(&vec!["new"], None, Some(3)), Ok(()));
/// assert_eq!(items(&vec![0; 4], None, Some(3)), Err("must have at most 3 items, not 4".into()));
/// ```
///
/// # Errors
/// Fails with a message for the client.
pub fn items(value: &impl Items, min: Option<usize>, max: Option<usize>) -> Result<(), String> {
    let Some(items) = value.items() else {
        return Ok(());
    };
    let count = items.len();
    if let Some(min) = min.filter(|min| count < *min) {
        return Err(format!("must have at least {min} items, not {count}"));
    }
    if let Some(max) = max.filter(|max| count > *max) {
        return Err(format!("must have at most {max} items, not {count}"));
    }
    Ok(())
}

/// Converts the result of an application's own rule.
///
/// ```
/// use es_framework::validate::rules::convert_rule_result;
///
/// fn is_even(number: u32) -> Result<(), &'static str> {
///     number.is_multiple_of(2).then_some(()).ok_or("must be even")
/// }
///
/// assert_eq!(convert_rule_result(is_even(3)), Err("must be even".into()));
/// ```
///
/// # Errors
/// Fails with the text of the error.
pub fn convert_rule_result<E: Display>(found: Result<(), E>) -> Result<(), String> {
    found.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_something_on_one_line_within_its_length() {
        let check = |text: &str| super::text(&text.to_owned(), 1, 3);
        assert_eq!(check("äöü"), Ok(()));
        assert_eq!(check(" a "), Ok(()));
        for refused in ["", "  ", "\u{a0}", "abcd", "a\0", "a\nb", "\u{85}a"] {
            assert!(check(refused).is_err(), "{refused:?}");
        }
        // A zero-width space and joiner, a word joiner, a byte order mark, a soft hyphen, a mark of direction, a
        // Mongolian vowel separator, Hangul fillers, a variation selector, a tag, an accent, an empty Braille pattern.
        for invisible in [
            "\u{200b}",
            "\u{200d} ",
            "\u{2060}",
            "\u{feff}",
            "\u{ad}",
            "\u{202e}",
            "\u{180e}",
            "\u{115f}\u{1160}",
            "\u{3164}",
            "\u{fe0f}",
            "\u{e0041}",
            "\u{301}",
            "\u{2800}",
            "\u{2028}",
        ] {
            let refused = Err("must not be blank".to_owned());
            assert_eq!(check(invisible), refused, "{invisible:?}");
        }
        for visible in [
            "1",
            "?",
            "書",
            "ﷺ",
            "👍",
            "e\u{301}",
            "\u{200b}a",
            "\u{e000}",
            "⠁",
        ] {
            assert_eq!(check(visible), Ok(()), "{visible:?}");
        }
        assert_eq!(super::text(&None::<String>, 1, 3), Ok(()));
        assert_eq!(
            super::text(&"äö".to_owned(), 3, 9),
            Err("must have at least 3 characters, not 2".into())
        );
    }

    #[test]
    fn a_number_lies_between_both_ends() {
        assert_eq!(range(&1_i64, Some(1), None), Ok(()));
        assert_eq!(
            range(&0_i64, Some(1), None),
            Err("must be at least 1, not 0".into())
        );
        assert_eq!(
            range(&9_u8, Some(1), Some(8)),
            Err("must be at most 8, not 9".into())
        );
        assert_eq!(range(&None::<i64>, Some(1), None), Ok(()));
    }

    #[test]
    fn a_list_has_a_number_of_items() {
        assert_eq!(items(&vec![1], Some(1), Some(1)), Ok(()));
        assert_eq!(
            items(&Vec::<u8>::new(), Some(1), None),
            Err("must have at least 1 items, not 0".into())
        );
        assert_eq!(
            items(&Some(vec![1, 2]), None, Some(1)),
            Err("must have at most 1 items, not 2".into())
        );
        assert_eq!(items(&None::<Vec<u8>>, Some(1), None), Ok(()));
    }

    #[test]
    fn a_text_keeps_to_its_characters() {
        assert_eq!(characters(&"978-0X".to_owned(), "0123456789-X"), Ok(()));
        assert!(characters(&"97a".to_owned(), "0123456789-X").is_err());
    }

    #[test]
    fn a_text_matches_its_pattern() {
        static ISBN: Pattern = Pattern::new("^97[89]-[0-9]+$");
        assert_eq!(pattern(&"978-1".to_owned(), &ISBN), Ok(()));
        assert_eq!(
            pattern(&"978-1\n".to_owned(), &ISBN),
            Err("must match ^97[89]-[0-9]+$".into())
        );
        assert_eq!(pattern(&None::<String>, &ISBN), Ok(()));
    }

    #[test]
    fn an_address_is_one_that_can_be_written_to() {
        for taken in ["reader@example.com", "a.b+c@localhost"] {
            assert_eq!(email(&taken.to_owned()), Ok(()));
        }
        for refused in [
            "",
            "reader",
            "@a.b",
            "a@b@c",
            "a b@c.d",
            "a@b\n",
            "a@-b",
            "a@[1.2.3.4]",
            "a@[::1]",
        ] {
            assert!(email(&refused.to_owned()).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn an_address_on_the_web_is_whole_and_harmless() {
        for taken in ["https://example.com", "http://[::1]:80/a?b#c"] {
            assert_eq!(url(&taken.to_owned()), Ok(()));
        }
        let refused = [
            "",
            "example.com",
            "/books",
            "javascript:alert(1)",
            " https://example.com",
            "https://exam\nple.com",
            "https://",
            "http://a:99999",
        ];
        for refused in refused {
            assert!(url(&refused.to_owned()).is_err(), "{refused:?}");
        }
        let long = format!("https://example.com/{}", "a".repeat(LONGEST_URL));
        assert!(url(&long).is_err());
    }
}
