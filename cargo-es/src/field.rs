//! Fields of declarations, as the command line names them: `reader:Uuid`.

use std::str::FromStr;

use heck::ToLowerCamelCase as _;
use serde_json::{Map, Value, json};

use crate::{
    error::ToolError,
    names::{TypeName, parse_field_name},
};

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

/// A type without parameters.
#[derive(Debug, PartialEq)]
struct Scalar {
    name: &'static str,
    /// A value for tests as Rust code.
    sample: &'static str,
    /// The JSON type and the format in a schema.
    json: (&'static str, Option<&'static str>),
}

const fn scalar(
    name: &'static str,
    sample: &'static str,
    json_type: &'static str,
    format: Option<&'static str>,
) -> Scalar {
    Scalar {
        name,
        sample,
        json: (json_type, format),
    }
}

static SCALARS: &[Scalar] = &[
    scalar("Uuid", "Uuid::from_u128(1)", "string", Some("uuid")),
    scalar("String", "\"text\".into()", "string", None),
    scalar("bool", "true", "boolean", None),
    scalar("i32", "1", "integer", Some("int32")),
    scalar("i64", "1", "integer", Some("int64")),
    scalar("u32", "1", "integer", Some("uint32")),
    scalar("f64", "1.0", "number", Some("double")),
    scalar(
        "Timestamp",
        "Timestamp::UNIX_EPOCH",
        "string",
        Some("date-time"),
    ),
    scalar("Date", "Date::constant(2026, 7, 1)", "string", Some("date")),
];

impl Field {
    /// The key of a subject that needs no option.
    pub(crate) fn default_id_field() -> Result<Self, ToolError> {
        "id:Uuid".parse().map_err(ToolError::new)
    }

    fn json_name(&self) -> String {
        self.name.to_lower_camel_case()
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
        match (self.container, self.scalar.json.0) {
            (Some(Container::Option), _) => "None",
            (Some(Container::Vec), _) => "Vec::new()",
            (None, "boolean") => "false",
            (None, "integer") => "0",
            (None, "number") => "0.0",
            (None, _) => "Default::default()",
        }
    }

    /// Returns the type inside an `Option`, or the type itself.
    pub(crate) fn without_option(self) -> Self {
        let is_option = self.container == Some(Container::Option);
        Self {
            container: self.container.filter(|_| !is_option),
            ..self
        }
    }

    /// Returns the type in an `Option`.
    pub(crate) fn optional(self) -> Self {
        let container = Some(Container::Option);
        Self { container, ..self }
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

    /// Returns whether it is a text, or may be one.
    pub(crate) fn is_string(self) -> bool {
        self.scalar.name == "String"
    }

    pub(crate) fn is_copy(self) -> bool {
        self.container != Some(Container::Vec) && !self.is_string()
    }

    /// Returns whether a value can fill a segment of a subject.
    pub(crate) fn can_fill_subject(self) -> bool {
        let fills = ["Uuid", "String", "i32", "i64", "u32"].contains(&self.scalar.name);
        self.is_scalar() && fills
    }
}

/// Returns the lines of fields in a struct, each below the attribute that it has.
pub(crate) fn declare_fields(
    fields: &[Field],
    attribute: impl Fn(&Field) -> Option<String>,
) -> String {
    let declare = |field: &Field| {
        let attribute = attribute(field).map_or_else(String::new, |text| format!("{text}\n    "));
        let (name, field_type) = (&field.name, field.field_type.to_rust_type());
        format!("{attribute}pub {name}: {field_type},")
    };
    let lines: Vec<_> = fields.iter().map(declare).collect();
    lines.join("\n    ")
}

/// Returns a struct literal with a value for tests in each field.
pub(crate) fn sample_literal(name: &TypeName, fields: &[Field]) -> String {
    let values = fields
        .iter()
        .map(|field| format!("{}: {}", field.name, field.field_type.sample_expression()));
    format!("{name} {{ {} }}", values.collect::<Vec<_>>().join(", "))
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, type_text)) = text.split_once(':') else {
            return Err("a field has a name and a type, as in `reader:Uuid`".to_owned());
        };
        let (name, type_text) = (name.trim(), type_text.trim());
        let name = parse_field_name(name)?;
        let field_type = type_text
            .parse()
            .map_err(|error| format!("the field `{name}` has {error}"))?;
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
        let id = Field::default_id_field().unwrap();
        let marked = declare_fields(&[id, field.clone()], |field| {
            (field.name == "id").then(|| "#[key]".to_owned())
        });
        assert_eq!(
            marked,
            "#[key]\n    pub id: Uuid,\n    pub authors: Vec<String>,"
        );
        let name = TypeName::plain("Book").unwrap();
        assert_eq!(
            sample_literal(&name, &[field]),
            "Book { authors: vec![\"text\".into()] }"
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
