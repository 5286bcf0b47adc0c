//! What the query language does, end to end.
