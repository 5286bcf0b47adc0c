/// A copy of a book.
#[derive(State)]
pub enum Book {
    Available,
    /// Somebody has it.
    Lent {
        reader: Uuid,
        #[serde(rename = "until")]
        due_at: Timestamp,
    },
}
