//! The source of a query, as far as it depends on who answers the query.

/// A template with the values that a query with a handler and one without do not share.
pub(super) struct QuerySource {
    pub(super) template: &'static str,
    /// The argument of `#[query(…)]` behind the path.
    pub(super) argument: String,
    pub(super) fields: Vec<String>,
    /// The values of the template that only this kind of query has.
    pub(super) values: Vec<(&'static str, String)>,
}
