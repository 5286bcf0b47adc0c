//! The cost of a statement, which decides the connections that it may use.

/// The cost of a statement of a query. Each database has connections for [`QueryCost::Probe`], connections for
/// [`QueryCost::Lookup`], and connections for the rest, so that a cheap statement never waits for an expensive one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum QueryCost {
    /// Asks whether the database answers.
    Probe,
    /// Reads one row by its key.
    Lookup,
    /// Reads some rows. The database may look at each row of the table.
    Page,
    /// Counts or groups rows. The database looks at each row that meets the conditions.
    Aggregate,
}

impl QueryCost {
    /// Returns the part of a caller's share that the statement uses while it runs.
    #[must_use]
    pub const fn weight(self) -> u32 {
        match self {
            Self::Probe | Self::Lookup => 0,
            Self::Page => 1,
            Self::Aggregate => 2,
        }
    }
}
