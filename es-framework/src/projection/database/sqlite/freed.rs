//! Memory that a transaction gives back stays with the process, for the next one.

/// Twice as much free memory is kept: the pages that a transaction of a rebuild changes.
const CHUNK: usize = 4 * 1024 * 1024;

/// Has the allocator keep what is given back, up to [`CHUNK`] twice.
///
/// SQLite in memory keeps each page that a transaction changes beside the old one until its end. The
/// GNU allocator returns all of that to the system from 128 KiB on, so that the next transaction
/// faults each page in anew: 0.9 faults a row, and 40 % of the time of writing one. The limit follows
/// the largest chunk that was ever mapped by itself and given back, whoever did that, so one is.
/// Other allocators take no notice.
pub(super) fn keep() {
    let chunk = Vec::<u8>::with_capacity(CHUNK);
    // Nobody looks at it, so that it would never be made.
    drop(std::hint::black_box(chunk));
}
