//! A row that a database refuses waits at its event, which is named, and all others go on. An outage holds no row.

use std::time::{Duration, Instant};

use es_framework::{event::PoisonEvent, operator::OperatorCommand, prelude::*};

use super::{
    eventually::eventually,
    long_texts::random_text,
    note_board::{Note, NoteBoard, NoteErasedEvent, NoteWrittenEvent},
    postgres_server::PostgresServer,
};

/// Waits until a row is held, and returns the event at which it is.
async fn await_held_row(board: &NoteBoard) -> PoisonEvent {
    eventually("a row is held", async || {
        let held = board.progress.held_keys();
        held.iter().next().map(|held| held.poison.clone())
    })
    .await
}

async fn names(board: &NoteBoard) -> Vec<String> {
    let rows = board.context().rows::<Note>().all(100).await.unwrap();
    rows.into_iter().map(|row| row.name).collect()
}

/// Appends a note between two others, and skips it when its row is held.
async fn skip_between_others(board: &NoteBoard, refused: NoteWrittenEvent, reason: &str) {
    board.append(&[NoteWrittenEvent::new("before", "")]).await;
    let poison = board.append(&[refused]).await;
    let after = board.append(&[NoteWrittenEvent::new("after", "")]).await;
    board.await_position(after).await;
    let held = await_held_row(board).await;
    assert_eq!(held.id, poison);
    assert!(held.reason.contains(reason), "{}", held.reason);
    assert_eq!(names(board).await, ["before", "after"]);

    board.operate(OperatorCommand::Retry).await;
    assert_eq!(await_held_row(board).await.id, poison);
    board.operate(OperatorCommand::Skip).await;
    assert!(board.progress.held_keys().is_empty());
    assert_eq!(names(board).await, ["before", "after"]);
}

#[tokio::test]
async fn a_text_that_postgresql_refuses_is_a_poison_event() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    let refused = NoteWrittenEvent::new("nul", "a\0b");
    skip_between_others(&board, refused, "invalid byte sequence").await;
}

#[tokio::test]
async fn a_key_that_postgresql_refuses_is_a_poison_event() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    let refused = NoteWrittenEvent::new("n\0l", "");
    skip_between_others(&board, refused, "invalid byte sequence").await;
}

#[tokio::test]
async fn a_limit_of_postgresql_that_one_row_exceeds_makes_its_event_poison() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    board
        .append_and_wait(&[NoteWrittenEvent::new("first", "")])
        .await;
    board.run_sql("CREATE INDEX by_hand ON notes (text)");
    let text = random_text(5, 9_000);
    let poison = board.append(&[NoteWrittenEvent::new("long", &text)]).await;
    let held = await_held_row(&board).await;
    assert_eq!(held.id, poison);
    assert!(held.reason.contains("index row"), "{}", held.reason);
}

#[tokio::test]
async fn a_number_that_is_not_finite_is_a_poison_event() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        let mut refused = NoteWrittenEvent::new("mean", "");
        (refused.sum, refused.count) = (0.0, 0);
        skip_between_others(&board, refused, "mean: NaN and the infinities").await;
    }
}

/// Computes a mean of nothing.
#[derive(Query)]
#[query(path = "/mean")]
struct ShowMean {}

impl QueryHandler for ShowMean {
    type Output = Vec<f64>;

    async fn handle(self, _: &QueryContext<'_>) -> Result<Vec<f64>, QueryError> {
        Ok(vec![1.0, f64::NAN])
    }
}

#[tokio::test]
async fn an_answer_with_a_number_that_is_not_finite_is_an_error() {
    let board = NoteBoard::start(None).await;
    let error = board.run_query::<ShowMean>().await.unwrap_err();
    let reason = "/1: NaN and the infinities are no JSON numbers";
    assert!(error.to_string().ends_with(reason), "{error}");
}

#[tokio::test]
async fn a_list_of_integers_of_any_length_is_read_as_it_was_written() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        let mut event = NoteWrittenEvent::new("debts", "");
        event.debts = vec![
            u128::MAX.to_string(),
            "18446744073709551616".into(),
            "0".into(),
        ];
        board.append_and_wait(&[event]).await;
        let row = board
            .context()
            .rows::<Note>()
            .first()
            .await
            .unwrap()
            .unwrap();
        assert_eq!(row.debts, [u128::MAX, 1 << 64, 0]);
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_waits_at_the_event_that_changes_it() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    board
        .append_and_wait(&[NoteWrittenEvent::new("damaged", "")])
        .await;
    board.run_sql("UPDATE notes SET debts = '{'");
    let name = "damaged".to_owned();
    let poison = board.append(&[NoteErasedEvent { name }]).await;
    let held = await_held_row(&board).await;
    assert_eq!(held.id, poison);
    let reason = "the stored row cannot be read";
    assert!(held.reason.contains(reason), "{}", held.reason);
    board.operate(OperatorCommand::Skip).await;
    board.await_position(poison).await;
}

#[tokio::test]
async fn an_outage_stops_no_read_model_and_is_retried_ever_more_seldom() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    board
        .append_and_wait(&[NoteWrittenEvent::new("first", "")])
        .await;
    // A full disk, and the number of attempts, which no rollback undoes.
    board.run_sql(
        "CREATE SEQUENCE attempts; \
         CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             PERFORM nextval('attempts'); \
             RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION fail()",
    );
    let begin = Instant::now();
    let last = board.append(&[NoteWrittenEvent::new("second", "")]).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let attempts = board.run_sql("SELECT last_value FROM attempts");
    let attempts: u64 = attempts.trim().parse().unwrap();
    assert!(
        (2..=8).contains(&attempts),
        "{attempts} in {:?}",
        begin.elapsed()
    );
    assert_eq!(board.progress.poison_event(), None);
    assert!(board.progress.held_keys().is_empty());
    assert!(
        board
            .progress
            .state()
            .trouble()
            .unwrap()
            .reason
            .contains("no space left")
    );

    board.run_sql("DROP TRIGGER full_disk ON notes");
    while board.progress.is_stopped() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{:?}",
            board.progress
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    board.await_position(last).await;
    assert_eq!(names(&board).await, ["first", "second"]);
}

#[tokio::test]
async fn a_list_is_complete_or_an_error() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        let notes: Vec<_> = (0..1_003)
            .map(|number| NoteWrittenEvent::new(&format!("note {number}"), ""))
            .collect();
        board.append_and_wait(&notes).await;
        let rows = || board.context().rows::<Note>();
        assert_eq!(rows().all(1_003).await.unwrap().len(), 1_003);
        assert_eq!(rows().all(u32::MAX).await.unwrap().len(), 1_003);
        assert_eq!(rows().first_rows(1_000).await.unwrap().len(), 1_000);
        let error = rows().all(1_002).await.unwrap_err();
        assert!(matches!(
            error,
            QueryError::TooManyRows { limit: 1_002, .. }
        ));
        assert!(
            error.to_string().contains("more than 1002 rows of notes"),
            "{error}"
        );
    }
}
