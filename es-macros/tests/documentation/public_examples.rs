//! Checks that every public item of the framework has an example. The test lives here because this
//! crate can parse Rust. The compiler warns about `pub` items that are not reachable, so every
//! other one is public. Items that are public only for the other crates of the framework are hidden
//! from the documentation, by themselves, with their module or crate, or by the `pub use` of a private module.

use std::{
    fs,
    path::{Path, PathBuf},
};

use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree, Visibility};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the modules that a file hides from the documentation: their paths, without the ends of their files. A
/// crate that is hidden is the folder of its sources.
fn hidden_modules(file: &Path, code: &str) -> Vec<PathBuf> {
    let parsed = syn::parse_file(code).unwrap();
    let folder = folder_of_modules(file);
    if parsed.attrs.iter().any(is_hidden) {
        return vec![folder];
    }
    let modules = parsed.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.attrs.iter().any(is_hidden) => Some(module),
        _ => None,
    });
    let stems = modules.flat_map(|module| {
        let other = module.attrs.iter().filter_map(other_file);
        other.chain([module.ident.to_string()]).collect::<Vec<_>>()
    });
    stems.map(|stem| folder.join(stem)).collect()
}

/// Returns the folder of the modules that a file declares.
fn folder_of_modules(file: &Path) -> PathBuf {
    match file.file_stem().unwrap().to_str() {
        Some("lib" | "mod" | "main") => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    }
}

/// Returns the items of private modules that a file makes public and hides from the documentation: the path of the module
/// without the end of its file, and the name of the item.
fn hidden_items(file: &Path, code: &str) -> Vec<(PathBuf, String)> {
    let folder = folder_of_modules(file);
    let mut found = vec![];
    for item in syn::parse_file(code).unwrap().items {
        if let Item::Use(item) = item
            && item.attrs.iter().any(is_hidden)
            && let UseTree::Path(path) = item.tree
        {
            let module = folder.join(path.ident.to_string());
            found.extend(
                names_of(&path.tree)
                    .into_iter()
                    .map(|name| (module.clone(), name)),
            );
        }
    }
    found
}

fn names_of(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Group(group) => group.items.iter().flat_map(names_of).collect(),
        _ => vec![],
    }
}

/// Returns the file that an attribute such as `path = "no_traces.rs"` names, without its end.
fn other_file(attr: &Attribute) -> Option<String> {
    let text = attr.meta.to_token_stream().to_string();
    let (_, path) = text.split_once("path = \"")?;
    Some(path.split_once(".rs\"")?.0.to_owned())
}

fn is_hidden(attr: &Attribute) -> bool {
    attr.path().is_ident("doc")
        && attr.meta.to_token_stream().to_string().replace(' ', "") == "doc(hidden)"
}

/// Returns the name of an item, if it is public.
fn name(item: &Item) -> Option<(String, &[Attribute])> {
    let (vis, ident, attrs) = match item {
        Item::Const(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs),
        Item::Static(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Struct(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Type(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Union(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Macro(item) => {
            let is_exported = |attr: &Attribute| attr.path().is_ident("macro_export");
            let is_public = item.attrs.iter().any(is_exported);
            let name = item.ident.as_ref().filter(|_| is_public)?;
            return Some((format!("{name}!"), &item.attrs));
        }
        _ => return None,
    };
    matches!(vis, Visibility::Public(_)).then(|| (ident.to_string(), attrs.as_slice()))
}

/// Returns true if the item has an example or is hidden from the documentation.
fn is_shown(attrs: &[Attribute]) -> bool {
    let docs = attrs.iter().filter(|attr| attr.path().is_ident("doc"));
    let mut texts = docs.map(|attr| attr.meta.to_token_stream().to_string());
    texts.any(|text| text.contains("```")) || attrs.iter().any(is_hidden)
}

/// Collects the items without an example and counts all items.
fn without_example(code: &str) -> (Vec<String>, usize) {
    let items = syn::parse_file(code).unwrap().items;
    let public: Vec<_> = items.iter().filter_map(name).collect();
    let lacking = public.iter().filter(|(_, attrs)| !is_shown(attrs));
    (
        lacking.map(|(name, _)| name.clone()).collect(),
        public.len(),
    )
}

#[test]
fn every_public_item_of_the_framework_has_an_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../es-framework");
    let mut files = vec![];
    sources(&folder.join("src"), &mut files);
    for package in fs::read_dir(folder.join("crates")).unwrap() {
        sources(&package.unwrap().path().join("src"), &mut files);
    }
    let read = |file: PathBuf| (fs::read_to_string(&file).unwrap(), file);
    let files: Vec<_> = files.into_iter().map(read).collect();
    let hidden = files
        .iter()
        .flat_map(|(code, file)| hidden_modules(file, code));
    let hidden: Vec<_> = hidden.collect();
    let is_hidden = |file: &Path| {
        hidden
            .iter()
            .any(|module| file.with_extension("").starts_with(module))
    };
    let items = files
        .iter()
        .flat_map(|(code, file)| hidden_items(file, code));
    let items: Vec<_> = items.collect();
    let (mut lacking, mut all) = (vec![], 0);
    for (code, file) in files.iter().filter(|(_, file)| !is_hidden(file)) {
        let place = file.strip_prefix(&folder).unwrap().display().to_string();
        let (names, count) = without_example(code);
        let module = file.with_extension("");
        let shown = names
            .into_iter()
            .filter(|name| !items.contains(&(module.clone(), name.clone())));
        lacking.extend(shown.map(|name| format!("{name} in {place}")));
        all += count;
    }
    assert!(all > 200, "only {all} public items were found");
    assert!(lacking.is_empty(), "add an example to: {lacking:#?}");
}

#[test]
fn an_item_without_an_example_is_found() {
    let code = "
        /// An example follows.
        ///
        /// ```
        /// ```
        pub struct WithExample;

        /// No example.
        pub struct WithoutExample;

        #[doc(hidden)]
        pub struct Hidden;

        pub(crate) struct NotPublic;
    ";
    assert_eq!(
        without_example(code),
        (vec!["WithoutExample".to_owned()], 3)
    );
}

#[test]
fn an_item_is_hidden_by_the_use_that_makes_it_public() {
    let code = "
        #[doc(hidden)]
        pub use meter::{StoreMeter, measure};
        pub use options::Bound;
    ";
    let module = Path::new("src/meter");
    assert_eq!(
        hidden_items(Path::new("src/lib.rs"), code),
        ["StoreMeter", "measure"].map(|name| (module.to_owned(), name.to_owned()))
    );
}

#[test]
fn a_module_is_hidden_by_its_parent() {
    let code = "
        mod read;
        #[doc(hidden)]
        pub mod write;
    ";
    let found = |file: &str| hidden_modules(Path::new(file), code);
    assert_eq!(found("src/lib.rs"), [Path::new("src/write")]);
    assert_eq!(found("src/port.rs"), [Path::new("src/port/write")]);
    assert_eq!(
        hidden_modules(Path::new("src/lib.rs"), "#![doc(hidden)]"),
        [Path::new("src")]
    );
}
