//! Parses the struct of settings.

use std::collections::BTreeMap;

use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprUnary, Fields, Ident, Lit, LitStr, Type, UnOp,
    ext::IdentExt as _,
};

use crate::codegen::{
    attribute::{self, SeenKeys},
    doc_comment::{self, DocText},
    errors::Errors,
    generics, types,
};

/// The fields of a struct of settings.
pub(crate) struct SettingsStruct {
    pub(crate) fields: Vec<Setting>,
    /// True if no handler and no reaction has to take the settings.
    pub(crate) may_be_unused: bool,
}

/// A field that is a setting.
pub(crate) struct Setting {
    pub(crate) ident: Ident,
    /// The type of the value, without an `Option` around it.
    pub(crate) ty: Type,
    pub(crate) is_optional: bool,
    pub(crate) help: DocText,
    pub(crate) env: String,
    pub(crate) default: Option<Expr>,
}

impl Setting {
    /// Returns the name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// Returns the default in the form in which an operator types it.
    pub(crate) fn default_as_text(&self) -> Option<String> {
        fn typed(lit: &Lit) -> String {
            match lit {
                Lit::Str(text) => text.value(),
                Lit::Int(number) => number.base10_digits().to_owned(),
                Lit::Float(number) => number.base10_digits().to_owned(),
                Lit::Bool(truth) => truth.value.to_string(),
                Lit::Char(character) => character.value().to_string(),
                _ => String::new(),
            }
        }
        match self.default.as_ref()? {
            Expr::Lit(ExprLit { lit, .. }) => Some(typed(lit)),
            Expr::Unary(ExprUnary { expr, .. }) => match &**expr {
                Expr::Lit(ExprLit { lit, .. }) => Some(format!("-{}", typed(lit))),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Parses the struct and records all mistakes.
pub(crate) fn parse_struct(item: &DeriveInput, errors: &mut Errors) -> Option<SettingsStruct> {
    let message = "settings are found by their type, which therefore has no generic parameters: write the types out";
    generics::reject_generics(&item.generics, message, errors);
    let message = "`#[setting(…)]` stands above the field that it is about; above the struct stands `#[settings(…)]`";
    attribute::refuse(&item.attrs, "setting", message, errors);
    let may_be_unused = may_be_unused(&item.attrs, errors);
    let Data::Struct(data) = &item.data else {
        errors.record(
            &item.ident,
            "settings are a struct with a named field for each: write `struct Lending { loan_days: u32 }`",
        );
        return None;
    };
    let Fields::Named(fields) = &data.fields else {
        errors.record(
            &item.ident,
            "settings have named fields, since they are the names of flags: write `struct Lending { loan_days: u32 }`",
        );
        return None;
    };
    let named = fields.named.iter();
    let fields: Vec<_> = named.filter_map(|field| setting(field, errors)).collect();
    check_variables(&fields, errors);
    Some(SettingsStruct {
        fields,
        may_be_unused,
    })
}

/// Returns whether `#[settings(unused)]` stands above the struct.
fn may_be_unused(attrs: &[Attribute], errors: &mut Errors) -> bool {
    let mut keys = SeenKeys::new("settings", &["unused"]);
    let mut is_unused = false;
    keys.visit_keys(attrs, errors, |_, meta, errors| {
        attribute::check_flag(meta, errors);
        is_unused = true;
    });
    is_unused
}

/// Records an error for two fields of the struct with the same environment variable. The start of the application
/// detects two structs with the same variable.
fn check_variables(settings: &[Setting], errors: &mut Errors) {
    let mut seen = BTreeMap::new();
    for Setting { ident, env, .. } in settings {
        if let Some(first) = seen.insert(env, ident) {
            let message = format!(
                "`{first}` and `{ident}` are both the environment variable `{env}`: give one of them another with `#[setting(env = \"…\")]`"
            );
            errors.record(ident, message);
        }
    }
}

fn setting(field: &syn::Field, errors: &mut Errors) -> Option<Setting> {
    let message = "`#[settings(…)]` stands above the struct; above a field stands `#[setting(…)]`";
    attribute::refuse(&field.attrs, "settings", message, errors);
    let ident = field.ident.clone()?;
    let name = ident.unraw().to_string();
    if !name.is_ascii() || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        errors.record(
            &ident,
            format!("`{name}` does not become a flag: start with a letter and write lower-case ASCII letters, digits and `_`"),
        );
    }
    let (ty, is_optional) = match types::inside_option(&field.ty) {
        Some(inner) => (inner.clone(), true),
        None => (field.ty.clone(), false),
    };
    let help = doc_comment::summary(&field.attrs);
    if help.is_none() {
        errors.record(
            &ident,
            format!("say what `{name}` is for, since `--help` shows it: write a doc comment `/// …` above it"),
        );
    }
    let (env, default) = keys(&field.attrs, errors);
    if is_optional && let Some(default) = &default {
        errors.record(
            default,
            "an `Option` is `None` where nothing is given: remove the default, or the `Option`",
        );
    }
    Some(Setting {
        env: env.map_or_else(|| name.to_ascii_uppercase(), |env| env.value()),
        ident,
        ty,
        is_optional,
        help: help?,
        default,
    })
}

fn keys(attrs: &[Attribute], errors: &mut Errors) -> (Option<LitStr>, Option<Expr>) {
    let mut keys = SeenKeys::new("setting", &["default", "env"]);
    let (mut env, mut default) = (None, None);
    keys.visit_keys(attrs, errors, |key, meta, errors| match key {
        "env" => {
            let name = attribute::parse_text(meta, "env = \"LOAN_DAYS\"", errors);
            env = name.inspect(|name| check_env(name, errors));
        }
        "default" => {
            let value = attribute::parse_value(meta, "default = 28", errors);
            default = value.cloned().inspect(|value| check_default(value, errors));
        }
        _ => {}
    });
    (env, default)
}

fn check_env(name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    let fits = |one: u8| one.is_ascii_uppercase() || one.is_ascii_digit() || one == b'_';
    if text.is_empty() || !text.bytes().all(fits) {
        errors.record(
            name,
            format!("`{text}` cannot name an environment variable: write upper-case ASCII letters, digits and `_`, such as `LOAN_DAYS`"),
        );
    }
}

fn check_default(value: &Expr, errors: &mut Errors) {
    let is_literal = |expr: &Expr| {
        let Expr::Lit(ExprLit { lit, .. }) = expr else {
            return false;
        };
        matches!(
            lit,
            Lit::Str(_) | Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_)
        )
    };
    let fits = match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => is_literal(expr),
        other => is_literal(other),
    };
    if !fits {
        errors.record(
            value,
            "a default is shown in `--help`: write it out, as in `default = 28`",
        );
    }
}
