//! Generates the JSON implementations of a declaration. serde and schemars derive them for a
//! shadow type with the same fields.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Data, DeriveInput, Fields, Type, Visibility, ext::IdentExt as _, parse_quote,
    spanned::Spanned as _,
};

use super::{
    declaration_kind::DeclarationKind, errors::Errors, framework::Framework, json_types, map_keys,
    personal, validate,
};

/// The attributes that the shadow type repeats.
const FORWARDED: [&str; 3] = ["doc", "serde", "schemars"];

/// Generates `impl Serialize`, `Deserialize` and `JsonSchema`.
pub(crate) fn expand_item(
    item: &DeriveInput,
    kind: DeclarationKind,
    framework: &Framework,
) -> TokenStream {
    let fields = fields(&item.data).into_iter();
    let types = fields.map(|field| (&field.ty, field.attrs.as_slice()));
    let inside = types_inside(types, &item.ident);
    let shadow = shadow_of_item(item, kind, &inside, framework);
    // The columns of a read model are checked with the message for columns.
    let is_checked = kind != DeclarationKind::ReadModel;
    around(&item.ident, &shadow, &inside, is_checked, framework)
}

fn fields(data: &Data) -> Vec<&syn::Field> {
    match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter();
            variants.flat_map(|variant| &variant.fields).collect()
        }
        Data::Union(_) => vec![],
    }
}

/// Returns the types inside the fields that may have no JSON, each once. The item itself is none of them.
fn types_inside<'a>(
    fields: impl Iterator<Item = (&'a Type, &'a [Attribute])>,
    ident: &Ident,
) -> Vec<TokenStream> {
    let types = json_types::unknown_types(fields).into_iter();
    let mut inside: Vec<TokenStream> = vec![];
    for ty in types.map(|ty| without_self(ty.to_token_stream(), ident)) {
        let text = ty.to_string();
        if *ident != text && inside.iter().all(|other| other.to_string() != text) {
            inside.push(ty);
        }
    }
    inside
}

/// Lets the code of serde and schemars assume that these types have JSON, so that the compiler reports each type once.
fn assumed_bounds(inside: &[TokenStream], framework: &Framework) -> Option<TokenStream> {
    let private = quote!(#framework::__private);
    (!inside.is_empty()).then(
        || quote!(where #(for<'x> <#inside as #private::Itself<'x>>::Type: #private::HasJson),*),
    )
}

fn shadow_of_item(
    item: &DeriveInput,
    kind: DeclarationKind,
    inside: &[TokenStream],
    framework: &Framework,
) -> TokenStream {
    let mut shadow = item.clone();
    if let Some(bounds) = assumed_bounds(inside, framework) {
        shadow.generics.where_clause = Some(parse_quote!(#bounds));
    }
    let keep = |attrs: &mut Vec<Attribute>| {
        attrs.retain(|attr| FORWARDED.iter().any(|name| attr.path().is_ident(name)));
    };
    keep(&mut shadow.attrs);
    shadow.vis = Visibility::Inherited;
    shadow.ident = format_ident!("__Wire");
    let functions = seal_fields(&mut shadow.data, framework);
    let fields = match &mut shadow.data {
        Data::Struct(data) => data.fields.iter_mut().collect::<Vec<_>>(),
        Data::Enum(data) => {
            let variants = data.variants.iter_mut();
            let fields = variants.flat_map(|variant| {
                keep(&mut variant.attrs);
                variant.discriminant = None;
                variant.fields.iter_mut()
            });
            fields.collect()
        }
        Data::Union(_) => vec![],
    };
    for field in fields {
        let rules = validate::parse_rules(&field.attrs, &mut Errors::default());
        keep(&mut field.attrs);
        field.attrs.extend(validate::constraints(&rules, framework));
        field
            .attrs
            .extend(map_keys::constraints(&field.ty, framework));
        field.ty = Type::Verbatim(without_self(field.ty.to_token_stream(), &item.ident));
        field.vis = Visibility::Inherited;
    }
    let extra = match &item.data {
        Data::Enum(_) => Some(quote!(rename_all_fields = "camelCase",)),
        // Commands reject unknown members, because a misspelt one would be lost silently. Events
        // ignore them, because an older release reads the events of a newer one.
        _ => (kind == DeclarationKind::Command).then(|| quote!(deny_unknown_fields,)),
    };
    let attributes = shadow_attributes(&item.ident, &extra, framework);
    quote!(#(#functions)* #attributes #shadow)
}

/// Lets generated functions serialize the personal fields, and returns the functions.
fn seal_fields(data: &mut Data, framework: &Framework) -> Vec<TokenStream> {
    let objects: Vec<&mut Fields> = match data {
        Data::Struct(data) => vec![&mut data.fields],
        Data::Enum(data) => data
            .variants
            .iter_mut()
            .map(|one| &mut one.fields)
            .collect(),
        Data::Union(_) => vec![],
    };
    let mut functions = vec![];
    let mut count: usize = 0;
    for fields in objects {
        let named = fields.iter().filter_map(|field| {
            let ident = field.ident.as_ref()?;
            Some((ident, &field.ty, field.attrs.as_slice()))
        });
        let sealed = personal::expand_fields(&named.collect::<Vec<_>>(), count, framework);
        count = count.saturating_add(fields.len());
        for (field, sealed) in fields.iter_mut().zip(sealed) {
            if let Some((attrs, function)) = sealed {
                field.attrs.extend(attrs);
                functions.push(function);
            }
        }
    }
    functions
}

/// Replaces `Self` in a field's type, which would otherwise be the shadow type.
fn without_self(ty: TokenStream, ident: &Ident) -> TokenStream {
    let token = |token: TokenTree| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let mut name = ident.clone();
            name.set_span(word.span());
            TokenTree::Ident(name)
        }
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), without_self(group.stream(), ident));
            inside.set_span(group.span());
            TokenTree::Group(inside)
        }
        token => token,
    };
    ty.into_iter().map(token).collect()
}

