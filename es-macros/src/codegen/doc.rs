//! What a doc comment says of the item that it stands on.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The first paragraph of the doc comment as one line.
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

/// The text of one line of a doc comment.
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
}
