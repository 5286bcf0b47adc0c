//! The rows that a statement selects, up to a size.

use super::Cell;

/// The rows that a statement selects. A statement with a limit of bytes may select more rows.
#[doc(hidden)]
#[derive(Debug)]
pub struct FetchedRows<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// True if the rows reached the limit of bytes. The statement may select more rows.
    pub is_cut: bool,
    bytes: usize,
    most_bytes: usize,
}

/// Returns about how many bytes a row takes.
fn size_of_row(cells: &[Cell]) -> usize {
    let length = |cell: &Cell| match cell {
        Cell::Text(text) => text.len(),
        Cell::Bytes(bytes) => bytes.len(),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Boolean(_) => 0,
    };
    let lengths = cells.iter().map(length).fold(0, usize::saturating_add);
    lengths.saturating_add(size_of_val(cells))
}

impl<T> FetchedRows<T> {
    /// Creates an empty list of at most `most_bytes`, not counting the last row. It has room for two rows of any
    /// size: the row of a page, and the row that begins the next page.
    pub(crate) const fn new(most_bytes: usize) -> Self {
        Self {
            rows: Vec::new(),
            is_cut: false,
            bytes: 0,
            most_bytes,
        }
    }

    /// Converts the rows, unless one cannot be converted.
    ///
    /// # Errors
    /// That of the first row that cannot be converted.
    pub fn try_map<U, E>(
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

impl FetchedRows<Vec<Cell>> {
    /// Adds a row. Returns false if the list takes no further row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) -> bool {
        self.bytes = self.bytes.saturating_add(size_of_row(&row));
        self.rows.push(row);
        self.is_cut = self.bytes >= self.most_bytes && self.rows.len() > 1;
        !self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a row without its text.
    const CELL: usize = size_of::<Cell>();

    fn collect(texts: &[&str], most_bytes: usize) -> (usize, bool) {
        let mut fetched = FetchedRows::new(most_bytes);
        let mut texts = texts.iter().map(|text| vec![Cell::from(*text)]);
        while let Some(text) = texts.next()
            && fetched.push(text)
        {}
        (fetched.rows.len(), fetched.is_cut)
    }

    #[test]
    fn the_rows_end_with_the_one_that_reaches_the_limit() {
        let limit = 3 * CELL + 5;
        assert_eq!(collect(&["ab", "cd", "ef", "gh"], limit), (3, true));
        assert_eq!(collect(&["ab", "cd"], limit), (2, false));
    }

    #[test]
    fn two_rows_of_any_size_are_taken() {
        assert_eq!(collect(&["abcdefgh", "ijklmnop", "q"], 5), (2, true));
        assert_eq!(collect(&["abcdefgh"], 5), (1, false));
    }
}
