//! The types that an application declares, found in the text of its source files.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use es_event::foreign_text::read_text;
use quote::ToTokens as _;
use syn::{Field as SourceField, Ident, Item, ext::IdentExt as _};

use crate::{
    error::ToolError,
    field::{Field, FieldType},
    names,
};

/// A struct, enum or other type.
pub(crate) struct DeclaredType {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// The path for `use`, such as `crate::book::Book`, if the modules stand where files and folders have their names.
    pub(crate) path: String,
    /// The fields of a struct.
    fields: Vec<SourceField>,
}

/// Returns all types in the files below `src`.
pub(crate) fn find_types(source: &Path) -> Result<Vec<DeclaredType>, ToolError> {
    let mut types = Vec::new();
    visit_folder(source, "crate", &mut types)?;
    types.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(types)
}

fn visit_folder(
    folder: &Path,
    module: &str,
    types: &mut Vec<DeclaredType>,
) -> Result<(), ToolError> {
    let error_at = |error| ToolError::io(folder, &error);
    for entry in fs::read_dir(folder).map_err(error_at)? {
        let path = entry.map_err(error_at)?.path();
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let raw = if names::is_keyword(stem) { "r#" } else { "" };
        let inner = format!("{module}::{raw}{stem}");
        if path.is_dir() {
            visit_folder(&path, &inner, types)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let is_of_folder = matches!(stem, "lib" | "main" | "mod");
            let module = if is_of_folder { module } else { &inner };
            let text = read_text(&path).map_err(|error| ToolError::io(&path, &error))?;
            let parsed = syn::parse_file(&text).map_err(|error| {
                let file = path.display();
                ToolError::new(format!("{file} is no source file of Rust: {error}"))
            })?;
            visit_items(&parsed.items, &path, module, types);
        }
    }
    Ok(())
}

fn visit_items(items: &[Item], file: &Path, module: &str, types: &mut Vec<DeclaredType>) {
    for item in items {
        let mut add = |ident: &Ident, fields| {
            types.push(DeclaredType {
                name: ident.unraw().to_string(),
                file: file.to_owned(),
                path: format!("{module}::{ident}"),
                fields,
            });
        };
        match item {
            Item::Struct(item) => add(&item.ident, item.fields.iter().cloned().collect()),
            Item::Enum(item) => add(&item.ident, Vec::new()),
            Item::Trait(item) => add(&item.ident, Vec::new()),
            Item::Type(item) => add(&item.ident, Vec::new()),
            Item::Union(item) => add(&item.ident, Vec::new()),
            Item::Mod(item) => {
                let items = item.content.as_ref().map(|(_, items)| items.as_slice());
                let module = format!("{module}::{}", item.ident);
                visit_items(items.unwrap_or_default(), file, &module, types);
            }
            _ => {}
        }
    }
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

    /// Returns the names of the fields that are the key of a read model.
    pub(crate) fn key(&self) -> impl Iterator<Item = String> {
        let is_key =
            |field: &&SourceField| field.attrs.iter().any(|one| one.path().is_ident("key"));
        self.fields.iter().filter(is_key).filter_map(name_of)
    }

    /// Fails unless the struct has a field of this name and one of these types.
    pub(crate) fn check_field(
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

    /// Returns the type of a field as the command line names it: without the modules in front of its names.
    fn field_type(&self, name: &str) -> Option<String> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| name_of(field).as_deref() == Some(name))?;
        let text = field.ty.to_token_stream().to_string().replace(' ', "");
        let names = text.split('<').map(|path| path.rsplit("::").next());
        Some(names.flatten().collect::<Vec<_>>().join("<"))
    }
}

fn name_of(field: &SourceField) -> Option<String> {
    field.ident.as_ref().map(|ident| ident.unraw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(files: &[(&str, &str)]) -> Vec<DeclaredType> {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        find_types(folder.path()).unwrap()
    }

    /// `rustc` accepts each path that the test expects.
    #[test]
    fn a_type_has_the_path_of_its_file() {
        let types = find_in(&[
            (
                "lib.rs",
                "mod book;\npub mod open { pub struct Inner; }\nstruct AtRoot;",
            ),
            (
                "book.rs",
                "pub mod events;\nmod r#return;\npub enum Book {}",
            ),
            ("book/events/mod.rs", "pub struct Bought;"),
            ("book/return.rs", "pub struct Returned;"),
        ]);
        let found = types.iter().map(|found| found.path.as_str());
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                "crate::AtRoot",
                "crate::book::Book",
                "crate::book::events::Bought",
                "crate::book::r#return::Returned",
                "crate::open::Inner",
            ]
        );
    }

    #[test]
    fn a_struct_is_found_however_it_is_laid_out() {
        let text = "pub struct OneLine { #[key] pub id: uuid::Uuid }\n\npub(crate) struct Apart\n{\n  pub(crate)\n  names: Vec<\n    std::string::String>,\n}\n";
        let types = find_in(&[("lib.rs", "mod one;"), ("one.rs", text)]);
        let check = |index: usize, field: &str| {
            let field: Field = field.parse().unwrap();
            types[index].check_field(&field.name, field.field_type, false)
        };
        assert_eq!(check(0, "names:Vec<String>"), Ok(()));
        assert!(check(0, "names:String").is_err());
        assert_eq!(check(1, "id:Uuid"), Ok(()));
        assert_eq!(types[1].key().collect::<Vec<_>>(), ["id"]);
    }
}
