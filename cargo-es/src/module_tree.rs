//! The modules of a crate, followed as the compiler does: by `mod`, `use` and their visibility.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility, ext::IdentExt as _};

use crate::{
    declared_type::{DeclaredType, fields_of},
    error::ToolError,
};

/// A source file with more bytes is none that a person wrote.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The names of the modules from the root, which itself has none. A keyword has its `r#`.
type ModulePath = Vec<String>;

/// A name in a module that stands for a type.
struct TypeBinding {
    module: ModulePath,
    name: String,
    /// The module that sees the name, with those inside it.
    scope: ModulePath,
    /// The index of the type.
    target: usize,
}

/// One name of a `pub use`, or all names of a module.
struct TypeExport {
    module: ModulePath,
    scope: ModulePath,
    source: ModulePath,
    /// Without a name, it exports all of them.
    name: Option<String>,
}

/// A source file below `src`.
struct ModuleFile {
    /// Relative to the application.
    path: PathBuf,
    text: String,
}

#[derive(Default)]
struct ModuleTree {
    application: PathBuf,
    types: Vec<DeclaredType>,
    /// The scope of each module.
    modules: BTreeMap<ModulePath, ModulePath>,
    bindings: Vec<TypeBinding>,
    exports: Vec<TypeExport>,
}

/// Returns all types in the modules of the crate whose root is this file. Those behind `#[cfg]` are not among them:
/// they are not always there.
pub(crate) fn find_types(application: &Path, root: &Path) -> Result<Vec<DeclaredType>, ToolError> {
    let mut tree = ModuleTree {
        application: application.to_owned(),
        ..ModuleTree::default()
    };
    tree.visit_file(root, &[])?;
    tree.follow_exports();
    let paths: Vec<_> = (0..tree.types.len())
        .map(|index| tree.import_path(index))
        .collect();
    for (declared, path) in tree.types.iter_mut().zip(paths) {
        declared.path = path;
    }
    Ok(tree.types)
}

impl ModuleTree {
    fn visit_file(&mut self, file: &Path, module: &[String]) -> Result<(), ToolError> {
        let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
        if size > MAX_BYTES {
            return Ok(());
        }
        let text = fs::read_to_string(file).map_err(|error| ToolError::io(file, &error))?;
        let path = file.strip_prefix(&self.application).unwrap_or(file);
        let parsed = syn::parse_file(&text).map_err(|error| {
            let file = path.display();
            ToolError::new(format!("{file} is no source file of Rust: {error}"))
        })?;
        let path = path.to_owned();
        self.visit_items(&parsed.items, module, &ModuleFile { path, text })
    }

    fn visit_items(
        &mut self,
        items: &[Item],
        module: &[String],
        file: &ModuleFile,
    ) -> Result<(), ToolError> {
        for item in items {
            match item {
                Item::Mod(item) if is_unconditional(&item.attrs) => {
                    self.visit_module(item, module, file)?;
                }
                Item::Use(item) if is_unconditional(&item.attrs) => {
                    self.visit_use(item, module);
                }
                _ => self.visit_type(item, module, file),
            }
        }
        Ok(())
    }

    fn visit_type(&mut self, item: &Item, module: &[String], file: &ModuleFile) {
        let (attrs, ident, visibility) = match item {
            Item::Struct(item) => (&item.attrs, &item.ident, &item.vis),
            Item::Enum(item) => (&item.attrs, &item.ident, &item.vis),
            Item::Trait(item) => (&item.attrs, &item.ident, &item.vis),
            Item::Type(item) => (&item.attrs, &item.ident, &item.vis),
            Item::Union(item) => (&item.attrs, &item.ident, &item.vis),
            _ => return,
        };
        if !is_unconditional(attrs) {
            return;
        }
        let name = ident.unraw().to_string();
        self.bindings.push(TypeBinding {
            module: module.to_vec(),
            name: name.clone(),
            scope: scope_of(visibility, module),
            target: self.types.len(),
        });
        let fields = fields_of(item, |visibility| scope_of(visibility, module).is_empty());
        let declared = DeclaredType::new(name, file.path.clone(), &file.text, fields);
        self.types.push(declared.with_attributes(attrs));
    }

