//! Compares what the macros write with the snapshots in `codegen-tests/expansion`.

use std::{fs, path::PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{Attribute, Item};

use super::{command, event, handler, manifest::Manifest};

const MANIFEST: &str = r#"
    [package.metadata.es-framework]
    package = "com.example.library"

    [dependencies]
    es-framework = "0.1"
"#;

/// Expands the one item of each file in the folder, and compares it with the snapshot beside it.
fn compare(folder: &str, expand: fn(Item, &Manifest) -> TokenStream) {
    let folder: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "../codegen-tests/expansion",
        folder,
    ]
    .iter()
    .collect();
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    for input in inputs {
        let item = syn::parse_file(&fs::read_to_string(&input).unwrap()).unwrap();
        let item = item.items.into_iter().last().unwrap();
        let expanded = expand(item, &Manifest::parse(MANIFEST));
        let expanded = prettyplease::unparse(&syn::parse2(expanded).unwrap());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = input.file_stem().unwrap().to_str().unwrap();
        settings.bind(|| insta::assert_snapshot!(name, expanded));
    }
}

/// What the compiler hands to a derive: the item without the derive itself.
fn derive(
    item: Item,
    derive: fn(TokenStream, &Manifest) -> TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let Item::Struct(mut item) = item else {
        panic!("a derive stands on a struct");
    };
    let is_derive = |attr: &mut Attribute| attr.path().is_ident("derive");
    item.attrs.extract_if(.., is_derive).for_each(drop);
    derive(item.into_token_stream(), manifest)
}

#[test]
fn a_command_expands_to_what_a_person_would_write() {
    compare("command", |item, manifest| {
        derive(item, command::derive, manifest)
    });
}

#[test]
fn an_event_expands_to_what_a_person_would_write() {
    compare("event", |item, manifest| {
        derive(item, event::derive, manifest)
    });
}

#[test]
fn a_handler_expands_to_what_a_person_would_write() {
    compare("handler", |item, manifest| {
        let Item::Fn(mut item) = item else {
            panic!("a handler is a function");
        };
        let is_handler = |attr: &mut Attribute| attr.path().is_ident("handler");
        item.attrs.extract_if(.., is_handler).for_each(drop);
        handler::handler(TokenStream::new(), item.into_token_stream(), manifest)
    });
}
