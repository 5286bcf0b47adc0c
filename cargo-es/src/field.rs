//! Fields of declarations, as the command line names them: `reader:Uuid`.

use std::str::FromStr;

use heck::ToLowerCamelCase as _;
use serde_json::{Map, Value, json};

use crate::{error::ToolError, names::check_field_name};

/// A field with its type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
}

/// A type that fields of commands, events, states and read models can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FieldType {
    container: Option<Container>,
    scalar: &'static Scalar,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Container {
    Option,
    Vec,
}

/// A type without parameters, with Rust expressions of two values.
#[derive(Debug, PartialEq)]
struct Scalar {
    name: &'static str,
    sample: &'static str,
    zero: &'static str,
    /// The JSON type and the format in a schema.
    json: (&'static str, Option<&'static str>),
    is_copy: bool,
    /// True if its text can fill a segment of a subject.
    names_subject: bool,
}

const fn integer(name: &'static str, format: &'static str) -> Scalar {
    Scalar {
        names_subject: true,
        ..value(name, "1", "0", ("integer", Some(format)))
    }
}

const fn value(
    name: &'static str,
    sample: &'static str,
    zero: &'static str,
    json: (&'static str, Option<&'static str>),
) -> Scalar {
    Scalar {
        name,
        sample,
        zero,
        json,
        is_copy: true,
        names_subject: false,
    }
}

static SCALARS: &[Scalar] = &[
    Scalar {
        names_subject: true,
        ..value(
            "Uuid",
            "Uuid::from_u128(1)",
            "Uuid::nil()",
            ("string", Some("uuid")),
        )
    },
    Scalar {
        is_copy: false,
        names_subject: true,
        ..value(
            "String",
            "\"text\".into()",
            "String::new()",
            ("string", None),
        )
    },
    value("bool", "true", "false", ("boolean", None)),
    integer("i32", "int32"),
    integer("i64", "int64"),
    integer("u32", "uint32"),
    value("f64", "1.0", "0.0", ("number", Some("double"))),
    value(
        "Timestamp",
        "Timestamp::UNIX_EPOCH",
        "Timestamp::UNIX_EPOCH",
        ("string", Some("date-time")),
    ),
    value(
        "Date",
        "Date::constant(2026, 7, 1)",
        "Date::ZERO",
        ("string", Some("date")),
    ),
];

impl Field {
    /// The key of a subject that needs no option.
    pub(crate) fn default_id_field() -> Result<Self, ToolError> {
        "id:Uuid".parse().map_err(ToolError::new)
    }

    fn json_name(&self) -> String {
        self.name.to_lower_camel_case()
    }

    /// Returns its line in a struct.
    pub(crate) fn declaration(&self) -> String {
        format!("pub {}: {},", self.name, self.field_type.to_rust_type())
    }
}

impl FieldType {
    /// Returns the type as Rust code.
    pub(crate) fn to_rust_type(self) -> String {
        let scalar = self.scalar.name;
        match self.container {
            None => scalar.to_owned(),
            Some(Container::Option) => format!("Option<{scalar}>"),
            Some(Container::Vec) => format!("Vec<{scalar}>"),
        }
    }

    /// Returns a value for tests as Rust code.
    pub(crate) fn sample_expression(self) -> String {
        let sample = self.scalar.sample;
        match self.container {
            None => sample.to_owned(),
            Some(Container::Option) => format!("Some({sample})"),
            Some(Container::Vec) => format!("vec![{sample}]"),
        }
    }

