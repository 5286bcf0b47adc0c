//! The random numbers of back-offs and lock stripes.

use std::{
    fmt,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

/// A source of random numbers. A seeded one repeats a run of a test exactly.
///
/// ```
/// use es_framework::command::RandomNumbers;
///
/// let [first, second] = [RandomNumbers::seeded(7), RandomNumbers::seeded(7)];
/// assert_eq!(first.next(), second.next());
/// assert_ne!(first.next(), RandomNumbers::system().next());
/// ```
#[derive(Clone)]
pub struct RandomNumbers {
    /// The state of a seeded source. The system has none.
    seeded: Option<Arc<Mutex<u64>>>,
}

impl RandomNumbers {
    /// Returns a source of numbers that nobody can predict.
    #[must_use]
    pub const fn system() -> Self {
        Self { seeded: None }
    }

    /// Returns a source whose numbers follow from the seed. Its clones share them.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let seeded = Some(Arc::new(Mutex::new(seed)));
        Self { seeded }
    }

    /// Returns the next random number.
    #[must_use]
    pub fn next(&self) -> u64 {
        match &self.seeded {
            None => RandomState::new().build_hasher().finish(),
            Some(state) => split_mix(&mut state.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl fmt::Debug for RandomNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.seeded.is_some() {
            "seeded"
        } else {
            "system"
        };
        write!(f, "RandomNumbers({source})")
    }
}
