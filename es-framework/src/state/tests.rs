//! States over the memory store.
