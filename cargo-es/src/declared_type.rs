//! Types that an application declares, found in the text of its source files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use quote::ToTokens as _;
use syn::{Fields, GenericArgument, Item, PathArguments, Type, Visibility, ext::IdentExt as _};

use crate::{
    error::ToolError,
    field::{Field, FieldType},
};

/// A source file with more bytes is none that a person wrote.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A struct, enum or other type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeclaredType {
    pub(crate) name: String,
    /// The path for `use`, such as `crate::book::Book`.
    pub(crate) path: String,
    /// The source file, relative to the application.
    pub(crate) file: PathBuf,
    /// The line of its name, from one.
    pub(crate) line: u64,
    /// True if the whole application sees it.
    is_visible: bool,
    /// The names of the fields of a struct that the whole application sees, with their types.
    fields: Vec<(String, String)>,
}

impl DeclaredType {
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

    /// Fails unless the whole application sees the type.
    pub(crate) fn check_visible(&self) -> Result<(), ToolError> {
        if self.is_visible {
            return Ok(());
        }
        let (name, file) = (&self.name, self.file.display());
        Err(ToolError::new(format!(
            "{name} in {file} is private to its module: write `pub` in front of it"
        )))
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
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.map(|(_, field_type)| field_type.as_str())
    }
}

/// Returns all types that the files below `src` declare.
pub(crate) fn find_all(application: &Path) -> Result<Vec<DeclaredType>, ToolError> {
    let mut files = Vec::new();
    collect(&application.join("src"), &mut files)?;
    files.sort();
    let mut types = Vec::new();
    for file in files {
        let relative = file.strip_prefix(application).unwrap_or(&file);
        find_in(&file, relative, &mut types)?;
    }
    Ok(types)
}

/// Collects the source files below a folder. Links are not followed.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ToolError> {
    let failed = |error| ToolError::io(folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() {
            collect(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn find_in(file: &Path, relative: &Path, types: &mut Vec<DeclaredType>) -> Result<(), ToolError> {
    let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
    if size > MAX_BYTES {
        return Ok(());
    }
    let text = fs::read_to_string(file).map_err(|error| ToolError::io(file, &error))?;
    let parsed = syn::parse_file(&text).map_err(|error| {
        let file = relative.display();
        ToolError::new(format!("{file} is no source file of Rust: {error}"))
    })?;
    let declared = types_in(&parsed.items, &[], true);
    types.extend(declared.into_iter().map(|declared| DeclaredType {
        path: path_of(file, relative, &declared.modules, &declared.name),
        line: line_of(&text, &declared.name),
        file: relative.to_owned(),
        is_visible: declared.is_visible,
        fields: declared.fields,
        name: declared.name,
    }));
    Ok(())
}

/// A type in a file.
struct TypeInFile {
    name: String,
    /// The modules around it in the file.
    modules: Vec<String>,
    is_visible: bool,
    fields: Vec<(String, String)>,
}

/// Returns the types among these items and in the modules among them.
fn types_in(items: &[Item], modules: &[String], is_reachable: bool) -> Vec<TypeInFile> {
    let mut types = Vec::new();
    for item in items {
        let (ident, visibility, fields) = match item {
            Item::Struct(item) => (&item.ident, &item.vis, visible_fields(&item.fields)),
            Item::Enum(item) => (&item.ident, &item.vis, Vec::new()),
            Item::Trait(item) => (&item.ident, &item.vis, Vec::new()),
            Item::Type(item) => (&item.ident, &item.vis, Vec::new()),
            Item::Union(item) => (&item.ident, &item.vis, Vec::new()),
            Item::Mod(module) => {
                let inside = modules.iter().cloned().chain([module.ident.to_string()]);
                let inside: Vec<_> = inside.collect();
                let is_reachable = is_reachable && is_visible(&module.vis);
                // Tests have types of their own.
                let is_conditional = module.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
                if let Some((_, items)) = &module.content
                    && !is_conditional
                {
                    types.extend(types_in(items, &inside, is_reachable));
                }
                continue;
            }
            _ => continue,
        };
        types.push(TypeInFile {
            name: ident.unraw().to_string(),
            modules: modules.to_vec(),
            is_visible: is_reachable && is_visible(visibility),
            fields,
        });
    }
    types
}

/// Returns true for an item that the whole crate sees.
fn is_visible(visibility: &Visibility) -> bool {
    match visibility {
        Visibility::Public(_) => true,
        Visibility::Restricted(restricted) => restricted.path.is_ident("crate"),
        Visibility::Inherited => false,
    }
}

/// Returns the fields that the whole crate sees, with their types.
fn visible_fields(fields: &Fields) -> Vec<(String, String)> {
    let fields = fields.iter().filter(|field| is_visible(&field.vis));
    fields
        .filter_map(|field| {
            Some((
                field.ident.as_ref()?.unraw().to_string(),
                type_text(&field.ty),
            ))
        })
        .collect()
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

/// Returns the path of a type for `use`. A module around its own that exports the type with `pub use`
/// stands for the inner one, which may be private.
fn path_of(file: &Path, relative: &Path, inside: &[String], name: &str) -> String {
    let mut modules: Vec<_> = relative
        .with_extension("")
        .iter()
        .skip(1)
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if modules
        .last()
        .is_some_and(|last| ["mod", "main", "lib"].contains(&last.as_str()))
    {
        modules.pop();
    }
    if modules.len() > 1 && is_exported(file, name) {
        modules.pop();
    }
    let path = ["crate".to_owned()].into_iter().chain(modules);
    path.chain(inside.iter().cloned())
        .chain([name.to_owned()])
        .collect::<Vec<_>>()
        .join("::")
}

fn is_exported(file: &Path, name: &str) -> bool {
    let parent = file.with_file_name("mod.rs");
    let text = fs::read_to_string(parent).unwrap_or_default();
    let mut exports = text.lines().filter(|line| line.starts_with("pub use "));
    let is_other = |one: char| !one.is_alphanumeric() && one != '_';
    exports.any(|line| line.split(is_other).any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_found_however_it_is_laid_out() {
        let text = "pub struct OneLine { pub id: uuid::Uuid, secret: bool }\n\npub(crate) struct Apart\n{\n  pub(crate)\n  names: Vec<\n    std::string::String>,\n}\nmod hidden { pub struct Inside; }\npub mod open { pub struct Inner { pub at: Option<jiff::Timestamp> } }\n";
        let file = syn::parse_file(text).unwrap();
        let types = types_in(&file.items, &[], true);
        let found: Vec<_> = types
            .iter()
            .map(|found| {
                (
                    found.name.as_str(),
                    found.is_visible,
                    line_of(text, &found.name),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("OneLine", true, 1),
                ("Apart", true, 3),
                ("Inside", false, 9),
                ("Inner", true, 10)
            ]
        );
        let fields = |index: usize| types[index].fields.clone();
        assert_eq!(fields(0), [("id".to_owned(), "Uuid".to_owned())]);
        assert_eq!(fields(1), [("names".to_owned(), "Vec<String>".to_owned())]);
        assert_eq!(
            fields(3),
            [("at".to_owned(), "Option<Timestamp>".to_owned())]
        );
    }
}
