//! Numbers in JSON. JSON Schema calls `310.0`, `1e3` and `-0` integers (draft 2020-12, section 6.3 of the core),
//! and serde does not read them as integers.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, IgnoredAny};

/// The digits of the greatest integer that Rust has.
const MAX_DIGITS: usize = 39;

/// Deserializes JSON in which integers have any spelling, such as `1.0` and `1e2`.
///
/// Only JSON that serde refuses is read a second time, with its integers in plain digits. The text is rewritten, not
/// the numbers that a deserializer hands out: these are floats already, which have lost digits, and serde keeps them
/// from its callers inside tagged enums.
///
/// # Errors
/// The JSON is malformed or has another shape.
pub fn read_json<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| match spell_out_integers(json) {
        Cow::Owned(plain) if is_json(json) => serde_json::from_str(&plain),
        _ => Err(error),
    })
}

/// Returns true if a text is well-formed JSON. `serde_json` also calls numbers and texts malformed that only do not fit.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Writes the integers of a text that is JSON in plain digits: `310.0` becomes `310`, and `1e3` becomes `1000`.
#[must_use]
pub fn spell_out_integers(json: &str) -> Cow<'_, str> {
    replace_numbers(json, plain_integer)
}

/// Replaces the numbers of a JSON text for which `replacement` returns a text. Strings stay as they are.
#[must_use]
pub fn replace_numbers(json: &str, replacement: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let mut replaced = String::new();
    let mut rest = json;
    let mut is_changed = false;
    while let Some(start) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    {
        let (before, token) = rest.split_at(start);
        let is_text = token.starts_with('"');
        let length = if is_text {
            string_length(token)
        } else {
            let is_outside = |byte: char| !byte.is_ascii_digit() && !"+-.eE".contains(byte);
            token.find(is_outside).unwrap_or(token.len())
        };
        let (token, after) = token.split_at(length);
        replaced.push_str(before);
        match Some(token).filter(|_| !is_text).and_then(&replacement) {
            Some(other) => {
                is_changed = true;
                replaced.push_str(&other);
            }
            None => replaced.push_str(token),
        }
        rest = after;
    }
    if !is_changed {
        return Cow::Borrowed(json);
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// Returns the length in bytes of the string at the start of a JSON text, with its quotes.
#[must_use]
pub fn string_length(json: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index.saturating_add(1),
            _ => {}
        }
    }
    json.len()
}

/// Returns the digits of a number that is an integer and is spelled in another way.
fn plain_integer(number: &str) -> Option<String> {
    if number != "-0" && !number.contains(['.', 'e', 'E']) {
        return None;
    }
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    // The number of significant digits before the point.
    let leading_zeros = digits.len().saturating_sub(significant.len());
    let exponent: i64 = exponent.parse().ok()?;
    let before_point = i64::try_from(whole.len())
        .ok()?
        .saturating_add(exponent)
        .saturating_sub(i64::try_from(leading_zeros).ok()?);
    let length = usize::try_from(before_point).ok()?;
    let significant = significant.trim_end_matches('0');
    let is_integer = is_number && significant.len() <= length && length <= MAX_DIGITS;
    is_integer.then(|| format!("{sign}{significant:0<length$}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_spelling_of_an_integer_is_read_as_that_integer() {
        let spelled = [
            ("310.0", 310_i128),
            ("-310.000", -310),
            ("1e3", 1_000),
            ("1E+3", 1_000),
            ("1.5e1", 15),
            ("1500e-2", 15),
            ("0.0015e4", 15),
            ("-0", 0),
            ("-0.0", 0),
            ("0e999999999999999999999", 0),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("1.8446744073709551616e19", 18_446_744_073_709_551_616),
        ];
        for (text, number) in spelled {
            assert_eq!(read_json::<i128>(text).unwrap(), number, "{text}");
            assert_eq!(
                read_json::<Vec<i128>>(&format!("[{text} ,{text}]")).unwrap(),
                [number; 2]
            );
        }
    }

    #[test]
    fn a_number_with_a_fraction_or_without_an_end_is_no_integer() {
        for text in [
            "310.5",
            "1e-1",
            "15e-1",
            "1e40",
            "1e999999999999999999999",
            "0.1",
        ] {
            assert!(read_json::<i128>(text).is_err(), "{text}");
        }
        let error = read_json::<u8>("300.0").unwrap_err().to_string();
        assert!(error.contains("integer `300`, expected u8"), "{error}");
    }

    #[test]
    fn texts_and_floats_stay_as_they_are() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Line {
            price: f64,
            copies: u8,
            note: String,
            #[serde(rename = "1e1")]
            member: u8,
        }
        let json = r#"{"price":2.50,"copies":3.0,"note":"\"4.0 \\","1e1":5e0}"#;
        let line: Line = read_json(json).unwrap();
        let note = "\"4.0 \\".to_owned();
        let read = Line {
            price: 2.5,
            copies: 3,
            note,
            member: 5,
        };
        assert_eq!(line, read);
        assert_eq!(
            read_json::<Value>("[310.0]").unwrap().to_string(),
            "[310.0]"
        );
        assert_eq!(
            read_json::<f64>("-0").unwrap().to_bits(),
            (-0.0_f64).to_bits()
        );
    }

    #[test]
    fn integers_are_read_inside_every_kind_of_enum() {
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(tag = "kind")]
        enum TaggedBox {
            Box { number: u32 },
        }
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(untagged)]
        enum UntaggedNumber {
            Number(u32),
        }
        let tagged: TaggedBox = read_json(r#"{"kind":"Box","number":1e3}"#).unwrap();
        assert_eq!(tagged, TaggedBox::Box { number: 1_000 });
        assert_eq!(
            read_json::<UntaggedNumber>("310.0").unwrap(),
            UntaggedNumber::Number(310)
        );
        let map: BTreeMap<String, u8> = read_json(r#"{"a":-0}"#).unwrap();
        assert_eq!(map["a"], 0);
    }

    #[test]
    fn text_that_is_no_json_is_refused_and_does_not_panic() {
        for text in [
            "", "\"", "\"\\", "-", "1e", "1.", "-.e+", "[1.0", "01.0", "é1.0é", "1.0.0", "--0",
        ] {
            assert!(read_json::<u8>(text).is_err(), "{text}");
            let _ = spell_out_integers(text);
        }
    }
}
