#[publish(personal(name))]
#[cfg(feature = "lending")]
fn reader_joined(
    event: ReaderRegisteredEvent,
    reader: &Reader,
    #[subject("/branches/{branch}")] branch: Option<&Branch>,
) -> (ReaderJoined, Option<BranchGrew>) {
    (ReaderJoined { name: event.name }, branch.map(Branch::grown))
}
