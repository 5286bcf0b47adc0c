#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, gone)]
    CopyIsLent,
    CopyRemoved,
}
