//! The form of a text that searches compare.

use super::text_folding::fold_text;

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

impl SearchForm {
    /// Converts a text to this form.
    pub(super) fn convert(self, text: &str) -> String {
        let folded = fold_text(text);
        match self {
            Self::Folded => folded,
            Self::Alphanumeric => folded.chars().filter(|one| one.is_alphanumeric()).collect(),
        }
    }

    /// Returns the prefix of the names of the columns that store this form.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Folded => "es_folded_",
            Self::Alphanumeric => "es_alphanumeric_",
        }
    }
}
