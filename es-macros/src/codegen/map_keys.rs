//! Adds the keys of maps to the schema of a field. schemars describes only keys that are whole numbers, enums and
//! texts with a pattern.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Type, parse_quote};

use super::{contents::Contents, framework::Framework, types};

/// Key types that need no description.
const PLAIN: [&str; 2] = ["String", "str"];

/// Returns the keys of all maps that the type names, as a schemars attribute.
pub(crate) fn constraints(ty: &Type, framework: &Framework) -> Option<Attribute> {
    let statements = statements(ty, framework);
    (!statements.is_empty()).then(|| {
        parse_quote! {
            #[schemars(
                transform = |schema: &mut #framework::__private::schemars::Schema| { #statements }
            )]
        }
    })
}

/// Generates the statements that change `schema`, the schema of this type.
fn statements(ty: &Type, framework: &Framework) -> TokenStream {
    let module = quote!(#framework::event::map_keys);
    let inside = |pointer: String, ty: &Type| {
        let statements = statements(ty, framework);
        (!statements.is_empty())
            .then(|| quote!(#module::change_subschema(schema, #pointer, |schema| { #statements });))
    };
    match Contents::of(ty) {
        Contents::Optional(inner) | Contents::Pointer(inner) => statements(inner, framework),
        Contents::List(inner) | Contents::Set(inner) => {
            let items = inside("/items".to_owned(), inner);
            quote!(#items)
        }
        Contents::Map(key, value) => {
            let is_plain = types::last_word(key).is_some_and(|name| PLAIN.contains(&name.as_str()));
            let keys = (!is_plain).then(|| quote!(#module::describe_keys::<#key>(schema);));
            let values = inside("/additionalProperties".to_owned(), value);
            quote!(#keys #values)
        }
        Contents::Tuple(types) => {
            let numbered = types.into_iter().enumerate();
            let items =
                numbered.filter_map(|(index, ty)| inside(format!("/prefixItems/{index}"), ty));
            quote!(#(#items)*)
        }
        Contents::Value(_) | Contents::Result(..) => TokenStream::new(),
    }
}
