//! Generates strings, numbers and booleans that distinguish the common Rust types.

use std::ops::RangeInclusive;

use es_event::integer_format;
use serde_json::{Number, Value, json};

use super::samples::SchemaSamples;

/// The maximum length of a sample string in characters.
const MAX_TEXT_LENGTH: u64 = 4_096;

/// Generates samples of a scalar JSON type.
pub(super) fn samples(kind: &str, schema: &Value) -> Option<SchemaSamples> {
    match kind {
        "boolean" => SchemaSamples::from_values([json!(true), json!(false)]),
        "null" => SchemaSamples::from_values([Value::Null]),
        "integer" => integers(schema),
        "number" => numbers(schema),
        "string" => texts(schema),
        _ => None,
    }
}

fn integers(schema: &Value) -> Option<SchemaSamples> {
    let format = schema.get("format").and_then(Value::as_str);
    let (least, most) = range(format).into_inner();
    let bound = |key| schema.get(key).and_then(whole_number);
    let least = [
        bound("minimum"),
        bound("exclusiveMinimum").map(|bound| bound.saturating_add(1)),
    ]
    .into_iter()
    .flatten()
    .fold(least, i128::max);
    let most = [
        bound("maximum"),
        bound("exclusiveMaximum").map(|bound| bound.saturating_sub(1)),
    ]
    .into_iter()
    .flatten()
    .fold(most, i128::min);
    let step = bound("multipleOf").unwrap_or(1).max(1);
    let mut values: Vec<i128> = vec![];
    for value in [step, step.saturating_mul(2), 0, least, most] {
        let fits = (least..=most).contains(&value) && value.checked_rem(step) == Some(0);
        if fits && !values.contains(&value) {
            values.push(value);
        }
    }
    SchemaSamples::from_values(
        values
            .into_iter()
            .filter_map(Number::from_i128)
            .map(Value::Number),
    )
}

fn whole_number(value: &Value) -> Option<i128> {
    let whole = value.as_i64().map(i128::from);
    whole.or_else(|| value.as_u64().map(i128::from))
}

/// Returns the integers that a format of schemars allows and that JSON can carry.
fn range(format: Option<&str>) -> RangeInclusive<i128> {
    let range = match format {
        Some("uint128") => Some(0..=u64::MAX.into()),
        format => format.and_then(integer_format::range),
    };
    range.unwrap_or(i64::MIN.into()..=i64::MAX.into())
}

fn numbers(schema: &Value) -> Option<SchemaSamples> {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let fits = |value: &f64| {
        bound("minimum").is_none_or(|least| *value >= least)
            && bound("maximum").is_none_or(|most| *value <= most)
            && bound("exclusiveMinimum").is_none_or(|least| *value > least)
            && bound("exclusiveMaximum").is_none_or(|most| *value < most)
    };
    let is_single = schema.get("format").is_some_and(|format| format == "float");
    // The last two numbers are equal in single precision.
    let precise: &[f64] = if is_single {
        &[]
    } else {
        &[16_777_216.25, 16_777_216.75]
    };
    let plain = [1.5, 0.5, 0.25, -1.5, 100.5];
    SchemaSamples::from_values(
        plain
            .iter()
            .chain(precise)
            .copied()
            .filter(fits)
            .map(Value::from),
    )
}

fn texts(schema: &Value) -> Option<SchemaSamples> {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some(known) = format.and_then(formatted) {
        return SchemaSamples::from_values(known.iter().map(|text| json!(text)));
    }
    let length = |key| schema.get(key).and_then(Value::as_u64);
    let least = length("minLength").unwrap_or_default().min(MAX_TEXT_LENGTH);
    let most = length("maxLength")
        .unwrap_or(MAX_TEXT_LENGTH)
        .min(MAX_TEXT_LENGTH);
    let repeated = |text: &str, count| text.repeat(usize::try_from(count).unwrap_or_default());
    let mut texts = vec![];
    if most > 0 {
        texts.push(repeated("a", least.max(1)));
        // A text with `é` may break a pattern, so only types without a pattern get it.
        if schema.get("pattern").is_none() {
            texts.push(repeated("é", least.max(1)));
        }
    }
    if least == 0 {
        texts.push(String::new());
    }
    if schema.get("maxLength").is_some() && schema.get("pattern").is_none() {
        texts.push(repeated("z", most));
    }
    texts.dedup();
    SchemaSamples::from_values(texts.into_iter().map(Value::from))
}

/// Returns strings of a format that restricts its values.
fn formatted(format: &str) -> Option<&'static [&'static str]> {
    Some(match format {
        "uuid" => &[
            "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
            "00000000-0000-0000-0000-000000000000",
        ],
        "date-time" => &["2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z"],
        "date" => &["2026-01-02", "1970-01-01"],
        "time" | "partial-time" => &["03:04:05", "00:00:00"],
        "partial-date-time" => &["2026-01-02T03:04:05", "1970-01-01T00:00:00"],
        "duration" => &["PT1H", "PT2H"],
        "email" => &["reader@example.com", "staff@example.com"],
        "uri" | "iri" | "url" => &["https://example.com/a", "https://example.com/b"],
        "ipv4" | "ip" => &["192.0.2.1", "192.0.2.2"],
        "ipv6" => &["2001:db8::1", "2001:db8::2"],
        _ => return None,
    })
}
