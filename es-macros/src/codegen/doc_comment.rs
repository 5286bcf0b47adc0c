//! Reads doc comments.

use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta};

use super::naming;

/// Returns the summary of an item: from its attribute, its doc comment or its name.
pub(crate) fn summary_or_name(
    ident: &Ident,
    literal: Option<&LitStr>,
    attrs: &[Attribute],
) -> String {
    literal
        .map(LitStr::value)
        .or_else(|| summary(attrs))
        .unwrap_or_else(|| naming::sentence_of(ident))
}

/// Returns the first paragraph of the doc comment as one line.
pub(crate) fn summary(attrs: &[Attribute]) -> Option<String> {
    let lines: Vec<_> = attrs.iter().filter_map(text).collect();
    let paragraph: Vec<_> = lines
        .iter()
        .flat_map(|text| text.split('\n'))
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

/// Returns the paragraphs after the first one, with their line breaks.
pub(crate) fn text_after_summary(attrs: &[Attribute]) -> String {
    let text = whole(attrs);
    let rest = text.split_once("\n\n");
    rest.map_or("", |(_, rest)| rest.trim()).to_owned()
}

/// Returns the whole doc comment, with its line breaks.
pub(crate) fn whole(attrs: &[Attribute]) -> String {
    let texts: Vec<_> = attrs.iter().filter_map(text).collect();
    let lines = texts.iter().flat_map(|text| text.split('\n'));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the text of a `#[doc = "…"]` attribute, which can have several lines, or `None` for another
/// attribute.
fn text(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attr.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_is_the_summary() {
        let item: syn::DeriveInput = syn::parse_quote! {
            ///
            /// Adds a copy
            /// to the inventory.
            ///
            /// Not part of it.
            #[doc(hidden)]
            struct Purchase;
        };
        assert_eq!(
            summary(&item.attrs).unwrap(),
            "Adds a copy to the inventory."
        );
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn the_rest_is_the_description() {
        let item: syn::DeriveInput = syn::parse_quote! {
            /// Adds a copy
            /// to the inventory.
            ///
            /// One of many.
            ///
            /// Example: `{"id": 1,
            /// "age": 2}`
            struct Purchase;
        };
        assert_eq!(
            text_after_summary(&item.attrs),
            "One of many.\n\nExample: `{\"id\": 1,\n\"age\": 2}`"
        );
        assert!(whole(&item.attrs).starts_with("Adds a copy\nto the inventory.\n\nOne"));
        assert_eq!(
            (text_after_summary(&[]), whole(&[])),
            (String::new(), String::new())
        );
    }
}
