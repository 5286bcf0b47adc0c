//! Attempts to connect to all servers of a URL at once.

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use sqlx::{AssertSqlSafe, PgConnection};

/// Makes all attempts at once, and returns the first success. A server that hangs delays nobody. If all
/// fail, the error is the one of the highest `rank`, or none where there was no attempt.
pub(super) async fn first_success<T, E>(
    attempts: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
    rank: impl Fn(&E) -> u8,
) -> Result<T, Option<E>> {
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    let mut failure = None;
    while let Some(attempt) = attempts.next().await {
        match attempt {
            Ok(success) => return Ok(success),
            Err(error)
                if failure
                    .as_ref()
                    .is_none_or(|other| rank(&error) > rank(other)) =>
            {
                failure = Some(error);
            }
            Err(_) => {}
        }
    }
    Err(failure)
}

/// True if a server accepts writes. One that refuses them either follows another server, or an operator has made it
/// read-only before the promotion of another one.
pub(super) const ACCEPTS_WRITES: &str =
    "NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";

/// Returns true if the server accepts writes.
pub(super) async fn accepts_writes(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT {ACCEPTS_WRITES}")))
        .fetch_one(connection)
        .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::Either;

    use super::*;

    async fn race(attempts: &[Option<Result<u8, u8>>]) -> Result<u8, Option<u8>> {
        let attempts = attempts.iter().map(|attempt| match *attempt {
            Some(result) => Either::Left(ready(result)),
            None => Either::Right(pending()),
        });
        first_success(attempts, |error| *error).await
    }

    #[tokio::test]
    async fn a_success_waits_for_no_other_attempt() {
        assert_eq!(race(&[Some(Err(9)), None, Some(Ok(1))]).await, Ok(1));
    }

    #[tokio::test]
    async fn the_error_of_the_highest_rank_remains() {
        let attempts = [Some(Err(1)), Some(Err(7)), Some(Err(2))];
        assert_eq!(race(&attempts).await, Err(Some(7)));
        assert_eq!(race(&[]).await, Err(None));
    }
}
