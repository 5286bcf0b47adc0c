//! The application around the current folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    declared_type::{self, DeclaredType},
    error::ToolError,
    files, module_line,
    names::{TypeName, TypePath},
    new_module::NewModule,
};

/// An application that declarations are added to.
pub(crate) struct ScaffoldTarget {
    folder: PathBuf,
    /// The file with the `mod` lines.
    root: PathBuf,
    root_text: String,
    types: Vec<DeclaredType>,
}

impl ScaffoldTarget {
    /// Reads the application in this folder or in a folder around it.
    pub(crate) fn find(folder: &Path) -> Result<Self, ToolError> {
        let manifest = folder.ancestors().map(|folder| folder.join("Cargo.toml"));
        let Some(manifest) = manifest.into_iter().find(|path| path.is_file()) else {
            return Err(ToolError::new(
                "there is no application here: run this in the folder of one, or write one with `cargo es new`",
            ));
        };
        check_manifest(&manifest)?;
        let folder = manifest.parent().unwrap_or(folder).to_owned();
        // A program beside a library only starts it.
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        let Some(root) = roots.into_iter().find(|root| root.is_file()) else {
            let folder = folder.display();
            return Err(ToolError::new(format!(
                "{folder} has neither src/main.rs nor src/lib.rs"
            )));
        };
        let root_text = fs::read_to_string(&root).map_err(|error| ToolError::io(&root, &error))?;
        let types = declared_type::find_types(&folder.join("src"))?;
        Ok(Self {
            folder,
            root,
            root_text,
            types,
        })
    }

    /// Returns the folder of the application.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fails if the application declares a type of this name.
    pub(crate) fn check_type_is_new(&self, name: &TypeName) -> Result<(), ToolError> {
        let name = name.to_string();
        match self.types.iter().find(|declared| declared.name == name) {
            None => Ok(()),
            Some(declared) => Err(ToolError::new(format!(
                "{name} exists in {}",
                self.relative(&declared.file)
            ))),
        }
    }

    /// Returns the type that a path of the command line names.
    pub(crate) fn require(&self, noun: &str, path: &TypePath) -> Result<&DeclaredType, ToolError> {
        let mut found = self.types.iter().filter(|one| path.ends(&one.path));
        let first = found.next().ok_or_else(|| {
            ToolError::new(format!(
                "there is no {noun} {path} in the files below src: add it first"
            ))
        })?;
        match found.find(|other| other.path != first.path) {
            None => Ok(first),
            Some(other) => Err(ToolError::new(format!(
                "there are several types {path}: write {} or {}",
                first.path, other.path
            ))),
        }
    }

    /// Writes the file of a new module and its `mod` line. Returns a report.
    pub(crate) fn write_module(&self, module: &NewModule) -> Result<String, ToolError> {
        let source = self.root.parent().unwrap_or(&self.folder);
        let name = &module.name;
        let (file, folder) = (source.join(format!("{name}.rs")), source.join(name));
        for path in [&file, &folder] {
            if path.exists() {
                return Err(ToolError::new(format!("{} exists", path.display())));
            }
        }
        let root = self.relative(&self.root);
        if module_line::declares(&self.root_text, name) {
            return Err(ToolError::new(format!("{root} has a module `{name}`")));
        }
        let root_text = module_line::insert_mod_line(&self.root_text, name);
        files::add_module((&file, &module.text), (&self.root, root_text.as_deref()))?;
        let line = match root_text {
            Some(_) => format!("and {root} has the line `mod {name};`"),
            None => {
                format!("which the line `mod {name};` adds to the application: write it in {root}")
            }
        };
        let hint = files::format_source(&file);
        let file = self.relative(&file);
        Ok(format!(
            "{file} is new, {line}.\n`cargo test {name}::` says what to decide.\n{hint}"
        ))
    }

    fn relative(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.folder).unwrap_or(path);
        relative.display().to_string()
    }
}

/// Fails unless the manifest is that of an application.
fn check_manifest(manifest: &Path) -> Result<(), ToolError> {
    let text = fs::read_to_string(manifest).map_err(|error| ToolError::io(manifest, &error))?;
    let table: toml::Table = text
        .parse()
        .map_err(|_| ToolError::new(format!("{} is no TOML", manifest.display())))?;
    let depends = table
        .get("dependencies")
        .is_some_and(|dependencies| dependencies.get("es-framework").is_some());
    if table.contains_key("package") && depends {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "{} is no application, for it has no dependency `es-framework`",
        manifest.display()
    )))
}
