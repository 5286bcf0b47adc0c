//! The value of a field from the text of a cell, by the schema of the field.

use serde_json::{Number, Value, json};

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldType {
    Text,
    Integer,
    Number,
    Boolean,
    /// A list, with the separator of its elements.
    List(Box<FieldType>, char),
    /// Anything else is written as JSON.
    Json,
}

impl FieldType {
    /// Returns the type that a schema describes. A list has this separator.
    pub(super) fn of(schema: &Value, separator: char) -> Self {
        let names = match &schema["type"] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect::<Vec<_>>(),
        };
        match names.into_iter().find(|name| *name != "null") {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") => Self::List(Box::new(Self::of(&schema["items"], separator)), separator),
            None if schema.get("enum").is_some() || schema.get("const").is_some() => Self::Text,
            _ => Self::Json,
        }
    }

    /// Returns the value of a cell that is not empty, or what is wrong with it.
    pub(super) fn value(&self, cell: &str) -> Result<Value, String> {
        let wrong = |kind: &str| format!("{cell:?} is no {kind}");
        let trimmed = cell.trim();
        match self {
            Self::Text => Ok(cell.into()),
            Self::Integer => {
                let number: Number = trimmed.parse().map_err(|_| wrong("integer"))?;
                let is_integer = number.is_i64() || number.is_u64();
                is_integer
                    .then(|| number.into())
                    .ok_or_else(|| wrong("integer"))
            }
            Self::Number => {
                let number: Number = trimmed.parse().map_err(|_| wrong("number"))?;
                Ok(number.into())
            }
            Self::Boolean => match &*trimmed.to_lowercase() {
                "true" | "yes" | "1" => Ok(true.into()),
                "false" | "no" | "0" => Ok(false.into()),
                _ => Err(wrong("boolean: write true or false")),
            },
            Self::List(element, separator) => {
                let elements = trimmed.split(*separator).map(str::trim);
                let elements = elements.filter(|element| !element.is_empty());
                let values = elements.map(|text| element.value(text));
                Ok(json!(values.collect::<Result<Vec<_>, _>>()?))
            }
            Self::Json => serde_json::from_str(cell).map_err(|_| wrong("JSON")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(schema: &Value, cell: &str) -> Result<Value, String> {
        FieldType::of(schema, ';').value(cell)
    }

    #[test]
    fn a_cell_becomes_what_its_schema_says() {
        let text = json!({ "type": ["string", "null"], "format": "decimal" });
        assert_eq!(value(&text, " 12.50"), Ok(json!(" 12.50")));
        let integer = json!({ "type": "integer" });
        assert_eq!(value(&integer, " 310 "), Ok(json!(310)));
        assert!(
            value(&integer, "310 p.")
                .unwrap_err()
                .contains("no integer")
        );
        assert!(value(&integer, "3.5").is_err());
        assert_eq!(value(&json!({ "type": "number" }), "3.5"), Ok(json!(3.5)));
        let boolean = json!({ "type": "boolean" });
        assert_eq!(value(&boolean, "Yes"), Ok(json!(true)));
        assert!(value(&boolean, "maybe").is_err());
        let list = json!({ "type": "array", "items": { "type": "string" } });
        assert_eq!(
            value(&list, "Gaiman, Neil; Pratchett, Terry;"),
            Ok(json!(["Gaiman, Neil", "Pratchett, Terry"]))
        );
        let object = json!({ "type": "object" });
        assert_eq!(value(&object, "{\"a\":1}"), Ok(json!({ "a": 1 })));
    }
}