    /// Returns the value of a field that nothing has set.
    pub(crate) fn default_expression(self) -> &'static str {
        match self.container {
            None => self.scalar.zero,
            Some(Container::Option) => "None",
            Some(Container::Vec) => "Vec::new()",
        }
    }

    /// Returns the type inside an `Option`, or the type itself.
    pub(crate) fn without_option(self) -> Self {
        match self.container {
            Some(Container::Option) => Self {
                container: None,
                ..self
            },
            _ => self,
        }
    }

    /// Returns the schema of its JSON, as the schema lock writes it.
    pub(crate) fn json_schema(self) -> Value {
        let (json_type, format) = self.scalar.json;
        let mut types = [json_type, "null"];
        types.sort_unstable();
        let json_type = if self.is_optional() {
            json!(types)
        } else {
            json_type.into()
        };
        let mut schema = Map::from_iter([("type".to_owned(), json_type)]);
        schema.extend(format.map(|format| ("format".to_owned(), format.into())));
        if self.scalar.name == "u32" {
            schema.insert("minimum".to_owned(), 0.into());
        }
        match self.container {
            Some(Container::Vec) => json!({ "items": schema, "type": "array" }),
            _ => schema.into(),
        }
    }

    /// Returns true if the JSON of an object may leave the field out.
    pub(crate) fn is_optional(self) -> bool {
        self.container == Some(Container::Option)
    }

    pub(crate) fn is_scalar(self) -> bool {
        self.container.is_none()
    }

    pub(crate) fn is_string(self) -> bool {
        self.is_scalar() && self.scalar.name == "String"
    }

    pub(crate) fn is_copy(self) -> bool {
        self.container != Some(Container::Vec) && self.scalar.is_copy
    }

    /// Returns whether a value can fill a segment of a subject.
    pub(crate) fn can_fill_subject(self) -> bool {
        self.is_scalar() && self.scalar.names_subject
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, type_text)) = text.split_once(':') else {
            return Err("a field has a name and a type, as in `reader:Uuid`".to_owned());
        };
        let (name, type_text) = (name.trim(), type_text.trim());
        check_field_name(name)?;
        let field_type = type_text
            .parse()
            .map_err(|error| format!("the field `{name}` has {error}"))?;
        let name = name.to_owned();
        Ok(Self { name, field_type })
    }
}

impl FromStr for FieldType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inside = |container: &str| text.strip_prefix(container)?.strip_suffix('>');
        let (container, name) = match (inside("Option<"), inside("Vec<")) {
            (Some(name), _) => (Some(Container::Option), name),
            (_, Some(name)) => (Some(Container::Vec), name),
            _ => (None, text),
        };
        let Some(scalar) = SCALARS.iter().find(|scalar| scalar.name == name) else {
            let known: Vec<_> = SCALARS.iter().map(|scalar| scalar.name).collect();
            return Err(format!(
                "the unknown type `{text}`: write {}, or one of them in Option<…> or Vec<…>",
                known.join(", ")
            ));
        };
        Ok(Self { container, scalar })
    }
}

/// The parameters of a query that select a page.
const PAGING: [&str; 3] = ["cursor", "limit", "total"];

/// Returns the type of a filter of a query that returns pages. It compares a column with one value.
pub(crate) fn check_scalar_filter(field: &Field) -> Result<FieldType, ToolError> {
    let (name, field_type) = (&field.name, field.field_type.without_option());
    if PAGING.contains(&name.as_str()) {
        return Err(ToolError::new(format!(
            "the parameter `{name}` selects a page: leave the filter out, and write it by hand under another name"
        )));
    }
    if field_type.is_scalar() {
        return Ok(field_type);
    }
    let text = field_type.to_rust_type();
    Err(ToolError::new(format!(
        "the filter `{name}` cannot be a {text}: rows are selected by one value"
    )))
}

/// Fails if two fields have one name in JSON.
pub(crate) fn check_distinct(fields: &[Field]) -> Result<(), ToolError> {
    for (index, field) in fields.iter().enumerate() {
        let name = field.json_name();
        let mut earlier = fields.iter().take(index);
        if earlier.any(|earlier| earlier.json_name() == name) {
            return Err(ToolError::new(format!(
                "there are two fields `{name}` in JSON"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_name_and_a_known_type() {
        let field: Field = "authors: Vec<String>".parse().unwrap();
        assert_eq!(field.declaration(), "pub authors: Vec<String>,");
        assert_eq!(
            field.field_type.sample_expression(),
            "vec![\"text\".into()]"
        );
        let unknown = "reader:Reader".parse::<Field>().unwrap_err();
        assert_eq!(
            unknown,
            "the field `reader` has the unknown type `Reader`: write Uuid, String, bool, i32, i64, u32, f64, Timestamp, Date, or one of them in Option<…> or Vec<…>"
        );
        for text in [
            "reader",
            "reader:",
            ":Uuid",
            "a:Option<Vec<u32>>",
            "a:Option<u32",
            "Ä:u32",
        ] {
            assert!(text.parse::<Field>().is_err(), "{text}");
        }
    }
}
