//! Reads attributes such as `#[name(key = value, …)]`: known keys, no key twice, values of the
//! right kind.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Token,
    parse::{ParseStream, Parser as _},
};

use super::{errors::Errors, naming};

/// Returns the elements of an attribute's parentheses that can be parsed. Records an error for each of the others.
pub(crate) fn parse_elements(attr: &Attribute, errors: &mut Errors) -> Vec<Meta> {
    parse_readable_elements(attr, errors).0
}

/// Returns the elements of an attribute's parentheses that can be parsed, and true if these are all. Records an
/// error for each of the others.
pub(crate) fn parse_readable_elements(attr: &Attribute, errors: &mut Errors) -> (Vec<Meta>, bool) {
    match &attr.meta {
        Meta::List(list) => parse_list(list.tokens.clone(), errors),
        Meta::Path(_) => (vec![], true),
        Meta::NameValue(meta) => {
            let name = key_name(&attr.meta);
            let message = format!("write the keys in parentheses: `#[{name}(…)]`");
            errors.record(meta, message);
            (vec![], false)
        }
    }
}

/// Returns the elements that can be parsed, and true if these are all. Records an error for each of the others.
pub(crate) fn parse_list(tokens: TokenStream, errors: &mut Errors) -> (Vec<Meta>, bool) {
    let (mut elements, mut is_whole) = (vec![], true);
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match parse_element(input) {
                Ok(element) => elements.push(element),
                Err(error) => {
                    errors.record_parse_error(error);
                    is_whole = false;
                    skip_element(input)?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.record_parse_error(error);
        is_whole = false;
    }
    (elements, is_whole)
}

/// Parses an element and the comma after it.
fn parse_element(input: ParseStream<'_>) -> syn::Result<Meta> {
    let element = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(element)
}

/// Skips all tokens to the next comma.
fn skip_element(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        if matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',') {
            break;
        }
    }
    Ok(())
}

/// Returns the attributes of this name.
pub(crate) fn named<'a>(
    attrs: impl IntoIterator<Item = &'a Attribute>,
    name: &str,
) -> impl Iterator<Item = &'a Attribute> {
    attrs
        .into_iter()
        .filter(move |attr| attr.path().is_ident(name))
}

/// Returns whether one of the attributes has this name.
pub(crate) fn has(attrs: &[Attribute], name: &str) -> bool {
    named(attrs, name).next().is_some()
}

/// Records an error for each attribute of this name, which stands at the wrong place.
pub(crate) fn refuse<'a>(
    attrs: impl IntoIterator<Item = &'a Attribute>,
    name: &str,
    message: &str,
    errors: &mut Errors,
) {
    for attr in named(attrs, name) {
        errors.record(attr, message);
    }
}

/// Returns the key of an element, or the name of an attribute.
pub(crate) fn key_name(meta: &Meta) -> String {
    let segments = meta.path().segments.iter();
    segments
        .map(|segment| segment.ident.to_string())
        .collect::<Vec<_>>()
        .join("::")
}

/// The keys that an attribute supports and those that occurred.
#[derive(Debug)]
pub(crate) struct SeenKeys {
    attribute: &'static str,
    noun: &'static str,
    known: &'static [&'static str],
    seen: Vec<&'static str>,
    /// True if an attribute could not be parsed. It may contain any key.
    is_unread: bool,
}

impl SeenKeys {
    pub(crate) fn new(attribute: &'static str, known: &'static [&'static str]) -> Self {
        Self {
            attribute,
            noun: "key",
            known,
            seen: vec![],
            is_unread: false,
        }
    }

    /// Sets the word for keys in error messages.
    pub(crate) fn called(self, noun: &'static str) -> Self {
        Self { noun, ..self }
    }

    /// Calls a function with each element that has a known key. Records an error for other
    /// elements.
    pub(crate) fn visit_keys(
        &mut self,
        attrs: &[Attribute],
        errors: &mut Errors,
        mut take: impl FnMut(&'static str, &Meta, &mut Errors),
    ) {
        let name = self.attribute;
        for attr in named(attrs, name) {
            let (elements, is_whole) = parse_readable_elements(attr, errors);
            self.is_unread |= !is_whole;
            for meta in elements {
                if let Some(key) = self.recognize(&meta, errors) {
                    take(key, &meta, errors);
                }
            }
        }
    }

    /// Returns the known key of this element. Records an error for unknown or repeated keys.
    pub(crate) fn recognize(&mut self, meta: &Meta, errors: &mut Errors) -> Option<&'static str> {
        let word = key_name(meta);
        let Some(key) = self.known.iter().find(|key| **key == word) else {
            let Self {
                attribute, noun, ..
            } = self;
            let meant = naming::known_names_hint(&word, self.known, noun);
            let message = format!("`{word}` is no {noun} of `#[{attribute}]`: {meant}");
            errors.record(meta.path(), message);
            self.seen.extend(naming::closest(&word, self.known));
            return None;
        };
        if self.seen.contains(key) {
            let message = format!("`{key}` is given twice: remove one of them");
            errors.record(meta, message);
            return None;
        }
        self.seen.push(key);
        Some(key)
    }

    /// Returns true if the key occurred, or if an attribute that may contain it could not be
    /// parsed.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.is_unread || self.seen.contains(&key)
    }
}

