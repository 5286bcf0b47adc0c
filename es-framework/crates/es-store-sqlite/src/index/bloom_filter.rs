//! A Bloom filter that recognizes subjects without events. Most commands write to such a subject, and
//! a lookup of it in memory and on disk takes the writer longer than storing its event.

use std::hash::{BuildHasher as _, RandomState};

use super::subject_page::{EntryPosition, SubjectPage};
use crate::database_error::SqliteError;

/// The number of blocks, each of them one cache line: 8 MiB in total, touched only as the filter
/// fills. Up to seven million subjects, less than 1 % of the lookups are false positives. Beyond that
/// the filter only becomes less useful.
const BLOCKS: usize = 1 << 17;
/// The number of bits that a subject sets in its block.
const BITS: u32 = 6;
/// A Bloom filter over the subjects of all events.
#[derive(Debug)]
pub(super) struct BloomFilter {
    hasher: RandomState,
    blocks: Vec<[u64; 8]>,
    progress: FilterProgress,
}

/// The progress of filling the filter from the index on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilterProgress {
    /// The entries up to this one.
    UpTo(EntryPosition),
    /// All entries: a negative answer of the filter is certain.
    Complete,
    /// The index cannot be read. Lookups do not use the filter.
    Failed,
}

impl FilterProgress {
    /// Every subject starts with a slash; the keys of other lists sort before it.
    fn before_all_subjects() -> Self {
        Self::UpTo((b"/".as_slice().into(), -1))
    }
}

impl Default for BloomFilter {
    /// A filter that excludes nothing and takes no memory.
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            blocks: Vec::new(),
            progress: FilterProgress::before_all_subjects(),
        }
    }
}

impl BloomFilter {
    /// Creates the filter of a store whose index on disk covers this many events.
    pub(super) fn for_index_of(covered: u64) -> Self {
        let progress = match covered {
            0 => FilterProgress::Complete,
            _ => FilterProgress::before_all_subjects(),
        };
        Self {
            hasher: RandomState::new(),
            blocks: vec![[0; 8]; BLOCKS],
            progress,
        }
    }

    /// Adds a subject that has an event.
    pub(super) fn insert(&mut self, subject: &[u8]) {
        let (block, bits) = self.bits_of(subject);
        if let Some(block) = self.blocks.get_mut(block) {
            for (word, bit) in bits {
                if let Some(word) = block.get_mut(word) {
                    *word |= bit;
                }
            }
        }
    }

    /// Returns true if the subject certainly has no event.
    pub(super) fn excludes(&self, subject: &[u8]) -> bool {
        let (block, mut bits) = self.bits_of(subject);
        let Some(block) = self.blocks.get(block) else {
            return false;
        };
        let is_set =
            |(word, bit): (usize, u64)| block.get(word).is_some_and(|word| word & bit != 0);
        self.progress == FilterProgress::Complete && !bits.all(is_set)
    }

    /// Returns the block of a subject, and the words and bits that the subject sets in it.
    fn bits_of(&self, subject: &[u8]) -> (usize, impl Iterator<Item = (usize, u64)> + use<>) {
        let hash = self.hasher.hash_one(subject);
        let index = |value: u64| usize::try_from(value).unwrap_or_default();
        let block = index(hash >> 32) & (BLOCKS - 1);
        // Nine bits select one of the block's 512 bits. The multiplication makes them independent of
        // the bits that select the block.
        let spread = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = (0..BITS).map(move |number| {
            let bit = spread.rotate_right(number.wrapping_mul(9)) & 511;
            (index(bit >> 6), 1_u64 << (bit & 63))
        });
        (block, bits)
    }

    pub(super) const fn progress(&self) -> &FilterProgress {
        &self.progress
    }

    /// Adds the next subjects of the index, or records that the index cannot be read.
    pub(super) fn add_page(&mut self, page: Result<SubjectPage, SqliteError>) {
        self.progress = match page {
            Err(_) => FilterProgress::Failed,
            Ok(page) => {
                for subject in &page.subjects {
                    self.insert(subject);
                }
                page.last
                    .map_or(FilterProgress::Complete, FilterProgress::UpTo)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Vec<u8> {
        format!("/books/{number}").into_bytes()
    }

    #[test]
    fn what_was_written_is_never_new_and_almost_all_else_is() {
        let mut filter = BloomFilter::for_index_of(0);
        for number in 0..100_000 {
            filter.insert(&key(number));
        }
        assert!((0..100_000).all(|number| !filter.excludes(&key(number))));
        let mistaken = (100_000..200_000).filter(|number| !filter.excludes(&key(*number)));
        assert!(mistaken.count() < 1_000);
    }

    #[test]
    fn nothing_is_new_before_the_index_is_known() {
        let mut filter = BloomFilter::for_index_of(1);
        assert!(!filter.excludes(&key(1)));
        let page = |subjects: Vec<Box<[u8]>>| {
            let last = subjects.last().cloned().map(|subject| (subject, 0));
            Ok(SubjectPage { subjects, last })
        };
        filter.add_page(page(vec![key(1).into_boxed_slice()]));
        assert!(!filter.excludes(&key(2)));
        filter.add_page(page(vec![]));
        assert!(filter.excludes(&key(2)));
        assert!(!filter.excludes(&key(1)));
    }

    #[test]
    fn nothing_is_new_when_the_index_cannot_be_read() {
        let mut filter = BloomFilter::for_index_of(1);
        filter.add_page(Err(rusqlite::Error::InvalidQuery.into()));
        assert!(!filter.excludes(&key(1)));
    }
}
