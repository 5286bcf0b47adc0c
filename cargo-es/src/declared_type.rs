//! A type that an application declares, found in the text of a source file.

use std::path::PathBuf;

use quote::ToTokens as _;
use syn::{
    Attribute, Expr, GenericArgument, Item, Lit, Meta, MetaNameValue, PathArguments, Token, Type,
    Visibility, ext::IdentExt as _, punctuated::Punctuated,
};

use crate::{
    error::ToolError,
    field::{Field, FieldType},
};

/// A struct, enum or other type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeclaredType {
    pub(crate) name: String,
    /// The source file, relative to the application.
    pub(crate) file: PathBuf,
    /// The line of its name, from one.
    pub(crate) line: u64,
    /// The path for `use`, such as `crate::book::Book`, if the whole application sees the type.
    pub(crate) path: Option<String>,
    /// The fields of a struct.
    fields: Vec<DeclaredField>,
    /// The subject that the attribute of an event or a command names.
    pub(crate) subject: Option<String>,
    /// The command from which the attribute of an event makes it.
    pub(crate) command: Option<String>,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeclaredField {
    pub(crate) name: String,
    /// The type as the command line names it.
    pub(crate) field_type: String,
    /// True if the whole application sees it.
    pub(crate) is_visible: bool,
    /// True for a part of the key of a read model.
    pub(crate) is_key: bool,
}

impl DeclaredType {
    /// Creates a type of a source file with this text. Nobody sees it yet.
    pub(crate) fn new(name: String, file: PathBuf, text: &str, fields: Vec<DeclaredField>) -> Self {
        Self {
            file,
            line: line_of(text, &name),
            path: None,
            fields,
            name,
            subject: None,
            command: None,
        }
    }

    /// Adds what the attribute of an event or a command says.
    pub(crate) fn with_attributes(mut self, attrs: &[Attribute]) -> Self {
        let is_own = |attr: &&Attribute| {
            ["event", "command"]
                .iter()
                .any(|own| attr.path().is_ident(own))
        };
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        let metas = attrs.iter().filter(is_own);
        let metas = metas.filter_map(|attr| attr.parse_args_with(parse).ok());
        for meta in metas.flatten() {
            match meta {
                Meta::NameValue(MetaNameValue {
                    path,
                    value: Expr::Lit(value),
                    ..
                }) if path.is_ident("subject") => {
                    if let Lit::Str(text) = value.lit {
                        self.subject = Some(text.value());
                    }
                }
                Meta::NameValue(MetaNameValue {
                    path,
                    value: Expr::Path(value),
                    ..
                }) if path.is_ident("from") => {
                    let last = value.path.segments.last();
                    self.command = last.map(|last| last.ident.to_string());
                }
                _ => {}
            }
        }
        self
    }

    /// Returns the expression for a field that takes its value from a reference `event` to this type, if
    /// it has a field of this name and type.
    pub(crate) fn field_access_expression(&self, field: &Field) -> Option<String> {
        let written = self.field_type(&field.name)?;
        (written == field.field_type.to_rust_type()).then(|| {
            let clone = if field.field_type.is_copy() {
                ""
            } else {
                ".clone()"
            };
            format!("event.{}{clone}", field.name)
        })
    }

    /// Returns the path for `use`. Fails unless the whole application sees the type.
    pub(crate) fn import_path(&self) -> Result<String, ToolError> {
        let (name, file) = (&self.name, self.file.display());
        self.path.clone().ok_or_else(|| {
            ToolError::new(format!(
                "{name} in {file} is private to its module: write `pub` in front of it and of its module"
            ))
        })
    }

    /// Returns the names of the fields that are the key of a read model.
    pub(crate) fn key(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().filter(|field| field.is_key);
        fields.map(|field| field.name.as_str())
    }

    /// Fails unless the struct has a field of this name and type.
    pub(crate) fn check_field(&self, name: &str, field_type: FieldType) -> Result<(), ToolError> {
        self.check_type(name, field_type, false)
    }

    /// Fails unless the struct has a field of this name and type, or an optional one of this type.
    pub(crate) fn check_filter(&self, name: &str, field_type: FieldType) -> Result<(), ToolError> {
        self.check_type(name, field_type, true)
    }

    fn check_type(
        &self,
        name: &str,
        field_type: FieldType,
        may_be_optional: bool,
    ) -> Result<(), ToolError> {
        let (owner, text) = (&self.name, field_type.to_rust_type());
        let optional = format!("Option<{text}>");
        match self.field_type(name) {
            Some(written) if written == text || may_be_optional && written == optional => Ok(()),
            Some(written) => Err(ToolError::new(format!(
                "the field `{name}` of {owner} is a {written}, not a {text}"
            ))),
            None => Err(ToolError::new(format!("{owner} has no field `{name}`"))),
        }
    }

    fn field_type(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter().filter(|field| field.is_visible);
        let field = fields.find(|field| field.name == name);
        field.map(|field| field.field_type.as_str())
    }
}

/// Returns the fields of a struct. `is_visible` says whether the whole crate sees an item of this visibility.
pub(crate) fn fields_of(
    item: &Item,
    is_visible: impl Fn(&Visibility) -> bool,
) -> Vec<DeclaredField> {
    let Item::Struct(item) = item else {
        return Vec::new();
    };
    let fields = item.fields.iter().filter_map(|field| {
        Some(DeclaredField {
            name: field.ident.as_ref()?.unraw().to_string(),
            field_type: type_text(&field.ty),
            is_visible: is_visible(&field.vis),
            is_key: field.attrs.iter().any(|attr| attr.path().is_ident("key")),
        })
    });
    fields.collect()
}

/// Returns a type as the command line names it: without the modules in front of its names.
fn type_text(ty: &Type) -> String {
    let Type::Path(path) = ty else {
        return ty.to_token_stream().to_string();
    };
    let Some(last) = path.path.segments.last() else {
        return String::new();
    };
    let name = last.ident.to_string();
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let arguments = arguments.args.iter().map(|argument| match argument {
                GenericArgument::Type(ty) => type_text(ty),
                other => other.to_token_stream().to_string(),
            });
            format!("{name}<{}>", arguments.collect::<Vec<_>>().join(", "))
        }
        _ => name,
    }
}

/// Returns the line with the name of a declared type, from one.
fn line_of(text: &str, name: &str) -> u64 {
    let keywords = ["struct", "enum", "trait", "type", "union"];
    let declares = |line: &str| {
        let mut words = line.split(|one: char| !one.is_alphanumeric() && one != '_');
        words.any(|word| keywords.contains(&word)) && words.next() == Some(name)
    };
    let found = text.lines().zip(1..).find(|(line, _)| declares(line));
    found.map_or(1, |(_, number)| number)
}
