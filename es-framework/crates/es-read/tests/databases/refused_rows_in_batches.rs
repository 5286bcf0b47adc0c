//! Rows and holds are those of a fold that applies one event after the other, whatever the batches.

use std::collections::BTreeMap;

use es_framework::event::EventId;
use proptest::{collection::vec, prelude::*, strategy::ValueTree as _, test_runner::TestRunner};

use super::note_board::{Note, NoteBoard, NoteErasedEvent, NoteWrittenEvent};

/// An event of a note, some of which no row can take.
#[derive(Debug, Clone, Copy)]
enum Step {
    Written(&'static str),
    /// The mean of the row is no number.
    WrittenWithoutMean,
    Erased,
}

/// The rows by name, each with the event that created it, and the held keys with their events and numbers of events.
#[derive(Debug, Default, PartialEq)]
struct ExpectedBoard {
    rows: BTreeMap<String, (EventId, String)>,
    held: BTreeMap<String, (EventId, u64)>,
}

impl ExpectedBoard {
    /// Applies one event. PostgreSQL refuses a NUL character, and a text that a constraint names.
    fn apply(&mut self, name: &str, step: Step, id: EventId, is_postgres: bool) {
        if let Some((_, events)) = self.held.get_mut(name) {
            *events += 1;
            return;
        }
        match step {
            Step::Erased => drop(self.rows.remove(name)),
            Step::Written(text) if !is_postgres || !["a\0b", "refused"].contains(&text) => {
                let row = self.rows.entry(name.to_owned());
                row.or_insert((id, String::new())).1 = text.to_owned();
            }
            Step::Written(_) | Step::WrittenWithoutMean => {
                self.held.insert(name.to_owned(), (id, 1));
            }
        }
    }

    async fn check(&self, board: &NoteBoard) {
        let rows = board.context().rows::<Note>().all(10_000).await.unwrap();
        let rows: Vec<_> = rows.into_iter().map(|row| (row.name, row.text)).collect();
        let mut expected: Vec<_> = self.rows.iter().collect();
        expected.sort_by_key(|(_, (created, _))| *created);
        let expected = expected.into_iter();
        let expected: Vec<_> = expected
            .map(|(name, (_, text))| (name.clone(), text.clone()))
            .collect();
        assert_eq!(rows, expected);
        let held = board.progress.held_keys();
        let held = held.iter();
        let held: BTreeMap<_, _> = held
            .map(|held| (held.key.clone(), (held.poison.id, held.events)))
            .collect();
        assert_eq!(held, self.held);
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Written("good")),
        2 => Just(Step::Written("better")),
        1 => Just(Step::Written("a\0b")),
        1 => Just(Step::Written("refused")),
        1 => Just(Step::WrittenWithoutMean),
        2 => Just(Step::Erased),
    ]
}

async fn append(board: &NoteBoard, name: &str, step: Step) -> EventId {
    match step {
        Step::Written(text) => board.append(&[NoteWrittenEvent::new(name, text)]).await,
        Step::WrittenWithoutMean => {
            let mut event = NoteWrittenEvent::new(name, "no mean");
            (event.sum, event.count) = (0.0, 0);
            board.append(&[event]).await
        }
        Step::Erased => {
            let name = name.to_owned();
            board.append(&[NoteErasedEvent { name }]).await
        }
    }
}

#[tokio::test]
async fn rows_and_holds_are_those_of_single_events_whatever_the_batches() {
    let mut runner = TestRunner::deterministic();
    let histories = vec((vec((0..3_u32, step()), 1..25), 1..12_usize), 40);
    for location in NoteBoard::locations() {
        let is_postgres = location.is_some();
        let mut board = NoteBoard::start(location).await;
        board
            .append_and_wait(&[NoteErasedEvent {
                name: "none".into(),
            }])
            .await;
        if is_postgres {
            board.run_sql("ALTER TABLE notes ADD CHECK (text <> 'refused')");
        }
        let mut expected = ExpectedBoard::default();
        let histories = histories.new_tree(&mut runner).unwrap().current();
        for (number, (history, batch)) in histories.into_iter().enumerate() {
            for steps in history.chunks(batch) {
                let mut last = None;
                for (note, step) in steps {
                    let name = format!("{number} {note}");
                    let id = append(&board, &name, *step).await;
                    expected.apply(&name, *step, id, is_postgres);
                    last = Some(id);
                }
                board.await_position(last.unwrap()).await;
            }
            expected.check(&board).await;
        }
        assert!(expected.held.len() > 10 && expected.rows.len() > 10);
        // A start retries the rows and rebuilds nothing.
        board = board.restart().await;
        let last = append(&board, "last", Step::Written("good")).await;
        expected.apply("last", Step::Written("good"), last, is_postgres);
        board.await_position(last).await;
        expected.check(&board).await;
    }
}