/// Generates the attributes of the shadow type.
fn shadow_attributes(
    ident: &Ident,
    extra: &Option<TokenStream>,
    framework: &Framework,
) -> TokenStream {
    let remote = ident.to_string();
    let name = ident.unraw().to_string();
    let serde = format!("{}::__private::serde", framework.path_text());
    let schemars = format!("{}::__private::schemars", framework.path_text());
    quote! {
        #[derive(
            #framework::__private::serde::Serialize,
            #framework::__private::serde::Deserialize,
            #framework::__private::schemars::JsonSchema,
        )]
        #[serde(
            crate = #serde,
            remote = #remote,
            rename = #name,
            rename_all = "camelCase",
            #extra
        )]
        #[schemars(crate = #schemars)]
        #[allow(dead_code)]
    }
}

/// Generates the shadow type and the implementations that use it.
fn around(
    ident: &Ident,
    shadow: &TokenStream,
    inside: &[TokenStream],
    is_checked: bool,
    framework: &Framework,
) -> TokenStream {
    let bounds = (!inside.is_empty()).then(|| quote!(where #(#inside),*));
    // The compiler reports a type without JSON at the field.
    let checks = inside.iter().filter(|_| is_checked).map(|ty| {
        let span = ty.span();
        let framework = framework.with_span(span);
        quote_spanned!(span=> #framework::__private::check_json::<#ty>();)
    });
    quote! {
        const _: () = {
            #shadow

            #framework::json_impls! { #ident = __Wire #bounds }
            #(#checks)*
        };
    }
}

/// Generates stub implementations for an item with mistakes, so that the compiler reports only
/// those mistakes.
pub(crate) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let serde = quote!(#framework::__private::serde);
    let schemars = quote!(#framework::__private::schemars);
    quote! {
        #[automatically_derived]
        impl #serde::Serialize for #ident {
            fn serialize<S: #serde::Serializer>(
                &self,
                _: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #ident {
            fn deserialize<D: #serde::Deserializer<'de>>(
                _: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #schemars::JsonSchema for #ident {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::core::unreachable!()
            }

            fn json_schema(_: &mut #schemars::SchemaGenerator) -> #schemars::Schema {
                ::core::unreachable!()
            }
        }
    }
}