/// Returns the value of `key = value`.
pub(crate) fn parse_value<'a>(
    meta: &'a Meta,
    example: &str,
    errors: &mut Errors,
) -> Option<&'a Expr> {
    match meta {
        Meta::NameValue(meta) => Some(ungrouped(&meta.value)),
        Meta::Path(_) | Meta::List(_) => {
            let message = format!("`{}` has a value: write `{example}`", key_name(meta));
            errors.record(meta, message);
            None
        }
    }
}

/// Parses `key = one` or `key = [one, another]`. Returns the value and its elements.
pub(crate) fn parse_one_or_several<'a>(
    meta: &'a Meta,
    example: &str,
    errors: &mut Errors,
) -> Option<(&'a Expr, Vec<&'a Expr>)> {
    let value = parse_value(meta, example, errors)?;
    let elements = match value {
        Expr::Array(array) => array.elems.iter().collect(),
        one => vec![one],
    };
    Some((value, elements))
}

/// Records an error if a key has a value that takes none.
pub(crate) fn check_flag(meta: &Meta, errors: &mut Errors) {
    if !matches!(meta, Meta::Path(_)) {
        let message = format!("`{}` has no value: write it alone", key_name(meta));
        errors.record(meta, message);
    }
}

/// Removes the invisible group around a `$value:literal` that another macro passed.
pub(crate) fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        value => value,
    }
}

/// Returns a text in quotation marks.
pub(crate) fn text_of(value: &Expr) -> Option<&LitStr> {
    match ungrouped(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Returns a word without quotation marks.
pub(crate) fn word_of(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Returns the string of `key = "text"`.
pub(crate) fn parse_text(meta: &Meta, example: &str, errors: &mut Errors) -> Option<LitStr> {
    let value = parse_value(meta, example, errors)?;
    let text = text_of(value);
    if text.is_none() {
        let key = key_name(meta);
        let message = format!("`{key}` is a text in quotation marks: write `{example}`");
        errors.record(value, message);
    }
    text.cloned()
}

/// Returns the number of `key = 2`.
pub(crate) fn parse_number(meta: &Meta, example: &str, errors: &mut Errors) -> Option<LitInt> {
    let value = parse_value(meta, example, errors)?;
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
    {
        return Some(number.clone());
    }
    let message = format!("`{}` is a whole number: write `{example}`", key_name(meta));
    errors.record(value, message);
    None
}

/// Returns the word of `key = word`.
pub(crate) fn parse_word<'a>(
    meta: &'a Meta,
    example: &str,
    errors: &mut Errors,
) -> Option<&'a Ident> {
    let value = parse_value(meta, example, errors)?;
    let word = word_of(value);
    if word.is_none() {
        let key = key_name(meta);
        let message = format!("`{key}` is a word without quotation marks: write `{example}`");
        errors.record(value, message);
    }
    word
}

/// Returns the variant that a word stands for. Records an error for another word; `noun` says what the words are.
pub(crate) fn choose(
    word: &Ident,
    choices: &[(&'static str, &'static str)],
    (described, noun): (&str, &str),
    errors: &mut Errors,
) -> Option<&'static str> {
    let found = choices.iter().find(|(name, _)| word == name);
    if found.is_none() {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let meant = naming::known_names_hint(&word.to_string(), &names, noun);
        errors.record(word, format!("`{word}` is no {described}: {meant}"));
    }
    found.map(|(_, variant)| *variant)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn read(attr: &Attribute) -> Vec<String> {
        let mut errors = Errors::default();
        let mut keys = SeenKeys::new("command", &["subject", "path"]);
        let attrs = std::slice::from_ref(attr);
        keys.visit_keys(attrs, &mut errors, |_, meta, errors| {
            parse_text(meta, "subject = \"/books\"", errors);
        });
        errors.messages()
    }

    #[test]
    fn known_keys_with_texts_are_fine() {
        assert!(read(&parse_quote!(#[command(subject = "/a", path = "/b",)])).is_empty());
        assert!(read(&parse_quote!(#[command])).is_empty());
    }

    #[test]
    fn all_mistakes_of_one_attribute_are_noted() {
        let attr = parse_quote!(#[command(sujbect = "/a", path = 1, path = "/b", subject)]);
        assert_eq!(
            read(&attr),
            [
                "`sujbect` is no key of `#[command]`: did you mean `subject`?",
                "`path` is a text in quotation marks: write `subject = \"/books\"`",
                "`path` is given twice: remove one of them",
                "`subject` is given twice: remove one of them",
            ]
        );
    }

    #[test]
    fn an_element_that_cannot_be_parsed_does_not_hide_the_others() {
        let attr = parse_quote!(#[command(sujbect = "/a", path "/b", = 1, path = 1)]);
        assert_eq!(
            read(&attr),
            [
                "expected `,`",
                "expected identifier",
                "`sujbect` is no key of `#[command]`: did you mean `subject`?",
                "`path` is a text in quotation marks: write `subject = \"/books\"`",
            ]
        );
    }

    #[test]
    fn an_attribute_has_parentheses() {
        assert_eq!(
            read(&parse_quote!(#[command = "/a"])),
            ["write the keys in parentheses: `#[command(…)]`"]
        );
    }
}
