//! The keys `role`, `role_without_token`, `owner` and `owner_except` of commands and queries: who may send them.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, Ident, LitStr, Meta, spanned::Spanned as _};

use super::{attribute, errors::Errors, fields::Field, framework::Framework, naming};

/// The keys as they are written.
#[derive(Default)]
pub(crate) struct CallerKeys {
    roles: Vec<LitStr>,
    /// The key `role`, also with an invalid value.
    pub(crate) role: Option<Meta>,
    /// The key `role = public`.
    pub(crate) public: Option<Meta>,
    /// There may be no token with one of the roles.
    role_without_token: Option<Meta>,
    owner: Option<Ident>,
    excepted_roles: Vec<LitStr>,
    /// The first of the keys `owner` and `owner_except`.
    pub(crate) owner_key: Option<Meta>,
}

/// The rules about the caller.
pub(crate) struct CheckedCallerRules {
    roles: Vec<String>,
    is_public: bool,
    is_role_without_token: bool,
    /// The field with the owner id, and its JSON name.
    owner: Option<(Ident, String, Span)>,
    has_owner_rule: bool,
    excepted_roles: Vec<String>,
}

/// The types that no owner id has, by their last word.
pub(crate) const NO_OWNER_IDS: [&str; 9] = [
    "Option",
    "Vec",
    "bool",
    "f32",
    "f64",
    "HashMap",
    "BTreeMap",
    "Timestamp",
    "Date",
];

impl CallerKeys {
    /// Sets the value of a key.
    pub(crate) fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "role" => {
                if is_public(meta) {
                    self.public = Some(meta.clone());
                } else {
                    self.roles = parse_roles(meta, "role = \"staff\"", errors);
                }
                self.role = Some(meta.clone());
            }
            "role_without_token" => {
                attribute::check_flag(meta, errors);
                self.role_without_token = Some(meta.clone());
            }
            "owner" => {
                self.owner = attribute::parse_word(meta, "owner = reader", errors).cloned();
                self.owner_key.get_or_insert_with(|| meta.clone());
            }
            "owner_except" => {
                self.excepted_roles = parse_roles(meta, "owner_except = \"staff\"", errors);
                self.owner_key.get_or_insert_with(|| meta.clone());
            }
            _ => {}
        }
    }
}

/// The word for everybody, with and without a token. It has no quotation marks, so it is not the name of a role.
const PUBLIC: &str = "public";

fn is_public(meta: &Meta) -> bool {
    matches!(meta, Meta::NameValue(meta) if is_public_word(&meta.value))
}

fn is_public_word(value: &Expr) -> bool {
    attribute::word_of(attribute::ungrouped(value)).is_some_and(|word| word == PUBLIC)
}

/// Parses one role, or several in brackets.
pub(crate) fn parse_roles(meta: &Meta, example: &str, errors: &mut Errors) -> Vec<LitStr> {
    let several = attribute::parse_one_or_several(meta, example, errors);
    let Some((value, elements)) = several else {
        return Vec::new();
    };
    if elements.is_empty() {
        errors.record(value, format!("name one role or more: write `{example}`"));
    }
    let mut roles: Vec<LitStr> = Vec::new();
    for element in elements {
        match attribute::text_of(element) {
            Some(role) if roles.iter().any(|earlier| earlier.value() == role.value()) => {
                errors.record(role, "this role is given twice: remove one of them");
            }
            Some(role) => roles.push(role.clone()),
            None if is_public_word(element) => {
                let message = "`public` is no role: it stands alone in `role = public` of a command or a query that everybody may send, with and without a token";
                errors.record(element, message);
            }
            None => {
                let key = attribute::key_name(meta);
                let message = format!(
                    "a role is a text, and several are in brackets: write `{example}` or `{key} = [\"reader\", \"staff\"]`"
                );
                errors.record(element, message);
            }
        }
    }
    roles
}

/// Returns the rules, as far as they are valid.
pub(crate) fn check_caller_rules(
    keys: &CallerKeys,
    whose: &str,
    fields: &[&Field],
    errors: &mut Errors,
) -> CheckedCallerRules {
    if let (None, Some(key)) = (&keys.role, &keys.role_without_token) {
        let message = "`role_without_token` is about a role: add `role = \"staff\"`, or remove it";
        errors.record(key, message);
    }
    if let (None, Some(key)) = (&keys.role, &keys.owner_key) {
        let message = "a rule about the owner needs a role, because everyone may send what names none: add `role = \"reader\"`";
        errors.record(key, message);
    }
    check_public(keys, whose, errors);
    let roles = check_names(&keys.roles, errors);
    let excepted_roles = check_names(&keys.excepted_roles, errors);
    for (name, literal) in excepted_roles.iter().zip(&keys.excepted_roles) {
        if keys.role.is_some() && keys.public.is_none() && !roles.contains(name) {
            let message = format!(
                "nobody sends this with the role `{name}`, so no rule excepts it: add it to `role`, or remove it here"
            );
            errors.record(literal, message);
        }
    }
    let written = keys.owner.as_ref();
    let owner = written.and_then(|owner| check_owner(owner, whose, fields, errors));
    CheckedCallerRules {
        roles,
        is_public: keys.public.is_some(),
        is_role_without_token: keys.role_without_token.is_some(),
        owner,
        has_owner_rule: keys.owner_key.is_some(),
        excepted_roles,
    }
}

