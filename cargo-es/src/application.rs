//! The application around the current folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    declared_type::DeclaredType,
    error::ToolError,
    files, module_line, module_tree,
    names::{CommandName, EventName, TypeName},
    source_parts,
};

/// An application that declarations are added to.
#[derive(Debug)]
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
        let types = module_tree::find_types(&folder, &root)?;
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

    /// Returns all types of this name.
    pub(crate) fn types_named(&self, name: &str) -> impl Iterator<Item = &DeclaredType> {
        self.types
            .iter()
            .filter(move |declared| declared.name == name)
    }

    /// Returns the subject on which an event occurs, if its attribute or that of its command says it.
    pub(crate) fn subject_of<'a>(&'a self, event: &'a DeclaredType) -> Option<&'a str> {
        let command = || self.types_named(event.command.as_deref()?).next();
        let subject = event.subject.as_ref();
        let subject = subject.or_else(|| command()?.subject.as_ref())?;
        // A subject below that of a command is not known here.
        subject.starts_with('/').then_some(subject.as_str())
    }

    /// Fails if the application declares a type of this name.
    pub(crate) fn check_type_is_new(&self, name: &str) -> Result<(), ToolError> {
        match self.types_named(name).next() {
            None => Ok(()),
            Some(declared) => Err(ToolError::new(format!(
                "{name} exists in {}",
                declared.file.display()
            ))),
        }
    }

    pub(crate) fn require_event(&self, name: &EventName) -> Result<&DeclaredType, ToolError> {
        self.declared("event", &name.type_name())
    }

    pub(crate) fn require_command(&self, name: &CommandName) -> Result<&DeclaredType, ToolError> {
        self.declared("command", &name.type_name())
    }

    pub(crate) fn require_read_model(&self, name: &TypeName) -> Result<&DeclaredType, ToolError> {
        self.declared("read model", name.as_str())
    }

    fn declared(&self, noun: &str, name: &str) -> Result<&DeclaredType, ToolError> {
        let visible = self.types_named(name).find(|one| one.path.is_some());
        let declared = visible.or_else(|| self.types_named(name).next());
        declared.ok_or_else(|| {
            ToolError::new(format!(
                "there is no {noun} {name} in the modules of {}, apart from those with `#[cfg]`: add it first",
                self.relative(&self.root)
            ))
        })
    }

    /// Writes the file of a new module and its `mod` line. Returns a report.
    pub(crate) fn write_module(&self, module: &str, text: &str) -> Result<String, ToolError> {
        let source = self.root.parent().unwrap_or(&self.folder);
        let (file, folder) = (source.join(format!("{module}.rs")), source.join(module));
        for path in [&file, &folder] {
            if path.exists() {
                return Err(ToolError::new(format!("{} exists", path.display())));
            }
        }
        let root = self.relative(&self.root);
        if module_line::declares(&self.root_text, module) {
            return Err(ToolError::new(format!("{root} has a module `{module}`")));
        }
        let root_text = module_line::insert_mod_line(&self.root_text, module);
        files::add_module((&file, text), (&self.root, &root_text))?;
        let hint = source_parts::format_file(&file);
        let file = self.relative(&file);
        Ok(format!(
            "{file} is new, and {root} has the line `mod {module};`.\n`cargo test {module}::` says what to decide.\n{hint}"
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
