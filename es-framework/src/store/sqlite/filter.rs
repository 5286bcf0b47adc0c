//! Which subjects nobody ever wrote to. Most commands ask for such a subject, and to look it up in
//! memory and on disk takes the writer longer than to store its event.

use std::hash::{BuildHasher as _, RandomState};

use rusqlite::Connection;

use super::key::Key;

/// How many blocks of a cache line each: 8 MiB, touched only as it fills. Up to some seven million
/// subjects a wrong "perhaps" is rarer than one in a hundred; beyond, it only becomes less useful.
const BLOCKS: usize = 1 << 17;
/// How many bits of its block a subject sets.
const BITS: u32 = 6;
/// How many index entries are read at once.
const SLICE: i64 = 512;

/// A Bloom filter over the subjects of all events.
#[derive(Debug)]
pub(super) struct Filter {
    hasher: RandomState,
    blocks: Vec<[u64; 8]>,
    learned: Learned,
}

/// How much of the index on disk the filter knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Learned {
    /// Up to this entry, or nothing yet.
    To(Option<(Key, i64)>),
    /// All of it: a "no" of the filter is certain.
    All,
    /// The index could not be read. Whoever asks is sent there.
    Failed,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            blocks: vec![[0; 8]; BLOCKS],
            learned: Learned::To(None),
        }
    }
}

impl Filter {
    /// The filter of a store whose index on disk is empty, or not.
    pub(super) fn after(indexed: u64) -> Self {
        let learned = match indexed {
            0 => Learned::All,
            _ => Learned::To(None),
        };
        Self {
            learned,
            ..Self::default()
        }
    }

    pub(super) fn insert(&mut self, subject: &[u8]) {
        let (block, bits) = self.place(subject);
        if let Some(block) = self.blocks.get_mut(block) {
            for (word, bit) in bits {
                if let Some(word) = block.get_mut(word) {
                    *word |= bit;
                }
            }
        }
    }

    /// Whether it is certain that nobody ever wrote to the subject.
    pub(super) fn is_new(&self, subject: &[u8]) -> bool {
        let (block, mut bits) = self.place(subject);
        let Some(block) = self.blocks.get(block) else {
            return false;
        };
        let is_set =
            |(word, bit): (usize, u64)| block.get(word).is_some_and(|word| word & bit != 0);
        self.learned == Learned::All && !bits.all(is_set)
    }

    /// A subject's block, and in it the words and bits that it sets.
    fn place(&self, subject: &[u8]) -> (usize, impl Iterator<Item = (usize, u64)> + use<>) {
        let hash = self.hasher.hash_one(subject);
        let index = |value: u64| usize::try_from(value).unwrap_or_default();
        let block = index(hash >> 32) & (BLOCKS - 1);
        // Nine bits choose one of a block's 512; a multiplication parts them from the block's.
        let spread = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = (0..BITS).map(move |number| {
            let bit = spread.rotate_right(number.wrapping_mul(9)) & 511;
            (index(bit >> 6), 1_u64 << (bit & 63))
        });
        (block, bits)
    }

    pub(super) const fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Takes in a slice of the index.
    pub(super) fn learn(&mut self, slice: rusqlite::Result<Vec<(Key, i64)>>) {
        self.learned = match slice {
            Err(_) => Learned::Failed,
            Ok(entries) => {
                for (subject, _) in &entries {
                    self.insert(subject);
                }
                match entries.into_iter().next_back() {
                    Some(last) => Learned::To(Some(last)),
                    None => Learned::All,
                }
            }
        };
    }
}

/// The index entries behind one.
pub(super) fn slice(
    connection: &Connection,
    after: Option<(Key, i64)>,
) -> rusqlite::Result<Vec<(Key, i64)>> {
    // Before every subject, since none is empty.
    let (subject, id) = after.unwrap_or_default();
    connection
        .prepare_cached(
            "SELECT subject, event_id FROM subject_index \
             WHERE (subject, event_id) > (?1, ?2) ORDER BY subject, event_id LIMIT ?3",
        )?
        .query_map((&*subject, id, SLICE), |row| {
            let subject: Vec<u8> = row.get(0)?;
            Ok((subject.into_boxed_slice(), row.get(1)?))
        })?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Vec<u8> {
        format!("/books/{number}").into_bytes()
    }

    #[test]
    fn what_was_written_is_never_new_and_almost_all_else_is() {
        let mut filter = Filter::after(0);
        for number in 0..100_000 {
            filter.insert(&key(number));
        }
        assert!((0..100_000).all(|number| !filter.is_new(&key(number))));
        let mistaken = (100_000..200_000).filter(|number| !filter.is_new(&key(*number)));
        assert!(mistaken.count() < 1_000);
    }

    #[test]
    fn nothing_is_new_before_the_index_is_known() {
        let mut filter = Filter::after(1);
        assert!(!filter.is_new(&key(1)));
        filter.learn(Ok(vec![(key(1).into_boxed_slice(), 0)]));
        assert!(!filter.is_new(&key(2)));
        filter.learn(Ok(vec![]));
        assert!(filter.is_new(&key(2)));
        assert!(!filter.is_new(&key(1)));
    }

    #[test]
    fn nothing_is_new_when_the_index_cannot_be_read() {
        let mut filter = Filter::after(1);
        filter.learn(Err(rusqlite::Error::InvalidQuery));
        assert!(!filter.is_new(&key(1)));
    }
}
