//! Attempts to connect to all servers of a URL at once.

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use sqlx::{AssertSqlSafe, PgConnection};

/// Makes all attempts at once, and returns the first success. A server that hangs delays nobody. If all
/// fail, it returns their errors.
///
/// # Errors
/// All attempts fail.
#[doc(hidden)]
pub async fn first_success<T, E>(
    attempts: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
) -> Result<T, Vec<E>> {
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    let mut failures = Vec::new();
    while let Some(attempt) = attempts.next().await {
        match attempt {
            Ok(success) => return Ok(success),
            Err(error) => failures.push(error),
        }
    }
    Err(failures)
}

/// True if a server accepts writes. One that refuses them either follows another server, or an operator has made it
/// read-only before the promotion of another one.
#[doc(hidden)]
pub const ACCEPTS_WRITES: &str =
    "NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";

/// Returns true if the server accepts writes.
///
/// # Errors
/// The connection fails.
#[doc(hidden)]
pub async fn accepts_writes(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT {ACCEPTS_WRITES}")))
        .fetch_one(connection)
        .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::Either;

    use super::*;

    async fn race(attempts: &[Option<Result<u8, u8>>]) -> Result<u8, Vec<u8>> {
        let attempts = attempts.iter().map(|attempt| match *attempt {
            Some(result) => Either::Left(ready(result)),
            None => Either::Right(pending()),
        });
        first_success(attempts).await
    }

    #[tokio::test]
    async fn a_success_waits_for_no_other_attempt() {
        assert_eq!(race(&[Some(Err(9)), None, Some(Ok(1))]).await, Ok(1));
    }

    #[tokio::test]
    async fn all_errors_remain_if_no_attempt_succeeds() {
        let attempts = [Some(Err(1)), Some(Err(7)), Some(Err(2))];
        let mut failures = race(&attempts).await.unwrap_err();
        failures.sort_unstable();
        assert_eq!(failures, [1, 2, 7]);
    }
}
