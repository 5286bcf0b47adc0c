//! The folding of texts. It leaves out the differences that a search ignores.

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{
    ComposingNormalizer, ComposingNormalizerBorrowed, DecomposingNormalizer,
    DecomposingNormalizerBorrowed,
};
use icu_properties::{
    CodePointSetData, CodePointSetDataBorrowed, props::DefaultIgnorableCodePoint,
};

const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();
const CANONICAL: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfd();
const COMPATIBLE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();
const COMPOSED: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
const IGNORABLE: CodePointSetDataBorrowed<'static> =
    CodePointSetData::new::<DefaultIgnorableCodePoint>();

const DOT_ABOVE: char = '\u{307}';
const DOTLESS_I: char = 'ı';

/// Folds a text by the tables of Unicode, so that a comparison ignores the case of letters and the ways to write a
/// character: NFKC_Casefold of the Unicode Standard (chapter 3.13 and UAX 44).
///
/// The letters `I`, `i`, `İ` and `ı` become one. Unicode has two foldings of `I`, the default one and that of Turkic
/// languages, and nothing tells the language of a text. So the search equates what one of the two equates.
///
/// A later version of Unicode folds the characters of an earlier one in the same way, so stored texts stay valid.
#[doc(hidden)]
#[must_use]
pub fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let canonical = CASES.fold_string(&CANONICAL.normalize(text)).into_owned();
    let folded = CASES
        .fold_string(&COMPATIBLE.normalize(&canonical))
        .into_owned();
    let mut kept = String::with_capacity(folded.len());
    for character in folded.chars() {
        match character {
            DOTLESS_I => kept.push('i'),
            DOT_ABOVE if kept.ends_with('i') => {}
            character if IGNORABLE.contains(character) => {}
            character => kept.push(character),
        }
    }
    COMPOSED.normalize(&kept).into_owned()
}

#[cfg(test)]
mod tests;
