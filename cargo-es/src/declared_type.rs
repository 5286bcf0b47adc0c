//! Types that an application declares, found in the text of its source files.

use std::{
    fs,
    path::{Path, PathBuf},
};

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
    /// The names of the public fields of a struct, with their types as written.
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

    /// Fails unless the struct has a field of this name and type.
    pub(crate) fn check_field(&self, name: &str, field_type: FieldType) -> Result<(), ToolError> {
        let (owner, text) = (&self.name, field_type.to_rust_type());
        match self.field_type(name) {
            Some(written) if written == text => Ok(()),
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
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some(name) = declared_name(line) else {
            continue;
        };
        let has_fields = line.trim_end().ends_with('{');
        let body = lines
            .clone()
            .map(|(line, _)| line)
            .take_while(|line| has_fields && !line.starts_with('}'));
        types.push(DeclaredType {
            path: path_of(file, relative, name),
            name: name.to_owned(),
            file: relative.to_owned(),
            line: number,
            fields: body.filter_map(field_in).collect(),
        });
    }
    Ok(())
}

/// Returns the name of the type that a line of a file declares.
fn declared_name(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("pub ")
        .or(line.strip_prefix("pub(crate) "))
        .unwrap_or(line);
    let keywords = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = keywords
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_');
    rest.get(..end.unwrap_or(rest.len()))
}

fn field_in(line: &str) -> Option<(String, String)> {
    let (name, field_type) = line
        .trim()
        .strip_prefix("pub ")?
        .strip_suffix(',')?
        .split_once(": ")?;
    Some((name.to_owned(), field_type.to_owned()))
}

/// Returns the path of a type for `use`. A module around its own that exports the type with `pub use`
/// stands for the inner one, which may be private.
fn path_of(file: &Path, relative: &Path, name: &str) -> String {
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
    path.chain([name.to_owned()]).collect::<Vec<_>>().join("::")
}

fn is_exported(file: &Path, name: &str) -> bool {
    let parent = file.with_file_name("mod.rs");
    let text = fs::read_to_string(parent).unwrap_or_default();
    let mut exports = text.lines().filter(|line| line.starts_with("pub use "));
    let is_other = |one: char| !one.is_alphanumeric() && one != '_';
    exports.any(|line| line.split(is_other).any(|word| word == name))
}
