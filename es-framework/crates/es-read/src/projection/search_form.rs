//! The form of a text that searches compare.

use super::text_folding::fold_text;
use es_event::are_equal;

/// The form of a text that searches compare. A table stores it in a column beside the text.
///
/// ```
/// use es_framework::{prelude::*, projection::{SearchForm, SearchedColumn}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, isbn: String }
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// struct BookCopy {
///     #[key]
///     id: Uuid,
///     #[search(alphanumeric)]
///     isbn: String,
/// }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, isbn: event.isbn }
/// #     }
/// # }
///
/// let isbn = SearchedColumn { column: "isbn", form: SearchForm::Alphanumeric };
/// assert_eq!(BookCopy::SEARCHED, [isbn]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchForm {
    /// The text without differences in case and in the ways to write a character.
    Folded,
    /// The letters and digits of the folded text. All comparisons, sort orders and groups use this form.
    Alphanumeric,
}

/// A column that the declaration of a read model prepares for searches.
///
/// ```
/// use es_framework::{prelude::*, projection::{SearchForm, SearchedColumn}, query::Column};
///
/// fn searched<R: ReadModel>(title: Column<R, String>) -> SearchedColumn {
///     title.searched(SearchForm::Folded)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchedColumn {
    /// The column's name.
    pub column: &'static str,
    /// The form that searches compare.
    pub form: SearchForm,
}

/// Returns true if a comparison with a column finds no other text than the one that it names.
#[must_use]
pub const fn compares_exactly(mut searched: &[SearchedColumn], column: &str) -> bool {
    while let [first, others @ ..] = searched {
        if are_equal(first.column, column) && matches!(first.form, SearchForm::Alphanumeric) {
            return false;
        }
        searched = others;
    }
    true
}

impl SearchForm {
    /// Converts a text to this form.
    pub(crate) fn convert(self, text: &str) -> String {
        let folded = fold_text(text);
        match self {
            Self::Folded => folded,
            Self::Alphanumeric => folded.chars().filter(|one| one.is_alphanumeric()).collect(),
        }
    }

    /// Converts a substring that is searched for. Returns `None` for signs without a letter or digit, which no value of
    /// letters and digits contains.
    pub(super) fn convert_substring(self, text: &str) -> Option<String> {
        let converted = self.convert(text);
        let is_lost = converted.is_empty() && !fold_text(text).is_empty();
        (!is_lost).then_some(converted)
    }

    /// Returns the prefix of the names of the columns that store this form.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Folded => "es_folded_",
            Self::Alphanumeric => "es_alphanumeric_",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_alone_are_contained_in_no_value_of_letters_and_digits() {
        let form = SearchForm::Alphanumeric;
        assert_eq!(form.convert_substring("978-0"), Some("9780".to_owned()));
        assert_eq!(form.convert_substring("-'"), None);
        assert_eq!(form.convert_substring(""), Some(String::new()));
        assert_eq!(
            SearchForm::Folded.convert_substring("-"),
            Some("-".to_owned())
        );
    }
}
