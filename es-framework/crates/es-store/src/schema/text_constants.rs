//! The schemas of a program without the feature `schemas`: it checks those of the framework itself, which only fix
//! texts, and keeps the text of all others for an event store that checks it.

use std::sync::Arc;

use serde_json::{Map, Value, value::RawValue};

/// A schema, with the rule for data if this program can apply it.
pub(super) struct JsonSchema {
    text: Arc<RawValue>,
    rule: Option<TextRule>,
}

/// The reason why data does not pass the check of a schema.
#[expect(dead_code, reason = "nothing spends the budget")]
pub(super) enum CheckFailure {
    Mismatch(String),
    BudgetExceeded,
}

/// A rule that fixes texts in objects.
enum TextRule {
    /// Objects whose members follow these rules, where they exist.
    Object(Vec<(String, Self)>),
    /// This text alone.
    Constant(String),
}

impl JsonSchema {
    pub(super) fn parse(json: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let text = RawValue::from_string(json.to_owned()).map_err(|error| error.to_string())?;
        let rule = TextRule::parse(&schema);
        Ok(Self {
            text: text.into(),
            rule: rule.filter(|rule| matches!(rule, TextRule::Object(_))),
        })
    }

    pub(super) fn parse_stored(json: &str) -> Result<Self, String> {
        Self::parse(json)
    }

    pub(super) const fn json(&self) -> &Arc<RawValue> {
        &self.text
    }

    pub(super) fn size(&self) -> usize {
        self.text.get().len().saturating_mul(4)
    }

    pub(super) const fn is_applicable(&self) -> bool {
        self.rule.is_some()
    }

    pub(super) fn check(&self, data: &RawValue, _: &mut u64) -> Result<(), CheckFailure> {
        let Some(rule) = &self.rule else {
            return Err(CheckFailure::Mismatch(super::NO_VALIDATOR.to_owned()));
        };
        let parsed: Result<Value, _> = serde_json::from_str(data.get());
        let data = parsed.map_err(|error| CheckFailure::Mismatch(error.to_string()))?;
        rule.check(&data, "").map_err(CheckFailure::Mismatch)
    }
}

impl TextRule {
    /// Returns `None` for a schema that says anything else.
    fn parse(schema: &Value) -> Option<Self> {
        let mut members = schema.as_object()?.clone();
        if let Some(Value::String(constant)) = members.remove("const") {
            return members.is_empty().then_some(Self::Constant(constant));
        }
        let (of_type, properties) = (members.remove("type")?, members.remove("properties")?);
        let is_plain = members.is_empty() && of_type == "object";
        let properties: &Map<_, _> = properties.as_object().filter(|_| is_plain)?;
        let rules = properties
            .iter()
            .map(|(name, schema)| Some((name.clone(), Self::parse(schema)?)));
        rules.collect::<Option<_>>().map(Self::Object)
    }

    fn check(&self, data: &Value, place: &str) -> Result<(), String> {
        match self {
            Self::Constant(constant) if data == constant.as_str() => Ok(()),
            Self::Constant(_) => Err(format!("another value is expected at {place}")),
            Self::Object(rules) => {
                let members = data.as_object();
                let members = members.ok_or_else(|| format!("an object is expected at {place}"))?;
                rules.iter().try_for_each(|(name, rule)| {
                    let value = members.get(name);
                    value.map_or(Ok(()), |value| {
                        rule.check(value, &format!("{place}/{name}"))
                    })
                })
            }
        }
    }
}
