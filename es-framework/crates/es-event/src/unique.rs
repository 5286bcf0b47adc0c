//! Fields of events whose values no two subjects may have at the same time.

use std::{borrow::Cow, sync::Arc};

use uuid::Uuid;

/// The rules about unique values that an event declares.
///
/// ```
/// use es_event::{UniqueField, UniqueNormalization, UniqueRules};
///
/// let card = UniqueField {
///     rule: "reader-card",
///     member: "card",
///     normalization: UniqueNormalization::default(),
///     keep_after_erasure: false,
/// };
/// assert_eq!((card.rule, card.member), ("reader-card", "card"));
/// // An event without the attributes `unique` and `releases` has no rules.
/// assert!(UniqueRules::NONE.fields.is_empty() && UniqueRules::NONE.releases.is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueRules {
    /// The fields with unique values.
    pub fields: &'static [UniqueField],
    /// The rules whose values the subject of the event gives up.
    pub releases: &'static [&'static str],
}

/// A field whose value no two subjects may have.
///
/// ```
/// use es_event::{UniqueField, UniqueNormalization};
///
/// // `#[unique("reader-card", trim, ignore_case)] card_number: String`
/// let field = UniqueField {
///     rule: "reader-card",
///     member: "cardNumber",
///     normalization: UniqueNormalization { trim: true, ignore_case: true, form: None },
///     keep_after_erasure: false,
/// };
/// assert!(field.normalization.trim);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueField {
    /// The name of the rule. All values under one name differ.
    pub rule: &'static str,
    /// The JSON name of the field.
    pub member: &'static str,
    /// The differences between texts that do not make them different values.
    pub normalization: UniqueNormalization,
    /// True if the value stays taken after the personal data of its subject is erased.
    pub keep_after_erasure: bool,
}

/// The differences between texts that do not make them different values. The default is none.
///
/// ```
/// use es_event::UniqueNormalization;
///
/// let exact = UniqueNormalization::default();
/// assert!(!exact.ignore_case && !exact.trim && exact.form.is_none());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UniqueNormalization {
    /// Ignores the case of letters, by the case folding of Unicode.
    pub ignore_case: bool,
    /// Ignores white space at both ends.
    pub trim: bool,
    /// Ignores different encodings of one character.
    pub form: Option<UnicodeForm>,
}

/// The form of Unicode that texts are compared in.
///
/// ```
/// use es_event::UnicodeForm;
///
/// assert_ne!(UnicodeForm::Nfc, UnicodeForm::Nfkc);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnicodeForm {
    /// A composed letter equals its parts: `é` is `e` and an accent.
    Nfc,
    /// Characters that mean the same are equal as well: `ﬁ` is `fi`, and a full-width `Ａ` is `A`.
    Nfkc,
}

/// The value of a unique field in one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueValue {
    /// The value as a text, or `None` if the field has no value.
    pub text: Option<String>,
    /// The person whose personal data the value is.
    pub person: Option<Uuid>,
}

/// A type whose values can be unique: a text, an integer, a `Uuid`, or an `Option` of one.
///
/// A type of your own writes itself as a text:
///
/// ```
/// use es_event::UniqueText;
///
/// struct CardNumber(String);
///
/// impl UniqueText for CardNumber {
///     fn unique_text(&self) -> Option<String> {
///         Some(self.0.clone())
///     }
/// }
///
/// assert_eq!(CardNumber("7".to_owned()).unique_text().as_deref(), Some("7"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be unique",
    label = "values of this type cannot be unique",
    note = "a unique field is a text, an integer, a `Uuid`, or an `Option` of one of these; another type implements `es_framework::event::UniqueText`"
)]
pub trait UniqueText {
    /// Returns the value as a text, or `None` if there is no value. Equal values have equal texts.
    fn unique_text(&self) -> Option<String>;
}

impl<T: UniqueText> UniqueText for Option<T> {
    fn unique_text(&self) -> Option<String> {
        self.as_ref().and_then(T::unique_text)
    }
}

macro_rules! displayed {
    ($($type:ty),*) => {
        $(impl UniqueText for $type {
            fn unique_text(&self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}

displayed!(
    String,
    Box<str>,
    Arc<str>,
    Cow<'_, str>,
    Uuid,
    u8,
    u16,
    u32,
    u64,
    u128,
    i8,
    i16,
    i32,
    i64,
    i128
);

impl UniqueRules {
    /// No rules.
    pub const NONE: Self = Self {
        fields: &[],
        releases: &[],
    };

    /// Returns the names of all rules, each once.
    #[doc(hidden)]
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let fields = self.fields.iter().map(|field| field.rule);
        let mut names: Vec<_> = fields.chain(self.releases.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
