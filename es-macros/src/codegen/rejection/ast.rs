//! Parses the enum or struct of a rejection.

use syn::{Attribute, Data, DeriveInput, Fields, Ident};

use super::attr::{self, RejectionAttr};
use crate::codegen::{
    attribute,
    doc_comment::{self, DocText},
    errors::Errors,
    generics,
};

/// The parsed item.
pub(crate) struct RejectionItem {
    pub(crate) ident: Ident,
    pub(crate) refusals: Vec<RejectionVariant>,
    /// True if the item is an enum.
    pub(crate) is_enum: bool,
}

/// A variant of the enum, or the struct itself.
pub(crate) struct RejectionVariant {
    pub(crate) ident: Ident,
    /// The summary of the doc comment, without its full stop.
    pub(crate) title: Option<DocText>,
    pub(crate) attr: RejectionAttr,
    pub(crate) fields: Vec<Ident>,
}

/// Parses the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> Option<RejectionItem> {
    let message = "a rejection has no generic parameters: its sorts are listed for callers, so write the types out";
    generics::reject_generics(&item.generics, message, errors);
    let (refusals, is_enum) = match &item.data {
        Data::Struct(data) => {
            let refusal = refusal(&item.ident, &item.attrs, &data.fields, errors);
            (vec![refusal], false)
        }
        Data::Enum(data) => {
            check_enum(item, data.variants.is_empty(), errors);
            let variants = data.variants.iter();
            let refusals = variants
                .map(|variant| refusal(&variant.ident, &variant.attrs, &variant.fields, errors));
            (refusals.collect(), true)
        }
        Data::Union(data) => {
            errors.record(
                data.union_token,
                "a rejection is an enum or a struct, not a union",
            );
            return None;
        }
    };
    Some(RejectionItem {
        ident: item.ident.clone(),
        refusals,
        is_enum,
    })
}

fn check_enum(item: &DeriveInput, is_empty: bool, errors: &mut Errors) {
    if is_empty {
        let message = format!(
            "`{}` has no variants, so it can refuse nothing: write one for each refusal",
            item.ident
        );
        errors.record(&item.ident, message);
    }
    let message = "each variant is a refusal of its own: write `#[rejection(…)]` above the variants, not above the enum";
    attribute::refuse(&item.attrs, "rejection", message, errors);
}

fn refusal(
    ident: &Ident,
    attrs: &[Attribute],
    fields: &Fields,
    errors: &mut Errors,
) -> RejectionVariant {
    if let Fields::Unnamed(unnamed) = fields {
        let message = format!(
            "the fields of a refusal are named, so that `detail` can show them: write `{ident} {{ name: Type }}`"
        );
        errors.record(unnamed, message);
    }
    let on_fields = fields.iter().flat_map(|field| &field.attrs);
    let message = "`#[rejection(…)]` stands above the refusal, not on a field of it";
    attribute::refuse(on_fields, "rejection", message, errors);
    RejectionVariant {
        ident: ident.clone(),
        title: doc_comment::title(attrs),
        attr: attr::parse_attributes(attrs, errors),
        fields: fields
            .iter()
            .filter_map(|field| field.ident.clone())
            .collect(),
    }
}
