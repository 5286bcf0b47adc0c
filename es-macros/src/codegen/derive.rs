//! Support that all derive macros share.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident};

use super::{doc_comment, errors::Errors, framework::Framework, manifest::Manifest, types};

/// Returns the code of a derive, or the compile errors and a stub.
pub(crate) fn expand_derive<T>(
    input: TokenStream,
    manifest: &Manifest,
    check: impl FnOnce(&DeriveInput, &mut Errors) -> Option<T>,
    expand: impl FnOnce(&DeriveInput, T, &Framework) -> TokenStream,
    stub: impl FnOnce(&DeriveInput, &Framework) -> TokenStream,
) -> TokenStream {
    let mut item: DeriveInput = match syn::parse2(input) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    prepare(&mut item);
    let mut errors = Errors::default();
    let Some(framework) = Framework::resolve(&item.attrs, manifest, &mut errors) else {
        return errors.into_compile_errors();
    };
    match check(&item, &mut errors) {
        Some(checked) if errors.is_empty() => expand(&item, checked, &framework),
        _ => {
            let mut tokens = errors.into_compile_errors();
            if item.generics.params.is_empty() {
                tokens.extend(stub(&item, &framework));
            }
            tokens
        }
    }
}

/// Silences lints that would report the generated code: formatting of type names, and use of
/// deprecated items. Removes the stars of block comments.
fn prepare(item: &mut DeriveInput) {
    let is_deprecated = has_deprecated(item);
    doc_comment::remove_stars(&mut item.attrs);
    if is_deprecated {
        expand_here(&mut item.ident);
    }
    if let Data::Enum(data) = &mut item.data {
        for variant in &mut data.variants {
            doc_comment::remove_stars(&mut variant.attrs);
            if is_deprecated {
                expand_here(&mut variant.ident);
            }
        }
    }
    for field in fields(&mut item.data) {
        doc_comment::remove_stars(&mut field.attrs);
        types::ungroup(&mut field.ty);
        if let Some(ident) = field.ident.as_mut().filter(|_| is_deprecated) {
            expand_here(ident);
        }
    }
}

fn has_deprecated(item: &DeriveInput) -> bool {
    let is_deprecated = |attrs: &[Attribute]| {
        let mut attrs = attrs.iter();
        attrs.any(|attr| attr.path().is_ident("deprecated"))
    };
    let in_fields = |fields: &Fields| fields.iter().any(|field| is_deprecated(&field.attrs));
    let within = match &item.data {
        Data::Struct(data) => in_fields(&data.fields),
        Data::Enum(data) => data
            .variants
            .iter()
            .any(|variant| is_deprecated(&variant.attrs) || in_fields(&variant.fields)),
        // No derive supports unions.
        Data::Union(_) => false,
    };
    is_deprecated(&item.attrs) || within
}

fn fields(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter_mut();
            variants
                .flat_map(|variant| variant.fields.iter_mut())
                .collect()
        }
        Data::Union(data) => data.fields.named.iter_mut().collect(),
    }
}

/// Keeps the location of the name but resolves it as generated code.
fn expand_here(ident: &mut Ident) {
    ident.set_span(Span::call_site().located_at(ident.span()));
}
