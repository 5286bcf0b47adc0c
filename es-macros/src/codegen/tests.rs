//! Compares the expansions of the macros with the snapshots in `codegen-tests/expansion`, and checks
//! that the macros do not panic on invalid input.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, DeriveInput, Item};

use super::{
    command, event, evolve, handler, manifest::Manifest, projection, public_event, publish, query,
    query_handler, reaction, read_model, rejection, service, settings, state, upcast, value,
};

const MANIFEST: &str = r#"
    [package.metadata.es-framework]
    package = "com.example.library"

    [dependencies]
    es-framework = "0.1"
"#;

fn folder(name: &str) -> PathBuf {
    let root = env!("CARGO_MANIFEST_DIR");
    [root, "../codegen-tests/expansion", name].iter().collect()
}

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut inputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    inputs
}

/// Expands the item of each file in the folder, and compares it with the snapshot in the same folder.
fn compare(name: &str, expand: fn(Item, &Manifest) -> TokenStream) {
    let folder = folder(name);
    for input in inputs(&folder) {
        let file = syn::parse_file(&fs::read_to_string(&input).unwrap()).unwrap();
        let item = file.items.into_iter().last().unwrap();
        let tokens = expand(item, &Manifest::parse(MANIFEST));
        let expanded = prettyplease::unparse(&syn::parse2(tokens).unwrap());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = input.file_stem().unwrap().to_str().unwrap();
        settings.bind(|| insta::assert_snapshot!(name, expanded));
    }
}

/// Returns the input of a derive macro: the item without the derive itself.
fn derive(
    item: Item,
    derive: fn(TokenStream, &Manifest) -> TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut item: DeriveInput = syn::parse2(item.into_token_stream()).unwrap();
    let is_derive = |attr: &mut Attribute| attr.path().is_ident("derive");
    item.attrs.extract_if(.., is_derive).for_each(drop);
    derive(item.into_token_stream(), manifest)
}

#[test]
fn a_command_expands_to_what_a_person_would_write() {
    compare("command", |item, manifest| {
        derive(item, command::derive_command, manifest)
    });
}

#[test]
fn an_event_expands_to_what_a_person_would_write() {
    compare("event", |item, manifest| {
        derive(item, event::derive_event, manifest)
    });
}

#[test]
fn a_rejection_expands_to_what_a_person_would_write() {
    compare("rejection", |item, manifest| {
        derive(item, rejection::derive_rejection, manifest)
    });
}

#[test]
fn a_handler_expands_to_what_a_person_would_write() {
    compare("handler", |item, manifest| {
        handler::handler(TokenStream::new(), function(item, "handler"), manifest)
    });
}

#[test]
fn a_read_model_expands_to_what_a_person_would_write() {
    compare("read_model", |item, manifest| {
        derive(item, read_model::derive_read_model, manifest)
    });
}

#[test]
fn a_query_expands_to_what_a_person_would_write() {
    compare("query", |item, manifest| {
        derive(item, query::derive_query, manifest)
    });
}

#[test]
fn a_state_expands_to_what_a_person_would_write() {
    compare("state", |item, manifest| {
        derive(item, state::derive_state, manifest)
    });
}

#[test]
fn a_value_expands_to_what_a_person_would_write() {
    compare("value", |item, manifest| {
        derive(item, value::derive_value, manifest)
    });
}

#[test]
fn settings_expand_to_what_a_person_would_write() {
    compare("settings", |item, manifest| {
        derive(item, settings::derive_settings, manifest)
    });
}

#[test]
fn a_service_expands_to_what_a_person_would_write() {
    compare("service", |item, manifest| {
        derive(item, service::derive_service, manifest)
    });
}

#[test]
fn evolve_expands_to_what_a_person_would_write() {
    compare("evolve", |item, manifest| {
        evolve::evolve(TokenStream::new(), block(item, "evolve"), manifest)
    });
}

#[test]
fn a_projection_expands_to_what_a_person_would_write() {
    compare("projection", |item, manifest| {
        projection::projection(TokenStream::new(), block(item, "projection"), manifest)
    });
}

#[test]
fn a_reaction_expands_to_what_a_person_would_write() {
    compare("reaction", |item, manifest| {
        let Item::Impl(mut item) = item else {
            panic!("a reaction is a block");
        };
        let is_reaction = |attr: &mut Attribute| attr.path().is_ident("reaction");
        let attr = item.attrs.extract_if(.., is_reaction).next().unwrap();
        let arguments = match attr.meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        reaction::reaction(arguments, item.into_token_stream(), manifest)
    });
}

#[test]
fn a_public_event_expands_to_what_a_person_would_write() {
    compare("public_event", |item, manifest| {
        derive(item, public_event::derive_public_event, manifest)
    });
}

