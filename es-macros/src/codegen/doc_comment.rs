//! Reads doc comments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta};

use super::{attribute, framework::Framework, naming};

/// A text of a doc comment.
#[derive(Clone)]
pub(crate) enum DocText {
    Known(String),
    /// A part of a comment that has an expression such as `#[doc = concat!(…)]`, which the compiler evaluates.
    Computed {
        comment: Vec<DocPiece>,
        part: DocPart,
    },
}

/// A `#[doc = …]` attribute.
#[derive(Clone)]
pub(crate) enum DocPiece {
    /// A text, which can have several lines.
    Text(String),
    Expression(Expr),
}

/// A part of a doc comment.
#[derive(Clone, Copy)]
pub(crate) enum DocPart {
    /// The first paragraph as one line.
    Summary,
    /// The summary without its full stop.
    Title,
    /// The paragraphs after the first one, with their line breaks.
    AfterSummary,
    /// All paragraphs, with their line breaks.
    Whole,
}

impl DocPart {
    fn of_text(self, text: &str) -> String {
        let summary = || {
            let lines = text.split('\n').map(str::trim);
            let lines = lines.skip_while(|line| line.is_empty());
            let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            lines.join(" ")
        };
        match self {
            Self::Summary => summary(),
            Self::Title => {
                let text = summary();
                text.strip_suffix('.').unwrap_or(&text).to_owned()
            }
            Self::AfterSummary => {
                let rest = text.split_once("\n\n");
                rest.map_or("", |(_, rest)| rest.trim()).to_owned()
            }
            Self::Whole => text.to_owned(),
        }
    }
}

impl DocText {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Known(text) if text.is_empty())
    }

    /// Generates the text, as a constant.
    pub(crate) fn expand(&self, framework: &Framework) -> TokenStream {
        let (comment, part) = match self {
            Self::Known(text) => return quote!(#text),
            Self::Computed { comment, part } => (comment, part),
        };
        let pieces = comment.iter().map(|piece| match piece {
            DocPiece::Text(text) => quote!(#text),
            DocPiece::Expression(expression) => quote!(#expression),
        });
        let module = quote!(#framework::event::doc_text);
        let function = match part {
            DocPart::Summary => quote!(summary),
            DocPart::Title => quote!(title),
            DocPart::AfterSummary => quote!(text_after_summary),
            DocPart::Whole => quote!(whole),
        };
        let text = quote!(#module::#function(::core::concat!(#(#pieces, "\n"),*)));
        if matches!(part, DocPart::AfterSummary | DocPart::Whole) {
            return text;
        }
        quote! {{
            const TEXT: &'static str = #text;
            const LINE: [u8; TEXT.len()] = #module::one_line(TEXT);
            #module::as_text(&LINE)
        }}
    }
}

/// Returns the summary of an item: from its attribute, its doc comment or its name.
pub(crate) fn summary_or_name(
    ident: &Ident,
    literal: Option<&LitStr>,
    attrs: &[Attribute],
) -> DocText {
    let literal = literal.map(|literal| DocText::Known(literal.value()));
    literal
        .or_else(|| summary(attrs))
        .unwrap_or_else(|| DocText::Known(naming::sentence_of(ident)))
}

/// Returns the first paragraph of the doc comment as one line.
pub(crate) fn summary(attrs: &[Attribute]) -> Option<DocText> {
    let text = part(attrs, DocPart::Summary);
    (!text.is_empty()).then_some(text)
}

/// Returns the summary without its full stop.
pub(crate) fn title(attrs: &[Attribute]) -> Option<DocText> {
    let text = part(attrs, DocPart::Title);
    (!text.is_empty()).then_some(text)
}

/// Returns the paragraphs after the first one, with their line breaks.
pub(crate) fn text_after_summary(attrs: &[Attribute]) -> DocText {
    part(attrs, DocPart::AfterSummary)
}

/// Returns the whole doc comment, with its line breaks.
pub(crate) fn whole(attrs: &[Attribute]) -> DocText {
    part(attrs, DocPart::Whole)
}

fn part(attrs: &[Attribute], part: DocPart) -> DocText {
    let comment: Vec<_> = attrs.iter().filter_map(piece).collect();
    let mut lines = vec![];
    for piece in &comment {
        match piece {
            DocPiece::Text(text) => lines.extend(text.split('\n')),
            DocPiece::Expression(_) => return DocText::Computed { comment, part },
        }
    }
    DocText::Known(part.of_text(lines.join("\n").trim()))
}

/// Removes the stars at the beginning of the lines of block comments, as rustdoc does.
pub(crate) fn remove_stars(attrs: &mut [Attribute]) {
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("doc")) {
        if let Meta::NameValue(meta) = &mut attr.meta
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &mut meta.value
            && let Some(plain) = without_stars(&text.value())
        {
            *text = LitStr::new(&plain, text.span());
        }
    }
}

/// Returns the text without stars, if each line after the first one begins with a star.
fn without_stars(text: &str) -> Option<String> {
    let (first, starred) = text.trim_end().split_once('\n')?;
    let star = |line: &str| line.trim_start().strip_prefix('*').map(str::to_owned);
    let mut lines = vec![first.to_owned()];
    for line in starred.lines() {
        lines.push(star(line)?);
    }
    let lines = lines
        .iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    Some(lines.collect::<Vec<_>>().join("\n").trim().to_owned())
}

/// Returns the content of a `#[doc = …]` attribute, without the space before each of its lines, or `None`
/// for another attribute.
fn piece(attr: &Attribute) -> Option<DocPiece> {
    let Meta::NameValue(meta) = &attr.meta else {
        return None;
    };
    if !meta.path.is_ident("doc") {
        return None;
    }
    Some(match attribute::ungrouped(&meta.value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => {
            let text = text.value();
            let lines = text.split('\n');
            let trimmed = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
            DocPiece::Text(trimmed.collect::<Vec<_>>().join("\n"))
        }
        expression => DocPiece::Expression(expression.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &DocText) -> &str {
        match text {
            DocText::Known(text) => text,
            DocText::Computed { .. } => panic!("no attribute is an expression"),
        }
    }

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
            known(&summary(&item.attrs).unwrap()),
            "Adds a copy to the inventory."
        );
        assert_eq!(
            known(&title(&item.attrs).unwrap()),
            "Adds a copy to the inventory"
        );
        assert!(summary(&[]).is_none());
    }

    #[test]
    fn a_block_comment_has_no_stars() {
        let mut item: syn::DeriveInput = syn::parse_quote! {
            /** Adds a copy
             * to the inventory.
             *
             * * One of *many*.
             */
            #[doc = "Kinds:\n* one\nand another"]
            struct Purchase;
        };
        remove_stars(&mut item.attrs);
        let text = whole(&item.attrs);
        assert_eq!(
            known(&text),
            "Adds a copy\nto the inventory.\n\n* One of *many*.\nKinds:\n* one\nand another"
        );
        let mut item: syn::DeriveInput = syn::parse_quote! {
            /**
             * Adds a copy.
             */
            struct Purchase;
        };
        remove_stars(&mut item.attrs);
        assert_eq!(known(&whole(&item.attrs)), "Adds a copy.");
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
            known(&text_after_summary(&item.attrs)),
            "One of many.\n\nExample: `{\"id\": 1,\n\"age\": 2}`"
        );
        let text = whole(&item.attrs);
        assert!(known(&text).starts_with("Adds a copy\nto the inventory.\n\nOne"));
        assert!(text_after_summary(&[]).is_empty() && whole(&[]).is_empty());
    }
}
