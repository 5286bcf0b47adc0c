//! The normal form of a unique value: values with one normal form are the same value.

use std::borrow::Cow;

use es_event::{UnicodeForm, UniqueNormalization};
use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};

const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();
const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfc();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();

/// Returns the normal form of a text. A later version of Unicode does not change that of assigned characters.
pub(super) fn normalize(text: &str, normalization: UniqueNormalization) -> String {
    let UniqueNormalization {
        ignore_case,
        trim,
        form,
    } = normalization;
    let text = if trim { text.trim() } else { text };
    let composed = compose(text, form);
    if !ignore_case {
        return composed.into_owned();
    }
    // The folding of a letter can be several characters, which are not composed.
    compose(&CASES.fold_string(&composed), form).into_owned()
}

fn compose(text: &str, form: Option<UnicodeForm>) -> Cow<'_, str> {
    match form {
        None => Cow::Borrowed(text),
        Some(UnicodeForm::Nfc) => NFC.normalize(text),
        Some(UnicodeForm::Nfkc) => NFKC.normalize(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(ignore_case: bool, trim: bool, form: Option<UnicodeForm>) -> UniqueNormalization {
        UniqueNormalization {
            ignore_case,
            trim,
            form,
        }
    }

    #[test]
    fn an_undeclared_difference_makes_another_value() {
        for text in [" Ada ", "e\u{301}", "ﬁ", ""] {
            assert_eq!(normalize(text, UniqueNormalization::default()), text);
        }
    }

    #[test]
    fn each_declared_difference_is_ignored() {
        for (text, normalization, expected) in [
            ("STRASSE", with(true, false, None), "strasse"),
            ("Straße", with(true, false, None), "strasse"),
            ("\u{a0} Ada\t", with(false, true, None), "Ada"),
            ("e\u{301}", with(false, false, Some(UnicodeForm::Nfc)), "é"),
            ("ﬁ", with(false, false, Some(UnicodeForm::Nfc)), "ﬁ"),
            ("ﬁ", with(false, false, Some(UnicodeForm::Nfkc)), "fi"),
            (
                " E\u{301}Ａ ",
                with(true, true, Some(UnicodeForm::Nfkc)),
                "éa",
            ),
        ] {
            assert_eq!(normalize(text, normalization), expected, "{text:?}");
        }
    }
}
