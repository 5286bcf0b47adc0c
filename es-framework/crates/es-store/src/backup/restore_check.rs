//! Checks the lines of a restore in their order. The stores write what it returns.

use super::{BackupLine, EndMark, LineTally};
use crate::{Chain, ChainFlaw, EventSchema, InvalidSchema};
use es_event::{EventType, RecordedEvent};

/// The reason why events are not restored from a backup or copied from another store. The text follows the name of
/// their source.
///
/// ```
/// use es_store::backup::RestoreFlaw;
///
/// let flaw = RestoreFlaw::Incomplete("disk failure".into());
/// assert_eq!(flaw.to_string(), "is not whole, its store said: disk failure");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RestoreFlaw {
    /// An event was changed, or one is missing.
    #[error("is broken at event {}: {}", .0.event, .0.reason)]
    Broken(ChainFlaw),
    /// The lines end with an error of their store.
    #[error("is not whole, its store said: {0}")]
    Incomplete(String),
    /// The end mark is missing, so lines before it may be missing, too.
    #[error(
        "has no end mark: it broke off, or an earlier version wrote it. Back up again, or restore a backup of an earlier version with --accept-missing-end"
    )]
    NoEnd,
    /// The lines differ from their end mark, or some follow it.
    #[error("is not whole: {0}")]
    End(String),
    /// A schema is invalid.
    #[error("has a broken schema of {0}: {1}")]
    Schema(EventType, InvalidSchema),
}

/// A line that the store of a restore writes.
#[derive(Debug)]
pub enum RestoredLine {
    /// The next event of the chain.
    Event(Box<RecordedEvent>),
    /// A valid schema.
    Schema(EventType, EventSchema),
}

/// The end of the lines that are restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RestoreEnd {
    /// The end mark must still follow.
    Required,
    /// The backup may lack the end mark, but not be empty.
    Optional,
    /// The lines are no backup, but come from another store. A copy compares both stores at its end.
    None,
    /// The end mark was read, and it fits.
    Reached,
}

/// The check of a restore.
#[derive(Debug)]
pub struct RestoreCheck {
    chain: Chain,
    tally: LineTally,
    end: RestoreEnd,
}

impl RestoreCheck {
    /// Begins with the lines of a whole backup.
    #[must_use]
    pub fn of_backup() -> Self {
        Self::new(Chain::default(), RestoreEnd::Required)
    }

    /// Begins with the lines of another store behind this chain.
    #[must_use]
    pub fn of_store(chain: Chain) -> Self {
        Self::new(chain, RestoreEnd::None)
    }

    fn new(chain: Chain, end: RestoreEnd) -> Self {
        Self {
            chain,
            tally: LineTally::default(),
            end,
        }
    }

    /// Accepts that the backup has no end mark.
    pub fn accept_missing_end(&mut self) {
        self.end = RestoreEnd::Optional;
    }

    /// Returns true if the lines come from another store.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.end == RestoreEnd::None
    }

    /// Returns the end of the chain.
    #[must_use]
    pub const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Checks the next line of the backup. Returns what the store has to write, if anything.
    ///
    /// # Errors
    /// The line breaks the hash chain, follows the end mark or does not fit it, is an error, or has an invalid schema.
    pub fn check_line(&mut self, line: BackupLine) -> Result<Option<RestoredLine>, RestoreFlaw> {
        if self.end == RestoreEnd::Reached {
            return Err(RestoreFlaw::End("lines follow its end mark".to_owned()));
        }
        self.tally.add_line(&line);
        match line {
            BackupLine::Event(event) => {
                self.chain
                    .verify_next(&event)
                    .map_err(RestoreFlaw::Broken)?;
                Ok(Some(RestoredLine::Event(event)))
            }
            BackupLine::Schema(event_type, schema) => {
                match EventSchema::parse_stored(schema.get()) {
                    Ok(schema) => Ok(Some(RestoredLine::Schema(event_type, schema))),
                    Err(error) => Err(RestoreFlaw::Schema(event_type, error)),
                }
            }
            BackupLine::Error(error) => Err(RestoreFlaw::Incomplete(error)),
            BackupLine::End(_) if self.is_copy() => Ok(None),
            BackupLine::End(mark) => {
                self.tally.check_end(&mark).map_err(RestoreFlaw::End)?;
                self.end = RestoreEnd::Reached;
                Ok(None)
            }
        }
    }

    /// Checks that no line is missing at the end.
    ///
    /// # Errors
    /// The end mark is missing.
    pub fn check_end(&self) -> Result<(), RestoreFlaw> {
        let is_whole = match self.end {
            RestoreEnd::Required => false,
            RestoreEnd::Optional => self.tally.end_mark() != EndMark::default(),
            RestoreEnd::None | RestoreEnd::Reached => true,
        };
        is_whole.then_some(()).ok_or(RestoreFlaw::NoEnd)
    }
}
