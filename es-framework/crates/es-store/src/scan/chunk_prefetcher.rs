//! Loads the next chunks of a scan while the caller handles the previous ones.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::{Chunk, ChunkSource, Scan};
use crate::StoreError;

/// The number of chunks that are loaded at once, if the start of each chunk is known beforehand.
const AHEAD: usize = 2;

/// The state of one read.
pub(super) struct ChunkPrefetcher<C: ChunkSource> {
    source: C,
    /// The next parts of the scan, in its order.
    parts: VecDeque<ScanPart<C>>,
    /// The part of the scan that is not in `parts` yet.
    rest: Option<Scan>,
    goes_on: bool,
}

/// A part of a scan, and the task that loads its chunk if it has started.
struct ScanPart<C: ChunkSource> {
    scan: Scan,
    chunk: Option<JoinHandle<Result<Chunk<C::Events>, StoreError>>>,
}

impl<C: ChunkSource> ChunkPrefetcher<C> {
    pub(super) fn new(source: C, rest: Option<Scan>) -> Self {
        Self {
            source,
            parts: VecDeque::new(),
            rest,
            goes_on: false,
        }
    }

    pub(super) async fn next_events(&mut self) -> Result<Option<C::Events>, StoreError> {
        let Some(ScanPart { scan, chunk }) = self.parts.pop_front().or_else(|| self.split_off())
        else {
            return Ok(None);
        };
        let chunk = match chunk {
            None if !self.goes_on => self.source.first_chunk(&scan).await?,
            None => self.source.chunk(&scan).await?,
            Some(ahead) => ahead.await.map_err(|error| StoreError::Unavailable {
                address: "in this process".into(),
                reason: error.to_string(),
            })??,
        };
        if let Some(scan) = scan.after(&chunk) {
            let chunk = None;
            self.parts.push_front(ScanPart { scan, chunk });
        }
        // Many callers read only one or two events, so prefetching begins with the second chunk.
        if self.goes_on {
            self.ask_ahead();
        }
        self.goes_on = true;
        Ok(Some(chunk.events))
    }

    /// Starts the next loads as tasks, not as lazy futures. A task releases the log when it is done,
    /// even if the caller is slow.
    fn ask_ahead(&mut self) {
        while self.parts.len() < AHEAD {
            match self.split_off() {
                Some(part) => self.parts.push_back(part),
                None => break,
            }
        }
        for part in &mut self.parts {
            part.chunk.get_or_insert_with(|| {
                let (source, scan) = (self.source.clone(), part.scan.clone());
                tokio::spawn(async move { source.chunk(&scan).await })
            });
        }
    }

    /// Splits the next part off the rest. If the scan includes every id, the part has the length of a
    /// chunk. Otherwise the part is the whole rest, because nobody knows at which id the next chunk starts.
    fn split_off(&mut self) -> Option<ScanPart<C>> {
        let scan = self.rest.take()?;
        let (scan, rest) = if scan.is_everything() {
            scan.split(C::EVENTS)
        } else {
            (scan, None)
        };
        self.rest = rest;
        Some(ScanPart { scan, chunk: None })
    }
}