/// Records an error for each key that contradicts `role = public`, and for a role of this name.
fn check_public(keys: &CallerKeys, whose: &str, errors: &mut Errors) {
    for role in keys.roles.iter().filter(|role| role.value() == PUBLIC) {
        let message = "a role with the name `public` is easy to mistake for everybody: write `role = public` without quotation marks if everybody may send this, or choose another name";
        errors.record(role, message);
    }
    if keys.public.is_none() {
        return;
    }
    if let Some(key) = &keys.role_without_token {
        let message =
            "`role = public` requires no role, so no token lacks it: remove `role_without_token`";
        errors.record(key, message);
    }
    if let Some(key) = &keys.owner_key {
        let message = format!(
            "nothing belongs to a caller without a token, so {whose} cannot be public and have a rule about the owner: name roles instead of `public`, or remove this key"
        );
        errors.record(key, message);
    }
}

pub(crate) fn check_names(roles: &[LitStr], errors: &mut Errors) -> Vec<String> {
    let names = roles.iter().filter_map(|role| check_name(role, errors));
    names.collect()
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

/// Returns the message about a field of a type that no owner id has.
pub(crate) fn no_owner_id(field: &str, type_name: &str) -> String {
    format!(
        "`{field}` holds the id of the owner, and a `{type_name}` is no id: make it a `Uuid`, a `String` or a number"
    )
}

fn check_owner(
    owner: &Ident,
    whose: &str,
    fields: &[&Field],
    errors: &mut Errors,
) -> Option<(Ident, String, Span)> {
    let name = owner.to_string();
    let Some(field) = fields.iter().find(|field| field.name() == name) else {
        let names = fields.iter().map(|field| field.name());
        errors.record(owner, naming::no_such_field(whose, &name, names));
        return None;
    };
    if let Some(type_name) = field.type_name()
        && NO_OWNER_IDS.contains(&type_name.as_str())
    {
        errors.record(&field.ty, no_owner_id(&name, &type_name));
        return None;
    }
    Some((field.ident.clone(), field.member.clone(), field.ty.span()))
}

impl CheckedCallerRules {
    /// Returns the field with the owner id.
    pub(crate) fn owner_field(&self) -> Option<&Ident> {
        self.owner.as_ref().map(|(field, ..)| field)
    }

    /// Generates the constants and the check of the trait.
    pub(crate) fn generate_items(&self, framework: &Framework) -> TokenStream {
        let Self {
            roles,
            is_public,
            is_role_without_token,
            owner,
            has_owner_rule,
            excepted_roles,
        } = self;
        let roles = (!roles.is_empty()).then(|| {
            quote!(
                const ROLES: &'static [&'static str] = &[#(#roles),*];
            )
        });
        let public = is_public.then(|| {
            quote!(
                const PUBLIC: bool = true;
            )
        });
        let without_token = is_role_without_token.then(|| {
            quote!(
                const ROLE_WITHOUT_TOKEN: bool = true;
            )
        });
        let rule = has_owner_rule.then(|| {
            let field = match owner {
                Some((_, member, _)) => quote!(::core::option::Option::Some(#member)),
                None => quote!(::core::option::Option::None),
            };
            quote! {
                const OWNER: ::core::option::Option<#framework::event::OwnerRule> =
                    ::core::option::Option::Some(#framework::event::OwnerRule {
                        field: #field,
                        excepted_roles: &[#(#excepted_roles),*],
                    });
            }
        });
        let check = owner.as_ref().map(|(field, _, span)| {
            // The message about a wrong type stands at the field, and the names also resolve where the type is a
            // variable of another macro.
            let (caller, owner_id) = (format_ident!("caller"), format_ident!("_{}", field));
            let check = quote_spanned!(*span=> #caller.must_own(#owner_id));
            quote! {
                fn check_owner(
                    &self,
                    #caller: &#framework::event::Caller,
                ) -> ::core::result::Result<(), #framework::event::NotOwner> {
                    let Self { #field: #owner_id, .. } = self;
                    #check
                }
            }
        });
        quote! {
            #roles
            #public
            #without_token
            #rule
            #check
        }
    }
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
            assert_eq!(check(LitStr::new(other, Span::call_site())), None);
        }
        assert_eq!(errors.messages().len(), 6);
    }
}
