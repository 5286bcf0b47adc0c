//! The types in the modules of a crate, found by its `mod` items.

use std::path::{Path, PathBuf};

use es_event::foreign_text::read_text;
use syn::{Attribute, Item, ItemMod, Visibility, ext::IdentExt as _};

use crate::{
    declared_type::{DeclaredType, fields_of},
    error::ToolError,
};

/// A module of the crate.
struct Module {
    /// The names of the modules from the root, which itself has none. A keyword has its `r#`.
    names: Vec<String>,
    /// True if the whole crate sees it.
    is_visible: bool,
}

/// A source file below `src`.
struct ModuleFile {
    /// Relative to the application.
    path: PathBuf,
    text: String,
}

/// Returns all types in the modules of the crate whose root is this file. Those behind `#[cfg]` are not among them:
/// they are not always there.
pub(crate) fn find_types(application: &Path, root: &Path) -> Result<Vec<DeclaredType>, ToolError> {
    let module = Module {
        names: Vec::new(),
        is_visible: true,
    };
    let mut types = Vec::new();
    visit_file(application, root, &module, &mut types)?;
    Ok(types)
}

fn visit_file(
    application: &Path,
    file: &Path,
    module: &Module,
    types: &mut Vec<DeclaredType>,
) -> Result<(), ToolError> {
    let text = read_text(file).map_err(|error| ToolError::io(file, &error))?;
    let path = file.strip_prefix(application).unwrap_or(file).to_owned();
    let parsed = syn::parse_file(&text).map_err(|error| {
        let file = path.display();
        ToolError::new(format!("{file} is no source file of Rust: {error}"))
    })?;
    let file = ModuleFile { path, text };
    visit_items(application, &parsed.items, module, &file, types)
}

fn visit_items(
    application: &Path,
    items: &[Item],
    module: &Module,
    file: &ModuleFile,
    types: &mut Vec<DeclaredType>,
) -> Result<(), ToolError> {
    for item in items {
        match item {
            Item::Mod(item) if is_unconditional(&item.attrs) => {
                visit_module(application, item, module, file, types)?;
            }
            _ => types.extend(find_type(item, module, file)),
        }
    }
    Ok(())
}

fn visit_module(
    application: &Path,
    item: &ItemMod,
    around: &Module,
    file: &ModuleFile,
    types: &mut Vec<DeclaredType>,
) -> Result<(), ToolError> {
    let names = around.names.iter().cloned();
    let module = Module {
        is_visible: around.sees_whole_crate(&item.vis),
        names: names.chain([item.ident.to_string()]).collect(),
    };
    if let Some((_, items)) = &item.content {
        return visit_items(application, items, &module, file, types);
    }
    let mut folder = application.join("src");
    folder.extend(
        module
            .names
            .iter()
            .map(|name| name.trim_start_matches("r#")),
    );
    let files = [folder.with_extension("rs"), folder.join("mod.rs")];
    match files.iter().find(|file| file.is_file()) {
        Some(file) => visit_file(application, file, &module, types),
        // The compiler says so.
        None => Ok(()),
    }
}

fn find_type(item: &Item, module: &Module, file: &ModuleFile) -> Option<DeclaredType> {
    let (attrs, ident, visibility) = match item {
        Item::Struct(item) => (&item.attrs, &item.ident, &item.vis),
        Item::Enum(item) => (&item.attrs, &item.ident, &item.vis),
        Item::Trait(item) => (&item.attrs, &item.ident, &item.vis),
        Item::Type(item) => (&item.attrs, &item.ident, &item.vis),
        Item::Union(item) => (&item.attrs, &item.ident, &item.vis),
        _ => return None,
    };
    if !is_unconditional(attrs) {
        return None;
    }
    let name = ident.unraw().to_string();
    let fields = fields_of(item, |visibility| module.sees_whole_crate(visibility));
    let path = ["crate"].into_iter();
    let path = path.chain(module.names.iter().map(String::as_str));
    let path = path.chain([name.as_str()]).collect::<Vec<_>>().join("::");
    let mut declared = DeclaredType::new(name, file.path.clone(), &file.text, fields);
    declared.path = module.sees_whole_crate(visibility).then_some(path);
    Some(declared.with_attributes(attrs))
}

impl Module {
    /// Returns whether the whole crate sees an item of this module.
    fn sees_whole_crate(&self, visibility: &Visibility) -> bool {
        self.is_visible
            && match visibility {
                Visibility::Public(_) => true,
                Visibility::Inherited => self.names.is_empty(),
                Visibility::Restricted(restricted) => {
                    let path = &restricted.path;
                    path.is_ident("crate") || path.is_ident("super") && self.names.len() == 1
                }
            }
    }
}

fn is_unconditional(attrs: &[Attribute]) -> bool {
    !attrs.iter().any(|attr| attr.path().is_ident("cfg"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn find_in(files: &[(&str, &str)]) -> Vec<DeclaredType> {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = folder.path().join("src").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        find_types(folder.path(), &folder.path().join("src/lib.rs")).unwrap()
    }

    /// `rustc` accepts each path that the test expects.
    #[test]
    fn a_type_that_the_whole_crate_sees_has_a_path() {
        let types = find_in(&[
            (
                "lib.rs",
                "mod book;\npub mod open { pub struct Inner; mod closed { pub struct Closed; } }\n\
                 #[cfg(test)]\nmod tests;\nstruct AtRoot;",
            ),
            (
                "book.rs",
                "pub mod events;\nmod r#return;\npub(crate) struct Book;\npub(super) struct Lent;\nstruct Page;\n\
                 #[cfg(test)]\npub struct Sample;",
            ),
            (
                "book/events/mod.rs",
                "pub struct Bought;\npub(super) struct Priced;",
            ),
            ("book/return.rs", "pub struct Returned;"),
            ("tests.rs", "pub struct Tested;"),
        ]);
        let found = types
            .iter()
            .map(|found| (found.name.as_str(), found.path.as_deref()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                ("Bought", Some("crate::book::events::Bought")),
                ("Priced", None),
                ("Returned", None),
                ("Book", Some("crate::book::Book")),
                ("Lent", Some("crate::book::Lent")),
                ("Page", None),
                ("Inner", Some("crate::open::Inner")),
                ("Closed", None),
                ("AtRoot", Some("crate::AtRoot")),
            ]
        );
    }

    #[test]
    fn a_struct_is_found_however_it_is_laid_out() {
        let text = "pub struct OneLine { #[key] pub id: uuid::Uuid, secret: bool }\n\npub(crate) struct Apart\n{\n  pub(crate)\n  names: Vec<\n    std::string::String>,\n}\nmod hidden { pub struct Inside; }\npub mod open { pub struct Inner { pub(super) at: Option<jiff::Timestamp> } }\n";
        let types = find_in(&[("lib.rs", "mod one;"), ("one.rs", text)]);
        let found = types.iter().map(|found| (found.name.as_str(), found.line));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [("OneLine", 1), ("Apart", 3), ("Inside", 9), ("Inner", 10)]
        );
        let check = |index: usize, field: &str| {
            let field: crate::field::Field = field.parse().unwrap();
            types[index].check_field(&field.name, field.field_type)
        };
        assert_eq!(check(0, "id:Uuid"), Ok(()));
        assert_eq!(types[0].key().collect::<Vec<_>>(), ["id"]);
        assert!(check(0, "secret:bool").is_err());
        assert_eq!(check(1, "names:Vec<String>"), Ok(()));
        // Only `one` sees the field.
        assert!(check(3, "at:Option<Timestamp>").is_err());
    }
}
