//! The rules for the source of an event.

use es_event::Dialect;

/// The longest source, in bytes. The protocol names no limit.
const MAX_SOURCE_LENGTH: usize = 2_048;

/// Checks the source of an event: a URI in the newer dialect, any name in the older one.
pub(super) fn check_source(source: &str, dialect: Dialect) -> Result<(), &'static str> {
    if source.is_empty() || source.len() > MAX_SOURCE_LENGTH || source.chars().any(char::is_control)
    {
        return Err("a source has 1 to 2048 bytes and no control character");
    }
    if dialect == Dialect::Event && !is_uri(source) {
        return Err("a source is a URI, such as https://library.example.com or tag:library");
    }
    Ok(())
}

/// Returns whether the text has a scheme and contains only characters of RFC 3986.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let mut escapes = rest.split('%');
    let is_escape = |segment: &str| {
        let digits = segment.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    is_scheme
        && !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte))
        && escapes.next().is_some()
        && escapes.all(is_escape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_no_character_that_needs_an_escape() {
        for uri in [
            "https://www.eventsourcingdb.io",
            "tag:thenativeweb.io,2023:test",
            "tag://test-execution",
            "urn:a%20b",
        ] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in [
            "", "my-app", ":x", "1a:x", "tag:", "tag:a b", "tag:ü", "urn:a%2", "a b:c",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
