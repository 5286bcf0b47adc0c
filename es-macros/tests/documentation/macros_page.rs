//! Checks that `docs/src/reference/macros.md` is complete. The macros, attributes and keys come
//! from the source of this crate, so the test needs no list.

use std::{fs, path::Path};

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::{Expr, ExprLit, File, Item, Lit};

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reference/macros.md");
    fs::read_to_string(page).unwrap()
}

/// Returns the words in backticks in the paragraphs and tables that name the attribute.
fn words_about(page: &str, attribute: &str) -> Vec<String> {
    let begin = format!("#[{attribute}(");
    let blocks = page.split("\n\n").filter(|block| block.contains(&begin));
    let code = blocks.flat_map(|block| block.split('`').skip(1).step_by(2));
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    code.flat_map(|code| code.split(|character| !is_part(character)))
        .map(str::to_owned)
        .collect()
}

/// Returns the source files of this crate without their tests.
fn sources(folder: &Path, found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            let mut file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
            file.items
                .retain(|item| !matches!(item, Item::Mod(tests) if tests.content.is_some()));
            found.push(file);
        }
    }
}

fn all_sources() -> Vec<File> {
    let mut found = vec![];
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    found
}

/// Collects the arguments of each `SeenKeys::new(…)`.
fn calls(tokens: TokenStream, found: &mut Vec<Group>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for window in tokens.windows(5) {
        if let [
            TokenTree::Ident(ty),
            _,
            _,
            TokenTree::Ident(new),
            TokenTree::Group(group),
        ] = window
            && ty == "SeenKeys"
            && new == "new"
        {
            found.push(group.clone());
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            calls(group.stream(), found);
        }
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

fn constant<'a>(file: &'a File, name: &str) -> Option<&'a Expr> {
    file.items.iter().find_map(|item| match item {
        Item::Const(constant) if constant.ident == name => Some(&*constant.expr),
        _ => None,
    })
}

/// Returns the strings of `&["a", "b"]`, or of the constant with this name.
fn texts(expr: &Expr, file: &File) -> Vec<String> {
    match expr {
        Expr::Reference(reference) => texts(&reference.expr, file),
        Expr::Array(array) => array.elems.iter().filter_map(text).collect(),
        Expr::Path(path) => {
            let name = path.path.require_ident().unwrap().to_string();
            texts(constant(file, &name).unwrap(), file)
        }
        _ => panic!("the keys of an attribute are a list"),
    }
}

#[test]
fn the_reference_names_every_key_of_every_attribute() {
    let page = page();
    let mut checked = 0;
    for file in all_sources() {
        let mut found = vec![];
        calls(quote::quote!(#file), &mut found);
        for arguments in found {
            let arguments: syn::ExprTuple =
                syn::parse2(TokenTree::Group(arguments).into()).unwrap();
            let [attribute, keys] = [&arguments.elems[0], &arguments.elems[1]];
            // Skips a call that gets the name from a variable. It reads the arguments of a key, not the keys of an attribute.
            let Some(attribute) = text(attribute) else {
                continue;
            };
            let attribute = attribute.split('(').next().unwrap();
            let words = words_about(&page, attribute);
            for key in texts(keys, &file) {
                assert!(
                    words.contains(&key),
                    "docs/src/reference/macros.md does not tell what `{key}` means in `#[{attribute}(…)]`"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "only {checked} keys were found");
}

#[test]
fn the_reference_names_every_filter() {
    let words = words_about(&page(), "filter");
    let filters: Vec<_> = all_sources()
        .iter()
        .filter_map(|file| constant(file, "FILTERS").map(|filters| texts(filters, file)))
        .flatten()
        .collect();
    assert!(filters.len() > 4, "only {filters:?} were found");
    for filter in filters {
        assert!(words.contains(&filter), "{filter}");
    }
}

/// Returns the macros and attributes that `#[proc_macro_derive(Command, attributes(command, es))]`
/// and similar attributes declare.
fn declared(file: &File) -> Vec<String> {
    let functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    let mut all = vec![];
    for function in functions {
        for attr in &function.attrs {
            if attr.path().is_ident("proc_macro_attribute") {
                all.push(format!("#[{}", function.sig.ident));
            } else if attr.path().is_ident("proc_macro_derive") {
                let list = attr.meta.require_list().unwrap();
                for token in list.tokens.clone() {
                    match token {
                        TokenTree::Ident(name) if name != "attributes" => {
                            all.push(format!("#[derive({name})]"));
                        }
                        TokenTree::Group(attributes) => {
                            let names = attributes.stream().into_iter();
                            let names = names.filter(|one| matches!(one, TokenTree::Ident(_)));
                            all.extend(names.map(|name| format!("#[{name}")));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    all
}

#[test]
fn the_reference_names_every_macro_and_attribute() {
    let page = page();
    let all: Vec<_> = all_sources().iter().flat_map(declared).collect();
    assert!(all.len() > 40, "only {all:?} were found");
    for name in all {
        assert!(
            page.contains(&name),
            "docs/src/reference/macros.md does not tell of `{name}`"
        );
    }
}
