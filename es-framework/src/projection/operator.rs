//! What an operator asks of read models on purpose: nothing here ever happens by itself.

use tokio::sync::mpsc;

use super::Refused;
use crate::operator;

/// What is asked of a read model.
///
/// ```
/// # use es_framework::projection::{Asked, Operator, OperatorError};
/// /// Goes on behind an event that nobody can mend.
/// async fn leave_out(operator: &Operator) -> Result<(), OperatorError> {
///     let left_out = operator.ask("book_copies", Asked::Skip).await?;
///     println!("left out: {left_out:?}");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// To make its rows again, beside those that answer queries meanwhile.
    Rebuild,
    /// To take the event that stopped it once more.
    Retry,
    /// To leave out the event that stopped it, now and in every rebuild.
    Skip,
}

/// Why a read model does not do what an operator asks.
///
/// ```
/// use es_framework::projection::OperatorError;
///
/// let error = OperatorError::Unknown("boks".into());
/// assert_eq!(error.to_string(), "there is no read model named boks");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperatorError {
    /// There is no read model of this name.
    #[error("there is no read model named {0}")]
    Unknown(String),
    /// It has not stopped.
    #[error("the read model {0} has not stopped at an event")]
    NotStopped(&'static str),
    /// It is being rebuilt.
    #[error("the read model {0} is being rebuilt already")]
    Rebuilding(&'static str),
    /// Another process has the right to write.
    #[error("another process keeps the read models up to date: ask that one")]
    StandsBy,
    /// The database failed.
    #[error("the database of read models failed: {0}")]
    Database(String),
    /// The processor is busy, waits for its database, or has ended.
    #[error("the read models do not answer at the moment: try again")]
    Silent,
}

/// Carries what an operator asks to the processor.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     projection::{Asked, Database, OperatorError, Processor, ReadModels},
///     store::memory::MemoryStore,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::projection::DatabaseError> {
/// let models = ReadModels::default();
/// let database = Database::in_memory(&models).await?;
/// let processor = Processor::new(Arc::new(MemoryStore::new()), database, models);
/// let operator = processor.operator();
/// let running = tokio::spawn(processor.run());
/// let answer = operator.ask("book_copies", Asked::Rebuild).await;
/// assert_eq!(answer, Err(OperatorError::Unknown("book_copies".into())));
/// # running.abort();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Operator(mpsc::Sender<Request>);

/// What is asked of which read model.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) model: String,
    pub(super) asked: Asked,
}

pub(super) type Request = operator::Request<Question, Answer>;

/// The event that is meant, if there is one.
pub(super) type Answer = Result<Option<Refused>, OperatorError>;

impl Operator {
    pub(super) fn new() -> (Self, mpsc::Receiver<Request>) {
        let (sender, requests) = mpsc::channel(operator::WAITING);
        (Self(sender), requests)
    }

    /// Asks something of a read model, and says which event was taken again or left out.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn ask(&self, model: &str, asked: Asked) -> Result<Option<Refused>, OperatorError> {
        let model = model.to_owned();
        let answer = operator::ask(&self.0, Question { model, asked }).await;
        answer.unwrap_or(Err(OperatorError::Silent))
    }
}