    fn visit_module(
        &mut self,
        item: &ItemMod,
        around: &[String],
        file: &ModuleFile,
    ) -> Result<(), ToolError> {
        let name = item.ident.to_string();
        let module: ModulePath = around.iter().cloned().chain([name]).collect();
        let scope = scope_of(&item.vis, around);
        self.modules.insert(module.clone(), scope);
        if let Some((_, items)) = &item.content {
            return self.visit_items(items, &module, file);
        }
        let folder: PathBuf = [self.application.join("src")]
            .into_iter()
            .chain(
                module
                    .iter()
                    .map(|name| name.trim_start_matches("r#").into()),
            )
            .collect();
        let files = [folder.with_extension("rs"), folder.join("mod.rs")];
        match files.iter().find(|file| file.is_file()) {
            Some(file) => self.visit_file(file, &module),
            // The compiler says so.
            None => Ok(()),
        }
    }

    fn visit_use(&mut self, item: &ItemUse, module: &[String]) {
        // Only the module itself and those inside it see a `use` without `pub`.
        if !matches!(item.vis, Visibility::Inherited) {
            let scope = scope_of(&item.vis, module);
            self.add_exports(&item.tree, module, &scope, module.to_vec());
        }
    }

    fn add_exports(
        &mut self,
        tree: &UseTree,
        module: &[String],
        scope: &[String],
        source: ModulePath,
    ) {
        let name = match tree {
            UseTree::Path(path) => {
                let source = resolve(&path.ident.to_string(), source);
                return self.add_exports(&path.tree, module, scope, source);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_exports(tree, module, scope, source.clone());
                }
                return;
            }
            // Under another name, the generated code would not find the type.
            UseTree::Rename(_) => return,
            UseTree::Name(name) => Some(name.ident.to_string()),
            UseTree::Glob(_) => None,
        };
        self.exports.push(TypeExport {
            module: module.to_vec(),
            scope: scope.to_vec(),
            source,
            name,
        });
    }

    /// Adds the names that exports give to types, until there are no more.
    fn follow_exports(&mut self) {
        loop {
            let mut added = Vec::new();
            for export in &self.exports {
                let exported = self.bindings.iter().filter(|binding| {
                    binding.module == export.source
                        && export.module.starts_with(&binding.scope)
                        && export
                            .name
                            .as_ref()
                            .is_none_or(|name| *name == binding.name)
                });
                let new = exported.filter(|binding| !self.has(&export.module, &binding.name));
                added.extend(new.map(|binding| TypeBinding {
                    module: export.module.clone(),
                    name: binding.name.clone(),
                    // A star does not widen who sees a name.
                    scope: export.scope.clone().max(binding.scope.clone()),
                    target: binding.target,
                }));
            }
            if added.is_empty() {
                return;
            }
            self.bindings.extend(added);
        }
    }

    fn has(&self, module: &[String], name: &str) -> bool {
        let mut bindings = self.bindings.iter();
        bindings.any(|binding| binding.module == module && binding.name == name)
    }

    /// Returns the shortest path of a type that the whole crate sees.
    fn import_path(&self, target: usize) -> Option<String> {
        let bindings = self.bindings.iter().filter(|binding| {
            binding.target == target
                && binding.scope.is_empty()
                && self.is_reachable(&binding.module)
        });
        let shortest = bindings.min_by_key(|binding| binding.module.len())?;
        let path = ["crate"].into_iter();
        let path = path.chain(shortest.module.iter().map(String::as_str));
        let path: Vec<_> = path.chain([shortest.name.as_str()]).collect();
        Some(path.join("::"))
    }

    /// Returns whether the whole crate sees a module and those around it.
    fn is_reachable(&self, module: &[String]) -> bool {
        let around = (1..=module.len()).filter_map(|length| module.get(..length));
        let mut scopes = around.filter_map(|module| self.modules.get(module));
        scopes.all(Vec::is_empty)
    }
}

fn is_unconditional(attrs: &[Attribute]) -> bool {
    !attrs.iter().any(|attr| attr.path().is_ident("cfg"))
}

/// Returns the module that sees an item of a module, with those inside it.
fn scope_of(visibility: &Visibility, module: &[String]) -> ModulePath {
    match visibility {
        Visibility::Public(_) => ModulePath::new(),
        Visibility::Inherited => module.to_vec(),
        Visibility::Restricted(restricted) => {
            let segments = restricted.path.segments.iter();
            segments.fold(module.to_vec(), |scope, segment| {
                resolve(&segment.ident.to_string(), scope)
            })
        }
    }
}

/// Returns the module that a segment of a path leads to.
fn resolve(segment: &str, mut module: ModulePath) -> ModulePath {
    match segment {
        "crate" => module.clear(),
        "self" => {}
        "super" => {
            module.pop();
        }
        name => module.push(name.to_owned()),
    }
    module
}

#[cfg(test)]
mod tests;
