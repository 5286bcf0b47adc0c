//! The life of a book copy.

mod purchase;

pub use purchase::BookPurchasedEvent;
