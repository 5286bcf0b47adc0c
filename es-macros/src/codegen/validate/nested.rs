//! Generates the validation of the values inside a field: it follows the containers that the field's type
//! names, and asks the compiler for the rules of each type inside.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Ident, Type, spanned::Spanned as _};

use crate::codegen::{contents::Contents, framework::Framework, types};

/// Types that have no validation rules, so the macro generates no code for them.
const PLAIN: [&str; 19] = [
    "String", "str", "Uuid", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128",
    "isize", "u8", "u16", "u32", "u64", "u128", "usize",
];

/// Returns true for a type that has no rules and no type inside.
fn is_plain(ty: &Type) -> bool {
    types::last_word(ty).is_some_and(|last| PLAIN.contains(&last.as_str()))
}

/// Returns the types in a type, itself included, that may have rules of their own.
fn types_with_rules(ty: &Type) -> Vec<&Type> {
    let contents = Contents::of(ty);
    let mut found: Vec<_> = contents
        .types()
        .into_iter()
        .flat_map(types_with_rules)
        .collect();
    let has_rules = match contents {
        Contents::Value(_) => matches!(ty, Type::Path(_)) && !is_plain(ty),
        // A request may spell one UUID in two ways.
        Contents::Map(key, _) => types::last_word(key).is_some_and(|name| name == "Uuid"),
        _ => false,
    };
    if has_rules {
        found.push(ty);
    }
    found
}

/// Generates the statements that validate the values inside `value`, a reference to a value of this type. Returns nothing
/// if no part of the type has rules.
pub(super) fn validate_inside(
    ty: &Type,
    value: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    // A variable has the span of its type, where the compiler reports mistakes.
    let inside = |ty: &Type, name: &str| {
        let variable = Ident::new(name, ty.span());
        let statements = validate_inside(ty, &variable.to_token_stream(), framework);
        (variable, statements)
    };
    match Contents::of(ty) {
        _ if types_with_rules(ty).is_empty() => TokenStream::new(),
        Contents::Value(arguments) => {
            let inner_types = arguments.into_iter().flat_map(types_with_rules);
            let followed = inner_types.map(|inner| assert_followed(ty, inner, framework));
            quote! {
                #(#followed)*
                (&#framework::__private::NestedField(#value)).validate_nested(violations);
            }
        }
        Contents::Optional(inner) => {
            let (inner, inside) = inside(inner, "value");
            quote!(if let ::core::option::Option::Some(#inner) = #value { #inside })
        }
        Contents::Pointer(inner) => {
            let (inner, inside) = inside(inner, "value");
            quote! {{
                let #inner = &**#value;
                #inside
            }}
        }
        Contents::List(inner) => {
            let (item, inside) = inside(inner, "value");
            quote!(violations.check_items(#value, |#item, violations| { #inside });)
        }
        Contents::Set(inner) => {
            let (item, inside) = inside(inner, "value");
            quote!(violations.check_members_of_set(#value, |#item, violations| { #inside });)
        }
        Contents::Map(key, value_type) => {
            let ((key, keys), (item, values)) = (inside(key, "_key"), inside(value_type, "_value"));
            quote! {
                violations.check_entries(#value, |#key, #item, violations| { #keys #values });
            }
        }
        Contents::Result(success, error) => {
            let branch = |name: &str, ty: &Type| {
                let (variant, (inner, inside)) = (Ident::new(name, ty.span()), inside(ty, "value"));
                (!inside.is_empty()).then(|| {
                    quote! {
                        if let ::core::result::Result::#variant(#inner) = #value {
                            violations.check_member(#name, |violations| { #inside });
                        }
                    }
                })
            };
            let (success, error) = (branch("Ok", success), branch("Err", error));
            quote!(#success #error)
        }
        Contents::Tuple(types) => {
            let items = types.into_iter().enumerate().filter_map(|(index, ty)| {
                let (item, inside) = inside(ty, "value");
                let (at, name) = (syn::Index::from(index), index.to_string());
                (!inside.is_empty()).then(|| {
                    quote! {
                        violations.check_member(#name, |violations| {
                            let #item = &(#value).#at;
                            #inside
                        });
                    }
                })
            });
            quote!(#(#items)*)
        }
    }
}

/// Generates the import that the statements of [`validate_inside`] need.
pub(super) fn import_traits(framework: &Framework) -> TokenStream {
    quote!(use #framework::__private::{NoNestedRules as _, NestedRules as _};)
}

/// Generates the statements that validate a value whose members are some of those of the surrounding object. Its type
/// has to say which members it declares, or the compiler reports it.
pub(super) fn validate_part(ty: &Type, value: &TokenStream, framework: &Framework) -> TokenStream {
    let span = ty.span();
    let inside = |ty: &Type| {
        let variable = Ident::new("value", ty.span());
        let statements = validate_part(ty, &variable.to_token_stream(), framework);
        (variable, statements)
    };
    match Contents::of(ty) {
        Contents::Optional(inner) => {
            let (inner, inside) = inside(inner);
            quote!(if let ::core::option::Option::Some(#inner) = #value { #inside })
        }
        Contents::Pointer(inner) => {
            let (inner, inside) = inside(inner);
            quote! {{
                let #inner = &**#value;
                #inside
            }}
        }
        Contents::Map(..) => {
            let inside = validate_inside(ty, value, framework);
            let block = (!inside.is_empty()).then(|| {
                let traits = import_traits(framework);
                quote!({ #traits #inside })
            });
            quote! {
                violations.declare_every_member();
                #block
            }
        }
        Contents::Tuple(types) if types.is_empty() => TokenStream::new(),
        _ => {
            let at = framework.with_span(span);
            quote_spanned!(span=> #at::validate::Validate::validate(#value, violations);)
        }
    }
}

/// Generates a compile error for a container that the macro does not know, if it contains a value with rules and
/// has no rules itself.
fn assert_followed(container: &Type, inner: &Type, framework: &Framework) -> TokenStream {
    let span = container.span();
    let at = framework.with_span(span);
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use #at::__private::{NoRulesInside as _, RulesAreFollowed as _, RulesOutOfReach as _};
        (&&#at::__private::RulesInside::<#container, #inner>::NEW).assert_followed();
    }}
}
