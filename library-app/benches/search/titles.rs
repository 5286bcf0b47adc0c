//! Titles and authors as a library has them: some words in very many, most in few.

use std::collections::BTreeSet;

const BEGINNINGS: [&str; 22] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "th",
    "sh", "br", "gr", "pl",
];
const MIDDLES: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];
const ENDS: [&str; 10] = ["", "n", "r", "s", "t", "ng", "nd", "l", "ck", "rd"];
const LINKS: [&str; 5] = ["of the", "and", "in", "of", "the"];
const WORDS: usize = 5_000;

/// The same numbers in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `limit`.
    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    pub(crate) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Words, the most frequent ones first.
pub(crate) struct Vocabulary(Vec<String>);

impl Vocabulary {
    pub(crate) fn new(chance: &mut Chance) -> Self {
        let mut words = Vec::new();
        let mut known = BTreeSet::new();
        while words.len() < WORDS {
            let mut word = String::new();
            for _ in 0..=chance.below(3) {
                word += chance.one_of(&BEGINNINGS);
                word += chance.one_of(&MIDDLES);
            }
            word += chance.one_of(&ENDS);
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        Self(words)
    }

    /// A word from this part of the vocabulary, in hundredths.
    pub(crate) fn word(&self, chance: &mut Chance, from: usize, to: usize) -> &str {
        let (from, to) = (from * WORDS / 100, to * WORDS / 100);
        &self.0[from + chance.below(to - from)]
    }

    /// A word as titles have them: the first thousand in more than half of all places.
    fn usual(&self, chance: &mut Chance) -> &str {
        let place = chance.below(WORDS) * chance.below(WORDS) / WORDS;
        &self.0[place * chance.below(WORDS) / WORDS]
    }

    pub(crate) fn title(&self, chance: &mut Chance) -> String {
        let mut title = capital(self.usual(chance));
        for _ in 0..chance.below(5) {
            if chance.below(2) == 0 {
                title = format!("{title} {}", chance.one_of(&LINKS));
            }
            title = format!("{title} {}", capital(self.usual(chance)));
        }
        title
    }

    pub(crate) fn author(&self, chance: &mut Chance) -> String {
        let names = [0, 1].map(|_| capital(self.word(chance, 0, 100)));
        names.join(" ")
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
