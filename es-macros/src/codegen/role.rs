//! Checks the keys `role` and `role_without_token` of commands and queries.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, Meta};

use super::errors::Errors;

/// The role that a caller needs.
pub(crate) struct CheckedCallerRole {
    name: String,
    /// True if there may be no token with the role.
    without_token: bool,
}

/// Returns the role, if there is one and it is valid.
pub(crate) fn check_role(
    role: Option<&LitStr>,
    without_token: Option<&Meta>,
    errors: &mut Errors,
) -> Option<CheckedCallerRole> {
    if let (None, Some(key)) = (role, without_token) {
        let message = "`role_without_token` is about a role: add `role = \"staff\"`, or remove it";
        errors.record(key, message);
    }
    let name = check_name(role?, errors)?;
    Some(CheckedCallerRole {
        name,
        without_token: without_token.is_some(),
    })
}

fn check_name(literal: &LitStr, errors: &mut Errors) -> Option<String> {
    let role = literal.value();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
    if (1..=64).contains(&role.len()) && role != "-" && role.bytes().all(fits) {
        return Some(role);
    }
    let message = "a role is one word of 1 to 64 letters, digits and `.`, `_`, `:`, `@`, `-`: write `role = \"staff\"`";
    errors.record(literal, message);
    None
}

/// Generates the constants of the trait, if there is a role.
pub(crate) fn role_constants(role: Option<&CheckedCallerRole>) -> Option<TokenStream> {
    let CheckedCallerRole {
        name,
        without_token,
    } = role?;
    let without_token = without_token.then(|| {
        quote!(
            const ROLE_WITHOUT_TOKEN: bool = true;
        )
    });
    Some(quote! {
        const ROLE: ::core::option::Option<&'static str> = ::core::option::Option::Some(#name);
        #without_token
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_role_is_one_word() {
        let mut errors = Errors::default();
        let mut check = |text: LitStr| check_name(&text, &mut errors);
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
