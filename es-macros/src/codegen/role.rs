//! Parses `role = "…"` of commands and queries.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::errors::Errors;

/// Returns the role, if it is valid.
pub(crate) fn check(literal: Option<&LitStr>, errors: &mut Errors) -> Option<String> {
    let literal = literal?;
    let role = literal.value();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
    if (1..=64).contains(&role.len()) && role != "-" && role.bytes().all(fits) {
        return Some(role);
    }
    let message = "a role is one word of 1 to 64 letters, digits and `.`, `_`, `:`, `@`, `-`: write `role = \"staff\"`";
    errors.record(literal, message);
    None
}

/// Generates the constant of the trait, if there is a role.
pub(crate) fn role_constant(role: Option<&str>) -> Option<TokenStream> {
    role.map(|role| {
        quote! {
            const ROLE: ::core::option::Option<&'static str> = ::core::option::Option::Some(#role);
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_role_is_one_word() {
        let mut errors = Errors::default();
        let mut check = |text: LitStr| check(Some(&text), &mut errors);
        assert_eq!(check(parse_quote!("staff")).as_deref(), Some("staff"));
        for other in ["", " ", "-", "staff,reader", "two words", "\u{e9}"] {
            assert_eq!(
                check(LitStr::new(other, proc_macro2::Span::call_site())),
                None
            );
        }
        assert_eq!(errors.messages().len(), 6);
    }
}