#[test]
fn a_publication_expands_to_what_a_person_would_write() {
    compare("publish", |item, manifest| {
        let Item::Fn(function) = &item else {
            panic!("a publication is a function");
        };
        let attr = function.attrs.iter();
        let attr = attr.clone().find(|attr| attr.path().is_ident("publish"));
        let arguments = match &attr.unwrap().meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        publish::publish(arguments, self::function(item, "publish"), manifest)
    });
}

#[test]
fn a_query_handler_expands_to_what_a_person_would_write() {
    compare("query_handler", |item, manifest| {
        let Item::Fn(function) = &item else {
            panic!("a query handler is a function");
        };
        let attr = function.attrs.first().unwrap();
        let arguments = match &attr.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let input = self::function(item, "query_handler");
        query_handler::query_handler(arguments, input, manifest)
    });
}

#[test]
fn an_upcaster_expands_to_what_a_person_would_write() {
    compare("upcast", |item, manifest| {
        upcast::upcast(TokenStream::new(), function(item, "upcast"), manifest)
    });
}

/// Returns the input of an attribute of a function: the function without the attribute.
fn function(item: Item, attribute: &str) -> TokenStream {
    let Item::Fn(mut item) = item else {
        panic!("the attribute stands on a function");
    };
    let is_attribute = |attr: &mut Attribute| attr.path().is_ident(attribute);
    item.attrs.extract_if(.., is_attribute).for_each(drop);
    item.into_token_stream()
}

/// Returns the input of an attribute of an `impl`: the `impl` without the attribute.
fn block(item: Item, attribute: &str) -> TokenStream {
    let Item::Impl(mut item) = item else {
        panic!("the attribute stands on a block");
    };
    let is_attribute = |attr: &mut Attribute| attr.path().is_ident(attribute);
    item.attrs.extract_if(.., is_attribute).for_each(drop);
    item.into_token_stream()
}

/// Returns copies of the code in which one token is removed, doubled or replaced, for every token.
fn mutations(code: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<_> = code.into_iter().collect();
    let others: TokenStream = r#" "" "/{" "ä" 'a 1 self { } [ ] "#.parse().unwrap();
    let mut mutations = vec![];
    for (at, token) in tokens.iter().enumerate() {
        let with = |replacement: Vec<TokenTree>| {
            let mut mutated = tokens.clone();
            mutated.splice(at..=at, replacement);
            mutated.into_iter().collect()
        };
        mutations.push(with(vec![]));
        mutations.push(with(vec![token.clone(), token.clone()]));
        mutations.extend(others.clone().into_iter().map(|other| with(vec![other])));
        if let TokenTree::Group(group) = token {
            let inside = |stream| Group::new(group.delimiter(), stream).into();
            let mutated = self::mutations(group.stream());
            mutations.extend(mutated.into_iter().map(|stream| with(vec![inside(stream)])));
        }
    }
    mutations
}

#[test]
fn no_input_makes_a_macro_panic() {
    std::thread::scope(|scope| {
        for name in [
            "command",
            "event",
            "handler",
            "read_model",
            "projection",
            "query",
            "query_handler",
            "rejection",
            "upcast",
            "state",
            "evolve",
            "value",
            "settings",
            "service",
            "public_event",
            "publish",
        ] {
            scope.spawn(|| expand_mutations(&folder(name)));
        }
    });
}

/// Gives each macro the mutations of the inputs in a folder, which may belong to another macro.
fn expand_mutations(folder: &Path) {
    let manifest = Manifest::parse(MANIFEST);
    for input in inputs(folder) {
        let code: TokenStream = fs::read_to_string(input).unwrap().parse().unwrap();
        for mutation in mutations(code) {
            let _ = command::derive_command(mutation.clone(), &manifest);
            let _ = event::derive_event(mutation.clone(), &manifest);
            let _ = rejection::derive_rejection(mutation.clone(), &manifest);
            let _ = handler::handler(TokenStream::new(), mutation.clone(), &manifest);
            let _ = read_model::derive_read_model(mutation.clone(), &manifest);
            let _ = projection::projection(TokenStream::new(), mutation.clone(), &manifest);
            let _ = query::derive_query(mutation.clone(), &manifest);
            let _ = query_handler::query_handler(TokenStream::new(), mutation.clone(), &manifest);
            let _ = state::derive_state(mutation.clone(), &manifest);
            let _ = evolve::evolve(TokenStream::new(), mutation.clone(), &manifest);
            let _ = value::derive_value(mutation.clone(), &manifest);
            let _ = settings::derive_settings(mutation.clone(), &manifest);
            let _ = service::derive_service(mutation.clone(), &manifest);
            let _ = upcast::upcast(TokenStream::new(), mutation.clone(), &manifest);
            let _ = public_event::derive_public_event(mutation.clone(), &manifest);
            let _ = publish::publish(mutation.clone(), mutation, &manifest);
        }
    }
}
