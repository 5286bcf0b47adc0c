//! The rows that a statement selects, up to a size.

use super::super::{Cell, row_changes::TableRow};

/// The rows that a statement selects. A statement with a limit of bytes may select more rows.
#[derive(Debug)]
pub(crate) struct FetchedRows<T> {
    pub(crate) rows: Vec<T>,
    /// True if the rows reached the limit of bytes. The statement may select more rows.
    pub(crate) is_cut: bool,
    bytes: usize,
    most_bytes: usize,
}

/// A row with a size in memory.
pub(crate) trait RowSize {
    /// Returns about how many bytes the row takes.
    fn size(&self) -> usize;
}

impl RowSize for TableRow {
    fn size(&self) -> usize {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Boolean(_) => 0,
        };
        let texts = self.cells.iter().map(text).fold(0, usize::saturating_add);
        texts.saturating_add(size_of_val(self.cells.as_slice()))
    }
}

impl RowSize for String {
    fn size(&self) -> usize {
        self.len()
    }
}

impl<T> FetchedRows<T> {
    /// Creates an empty list of at most `most_bytes`, not counting the last row. It has room for two rows of any
    /// size: the row of a page, and the row that begins the next page.
    pub(super) const fn new(most_bytes: usize) -> Self {
        Self {
            rows: Vec::new(),
            is_cut: false,
            bytes: 0,
            most_bytes,
        }
    }

    /// Converts the rows, unless one cannot be converted.
    pub(crate) fn try_map<U, E>(
        self,
        convert: impl FnMut(T) -> Result<U, E>,
    ) -> Result<FetchedRows<U>, E> {
        Ok(FetchedRows {
            rows: self
                .rows
                .into_iter()
                .map(convert)
                .collect::<Result<_, E>>()?,
            is_cut: self.is_cut,
            bytes: self.bytes,
            most_bytes: self.most_bytes,
        })
    }
}

impl<T: RowSize> FetchedRows<T> {
    /// Adds a row. Returns false if the list takes no further row.
    pub(super) fn push(&mut self, row: T) -> bool {
        self.bytes = self.bytes.saturating_add(row.size());
        self.rows.push(row);
        self.is_cut = self.bytes >= self.most_bytes && self.rows.len() > 1;
        !self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(texts: &[&str], most_bytes: usize) -> (usize, bool) {
        let mut fetched = FetchedRows::new(most_bytes);
        let mut texts = texts.iter().map(|text| (*text).to_owned());
        while let Some(text) = texts.next()
            && fetched.push(text)
        {}
        (fetched.rows.len(), fetched.is_cut)
    }

    #[test]
    fn the_rows_end_with_the_one_that_reaches_the_limit() {
        assert_eq!(collect(&["ab", "cd", "ef", "gh"], 5), (3, true));
        assert_eq!(collect(&["ab", "cd"], 5), (2, false));
    }

    #[test]
    fn two_rows_of_any_size_are_taken() {
        assert_eq!(collect(&["abcdefgh", "ijklmnop", "q"], 5), (2, true));
        assert_eq!(collect(&["abcdefgh"], 5), (1, false));
    }
}
