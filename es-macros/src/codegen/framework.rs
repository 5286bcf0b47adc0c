//! Finds the path of the framework in the crate that uses a macro.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Ident, Path};

use super::{
    attribute::{self, SeenKeys},
    errors::Errors,
    manifest::Manifest,
};

const PACKAGE: &str = "es-framework";
const EXAMPLE: &str = "crate = \"path::to::es_framework\"";

/// The path of the framework, for example `::es_framework`.
#[derive(Debug, Clone)]
pub(crate) struct Framework(TokenStream);

impl Framework {
    /// Resolves the path from `#[es(crate = "…")]` or from the dependencies. Without a path no
    /// generated code would resolve, so this returns `None`.
    pub(crate) fn resolve(
        attrs: &[Attribute],
        manifest: &Manifest,
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut keys = SeenKeys::new("es", &["crate"]);
        let mut explicit = None;
        keys.visit_keys(attrs, errors, |_, meta, errors| {
            explicit = explicit.take().or_else(|| path(meta, errors))
        });
        let found = explicit.or_else(|| in_dependencies(manifest));
        if found.is_none() {
            errors.record_parse_error(syn::Error::new(
                Span::call_site(),
                format!(
                    "this crate does not depend on `{PACKAGE}`: add it to `[dependencies]`, or say where it is with `#[es({EXAMPLE})]`"
                ),
            ));
        }
        found
    }

    /// Returns the path with this span.
    pub(crate) fn with_span(&self, span: Span) -> TokenStream {
        respanned(self.0.clone(), span)
    }

    /// Returns the path as a string for the attributes of other macros.
    pub(crate) fn path_text(&self) -> String {
        let tokens = self.0.to_string();
        tokens.chars().filter(|one| !one.is_whitespace()).collect()
    }
}

/// Returns the tokens with this span.
pub(crate) fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let at_place = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(at_place).collect()
}

impl ToTokens for Framework {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

fn path(meta: &syn::Meta, errors: &mut Errors) -> Option<Framework> {
    let text = attribute::parse_text(meta, EXAMPLE, errors)?;
    match text.parse_with(Path::parse_mod_style) {
        Ok(path) => Some(Framework(path.into_token_stream())),
        Err(_) => {
            errors.record(&text, format!("this is no path: write `{EXAMPLE}`"));
            None
        }
    }
}

/// Reads only the crate's own manifest. Finding the workspace's manifest would need a Cargo process
/// for each crate, or files outside the crate.
fn in_dependencies(manifest: &Manifest) -> Option<Framework> {
    if let Some(name) = manifest.dependency(PACKAGE) {
        // Cargo has checked the name, but an unexpected one must not cause a panic.
        let name: Ident = syn::parse_str(&name).ok()?;
        return Some(Framework(quote!(::#name)));
    }
    // Inside the framework, and without Cargo, the crate has its original name.
    (manifest.has_package_name(PACKAGE) || !manifest.exists())
        .then(|| Framework(quote!(::es_framework)))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn resolve(attrs: &[Attribute], manifest: &str) -> Result<String, Vec<String>> {
        let mut errors = Errors::default();
        let found = Framework::resolve(attrs, &Manifest::parse(manifest), &mut errors);
        match found {
            Some(found) if errors.is_empty() => Ok(found.path_text()),
            _ => Err(errors.messages()),
        }
    }

    #[test]
    fn the_framework_is_found_where_the_crate_has_it() {
        for (manifest, path) in [
            ("[dependencies]\nes-framework = \"1\"", "::es_framework"),
            (
                "[dependencies]\nfw = { package = \"es-framework\" }",
                "::fw",
            ),
            ("[package]\nname = \"es-framework\"", "::es_framework"),
        ] {
            assert_eq!(resolve(&[], manifest).as_deref(), Ok(path));
        }
        let without_cargo = Framework::resolve(&[], &Manifest::absent(), &mut Errors::default());
        assert_eq!(without_cargo.unwrap().path_text(), "::es_framework");
    }

    #[test]
    fn an_attribute_says_where_it_is() {
        let attrs = [parse_quote!(#[es(crate = "crate::facade::es")])];
        assert_eq!(resolve(&attrs, "").as_deref(), Ok("crate::facade::es"));
    }

    #[test]
    fn a_crate_without_the_framework_is_told_so() {
        assert_eq!(
            resolve(&[], "[dependencies]").unwrap_err(),
            [
                "this crate does not depend on `es-framework`: add it to `[dependencies]`, or say where it is with `#[es(crate = \"path::to::es_framework\")]`"
            ]
        );
    }

    #[test]
    fn a_path_that_is_none_is_refused() {
        let attrs = [parse_quote!(#[es(crate = "a b")])];
        assert_eq!(
            resolve(&attrs, "[package]\nname = \"es-framework\"").unwrap_err(),
            ["this is no path: write `crate = \"path::to::es_framework\"`"]
        );
    }
}
