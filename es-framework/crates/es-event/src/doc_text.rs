//! Takes doc comments apart at compile time. The macros do this themselves, except where a comment is an
//! expression such as `#[doc = concat!(…)]`.

/// Returns the first paragraph.
#[must_use]
pub const fn summary(text: &'static str) -> &'static str {
    let text = whole(text);
    trim(text.split_at(end_of_paragraph(text)).0)
}

/// Returns the first paragraph without its full stop.
#[must_use]
pub const fn title(text: &'static str) -> &'static str {
    let text = summary(text);
    match text.as_bytes() {
        [rest @ .., b'.'] => text.split_at(rest.len()).0,
        _ => text,
    }
}

/// Returns the paragraphs after the first one.
#[must_use]
pub const fn text_after_summary(text: &'static str) -> &'static str {
    let text = whole(text);
    trim(text.split_at(end_of_paragraph(text)).1)
}

/// Returns the text without white space around it.
#[must_use]
pub const fn whole(text: &'static str) -> &'static str {
    trim(text)
}

const fn trim(text: &'static str) -> &'static str {
    text.trim_ascii()
}

/// Returns the length of the text before its first empty line.
const fn end_of_paragraph(text: &str) -> usize {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'\n' && begins_with_empty_line(after) {
            break;
        }
        rest = after;
    }
    text.len().saturating_sub(rest.len())
}

/// Returns whether only white space stands before the next line break.
const fn begins_with_empty_line(mut text: &[u8]) -> bool {
    while let [first, rest @ ..] = text {
        match first {
            b'\n' => return true,
            b' ' | b'\t' | b'\r' => text = rest,
            _ => return false,
        }
    }
    true
}

/// Returns the bytes of a text with a space in place of each line break.
#[must_use]
pub const fn one_line<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut line = [b' '; LENGTH];
    let (mut from, mut to) = (text.as_bytes(), line.as_mut_slice());
    while let ([byte, from_rest @ ..], [place, to_rest @ ..]) = (from, to) {
        if *byte != b'\n' {
            *place = *byte;
        }
        (from, to) = (from_rest, to_rest);
    }
    line
}

/// Returns the bytes of [`one_line`] as a text.
#[must_use]
pub const fn as_text(line: &'static [u8]) -> &'static str {
    match str::from_utf8(line) {
        Ok(text) => text,
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n Adds a copy\nto the inventory. \n \n One of many.\n\nThe end.\n";

    #[test]
    fn the_first_paragraph_is_the_summary() {
        assert_eq!(summary(TEXT), "Adds a copy\nto the inventory.");
        assert_eq!(title(TEXT), "Adds a copy\nto the inventory");
        assert_eq!(text_after_summary(TEXT), "One of many.\n\nThe end.");
        assert_eq!(
            (summary("Alone."), text_after_summary("Alone.")),
            ("Alone.", "")
        );
        assert_eq!(
            (summary(""), title(""), text_after_summary(" ")),
            ("", "", "")
        );
    }

    #[test]
    fn a_summary_is_one_line() {
        const SUMMARY: &str = summary(TEXT);
        const LINE: [u8; SUMMARY.len()] = one_line(SUMMARY);
        assert_eq!(as_text(&LINE), "Adds a copy to the inventory.");
    }
}
