/// Why a copy is not lent.
#[derive(Debug, Rejection)]
pub enum LendingError {
    /// The copy is lent
    #[rejection(conflict, detail = "the copy is lent to {reader} until {due_at}")]
    CopyIsLent { due_at: Timestamp, reader: Uuid, since: Timestamp },
    /// The copy was removed.
    #[rejection(gone)]
    CopyRemoved,
    #[rejection(not_found, name = "reader-unknown", detail = "there is no such reader")]
    NoSuchReader,
}
