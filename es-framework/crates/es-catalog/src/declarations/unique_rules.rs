//! The rules about unique values: whether they fit together, and how the model of an application has them.

use std::collections::BTreeMap;

use crate::model::ModelRule;
use es_event::{Declaration, EventDescriptor, UnicodeForm, UniqueField, UniqueRules};

use super::catalog_error::CatalogError;

/// Checks that the fields of each unique rule are compared in one way, and that every released rule has a field.
pub(crate) fn check_unique_rules(events: &[EventDescriptor]) -> Result<(), CatalogError> {
    let mut known: BTreeMap<&str, (&UniqueField, Declaration)> = BTreeMap::new();
    for event in events {
        for field in event.unique.fields {
            let declared = (field, event.declaration);
            let (first, place) = *known.entry(field.rule).or_insert(declared);
            let words = |one: &UniqueField| (one.normalization, one.keep_after_erasure);
            if words(first) != words(field) {
                return Err(CatalogError::AmbiguousUniqueRule {
                    rule: field.rule,
                    first: place,
                    second: event.declaration,
                });
            }
        }
    }
    for event in events {
        let mut released = event.unique.releases.iter();
        if let Some(rule) = released.find(|rule| !known.contains_key(**rule)) {
            return Err(CatalogError::UnknownUniqueRule {
                rule,
                event_type: event.event_type,
                declaration: event.declaration,
            });
        }
    }
    Ok(())
}

/// Describes the rules of an event.
pub(crate) fn describe_rules(rules: &UniqueRules) -> Vec<ModelRule> {
    let fields = rules.fields.iter().map(rule_about_field);
    let releases = rules.releases.iter().map(|rule| ModelRule {
        label: format!("releases {rule}"),
        sentence: format!("The subject gives up its values of the rule {rule}."),
    });
    fields.chain(releases).collect()
}

fn rule_about_field(field: &UniqueField) -> ModelRule {
    let UniqueField {
        rule,
        member,
        normalization,
        keep_after_erasure,
    } = field;
    let case = normalization.ignore_case.then_some("case");
    let trim = normalization.trim.then_some("white space at both ends");
    let form = normalization.form.map(|form| match form {
        UnicodeForm::Nfc => "the encoding of characters",
        UnicodeForm::Nfkc => "the form of characters",
    });
    let ignored: Vec<_> = [case, trim, form].into_iter().flatten().collect();
    let mut sentence = format!("No two subjects have the same `{member}`, by the rule {rule}");
    if !ignored.is_empty() {
        sentence.push_str(", which ignores ");
        sentence.push_str(&ignored.join(" and "));
    }
    sentence.push('.');
    if *keep_after_erasure {
        sentence.push_str(" A value stays taken after the erasure of its person.");
    }
    ModelRule {
        label: format!("{member} unique by {rule}"),
        sentence,
    }
}
