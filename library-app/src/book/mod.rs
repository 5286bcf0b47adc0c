//! The life of a book copy.

mod purchase;
