//! Inline read models in the database of the events: visible at once, and equal to the fold of the events
//! whatever happens.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod score_board;
mod score_instance;
#[path = "../support/mod.rs"]
mod support;

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures_util::future::join_all;

use self::{score_board::POISON, score_instance::ScoreInstance};
use support::{eventually::eventually, postgres_server::PostgresServer};

/// Counts the scores whose rows differ from the events.
const DIFFERENCES: &str = "SELECT count(*) FROM scores s FULL JOIN \
     (SELECT substr(subject, 9) AS id, count(*) AS changes, \
             sum((data::json->'payload'->>'points')::bigint) AS total \
         FROM es_events WHERE type LIKE '%.PointsAddedEvent' \
             AND id NOT IN (SELECT position FROM es_skipped) GROUP BY 1) e USING (id) \
     WHERE (e.total, e.changes) IS DISTINCT FROM (s.total::numeric, s.changes)";

fn differences(server: &PostgresServer) -> String {
    server.query(DIFFERENCES).trim().to_owned()
}

/// Counts the tables that a projection writes still. While it writes one, appends leave their rows to it. Events that no
/// score has need not move a checkpoint.
const UNFINISHED: &str = "SELECT count(*) FROM es_checkpoint WHERE model = 'es_next_scores' \
     OR COALESCE(position, -1) < \
         (SELECT max(id) FROM es_events WHERE type LIKE '%.PointsAddedEvent')";

/// Waits until so many scores differ from the events, and until the projection has nothing more to write. The next
/// append then writes its rows.
async fn await_differences(server: &PostgresServer, count: &str) {
    eventually("the projection has written all rows", async || {
        let is_written = server.query(UNFINISHED).trim() == "0" && differences(server) == count;
        is_written.then_some(())
    })
    .await;
}

async fn start_two(server: &PostgresServer) -> [ScoreInstance; 2] {
    let url = server.url();
    let first = ScoreInstance::start_ready(Some(&url), &url).await;
    [first, ScoreInstance::start_ready(Some(&url), &url).await]
}

/// Adds a point in turn on each of two instances, and reads it on the other one at once.
async fn read_each_write(instances: &[ScoreInstance; 2], client: usize, rounds: usize) {
    let id = format!("reader-{client}");
    let mut expected = instances[0].total(&id, None).await;
    for round in 0..rounds {
        let (one, other) = (&instances[round % 2], &instances[(round + 1) % 2]);
        let position = one.add(&id, 1).await;
        expected += 1;
        let position = (round % 5 == 4).then_some(position);
        assert_eq!(other.total(&id, position.as_deref()).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_on_another_instance_sees_each_row_at_once() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let instances = start_two(&server).await;
    let sentence = "appends write the rows of the inline read models scores";
    instances[0].await_log(sentence).await;
    join_all((0..8).map(|client| read_each_write(&instances, client, 25))).await;
    assert_eq!(differences(&server), "0");

    // An engine that aborts transactions repeats them with their rows.
    server.query(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF random() < 0.1 THEN \
                 RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; \
             END IF; RETURN NEW; END $$; \
         CREATE TRIGGER fail_early BEFORE INSERT ON scores FOR EACH ROW EXECUTE FUNCTION fail(); \
         CREATE CONSTRAINT TRIGGER fail_late AFTER UPDATE ON es_head \
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()",
    );
    join_all((0..4).map(|client| read_each_write(&instances, client, 10))).await;
    assert_eq!(differences(&server), "0");
}

/// Adds points on an instance until it is killed.
async fn add_until_killed(instance: &ScoreInstance, id: String, added: &AtomicUsize) {
    while let Ok(answer) = instance.try_add(&id, 3).await {
        if answer.status().is_success() {
            added.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Waits until some commands have succeeded.
async fn await_successes(added: &AtomicUsize, count: usize) {
    let until = added.load(Ordering::Relaxed) + count;
    eventually("commands succeed", async || {
        (added.load(Ordering::Relaxed) >= until).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_equal_the_events_after_instances_were_killed() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let changes_between = [
        // All rows are made again, while commands add events.
        "UPDATE es_checkpoint SET position = NULL, hash = NULL; DELETE FROM scores",
        // The rows are those of another declaration, with which queries can work.
        "UPDATE es_checkpoint SET definition = split_part(definition, '.', 1) || '.other'",
        "",
    ];
    let added = AtomicUsize::new(0);
    for change in changes_between {
        let mut instances = [(); 2].map(|()| ScoreInstance::start(Some(&url), &url));
        let processes = instances.each_ref().map(|instance| instance.process());
        let writers = instances.iter().flat_map(|instance| {
            (0..4).map(|number| add_until_killed(instance, format!("player-{number}"), &added))
        });
        let kills = async {
            for process in processes {
                await_successes(&added, 40).await;
                ScoreInstance::kill_process(process);
            }
        };
        tokio::join!(join_all(writers), kills);
        instances.iter_mut().for_each(ScoreInstance::await_end);
        if !change.is_empty() {
            server.query(change);
        }
    }
    let instances = start_two(&server).await;
    await_differences(&server, "0").await;
    read_each_write(&instances, 0, 10).await;
    assert_eq!(differences(&server), "0");
}

/// Adds points until the end. No read may show less than an earlier one.
async fn read_monotonically(instances: &[ScoreInstance; 2], client: usize, is_over: &AtomicBool) {
    let id = format!("reader-{client}");
    let (mut round, mut seen) = (0, 0);
    while !is_over.load(Ordering::Relaxed) {
        round += 1;
        let (one, other) = (&instances[round % 2], &instances[(round + 1) % 2]);
        one.add(&id, 1).await;
        let total = other.total(&id, None).await;
        assert!(total >= seen, "{total} after {seen}");
        seen = total;
    }
}

async fn operate(instances: &[ScoreInstance; 2], command: &str) {
    eventually("an operator's command succeeds", async || {
        let is_done = instances[0].operate(command).await || instances[1].operate(command).await;
        is_done.then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inline_read_model_is_rebuilt_and_repaired_while_commands_run() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let instances = start_two(&server).await;
    let is_over = AtomicBool::new(false);
    let readers = (0..4).map(|client| read_monotonically(&instances, client, &is_over));
    let rebuilds = async {
        for _ in 0..3 {
            operate(&instances, "rebuild").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            eventually("the rebuild is over", async || {
                let shadow = "SELECT count(*) FROM es_checkpoint WHERE model = 'es_next_scores'";
                (server.query(shadow).trim() == "0").then_some(())
            })
            .await;
        }
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(join_all(readers), rebuilds);
    await_differences(&server, "0").await;

    hold_and_skip(&server, &instances, POISON, "nobody wants").await;
    server.query("ALTER TABLE scores ADD CONSTRAINT small CHECK (total < 1000000)");
    hold_and_skip(&server, &instances, 2_000_000, "constraint \\\"small").await;
    read_each_write(&instances, 1, 10).await;
    assert_eq!(differences(&server), "0");
}

/// A poison event holds its row, but no command and no other row. Then an operator skips it.
async fn hold_and_skip(
    server: &PostgresServer,
    instances: &[ScoreInstance; 2],
    points: i64,
    reason: &str,
) {
    let poison = instances[0].add("reader-0", points).await;
    let later = instances[1].add("reader-0", 1).await;
    eventually("the row is held at the event", async || {
        let health = [instances[0].health().await, instances[1].health().await];
        let named = format!("\"event\":\"{poison}\"");
        let holds = |health: &String| health.contains(reason) && health.contains(&named);
        health.iter().any(holds).then_some(())
    })
    .await;
    assert!(later.parse::<u64>().unwrap() > poison.parse().unwrap());
    await_differences(server, "1").await;
    // Appends write the rows of other readers, and those of the held one wait.
    read_each_write(instances, 1, 4).await;
    assert_eq!(differences(server), "1");
    operate(instances, "skip").await;
    await_differences(server, "0").await;
}

/// Creates a second database on the same server and returns its URL.
fn other_database(server: &PostgresServer) -> String {
    server.query("CREATE DATABASE rows");
    let url = server.url();
    let (address, _) = url.rsplit_once('/').unwrap();
    format!("{address}/rows")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_outside_of_the_database_of_the_events_are_not_inline() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let other = other_database(&server);
    for (events, rows) in [
        (Some(url.as_str()), "sqlite::memory:"),
        (Some(url.as_str()), other.as_str()),
        (None, url.as_str()),
        (None, "sqlite::memory:"),
    ] {
        let instance = ScoreInstance::start_ready(events, rows).await;
        let sentence = "the read models scores are not inline, because EVENT_STORE_URL and \
             DATABASE_URL do not name the same PostgreSQL database and user";
        instance.await_log(sentence).await;
        let before = instance.total("player", None).await;
        let position = instance.add("player", 2).await;
        let total = instance.total("player", Some(&position)).await;
        assert!(total >= before + 2, "{total} after {before}");
    }
}

/// Prints the commands a second with and without an inline read model, in one run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: cargo test --release -p es-framework --test inline_read_models the_cost -- --ignored --nocapture"]
async fn the_cost_of_an_inline_read_model() {
    const CLIENTS: usize = 64;
    const TIME: Duration = Duration::from_secs(5);
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (url, other) = (server.url(), other_database(&server));
    for round in 0..3 {
        for (name, rows) in [("inline", &url), ("not inline", &other)] {
            let instance = ScoreInstance::start_ready(Some(&url), rows).await;
            let begun = Instant::now();
            let clients = (0..CLIENTS).map(async |client| {
                let (id, mut count) = (format!("{round}-{client}"), 0);
                while begun.elapsed() < TIME {
                    instance.add(&id, 1).await;
                    count += 1;
                }
                count
            });
            let commands: u32 = join_all(clients).await.into_iter().sum();
            let rate = f64::from(commands) / begun.elapsed().as_secs_f64();
            println!("{name}: {rate:.0} commands a second with {CLIENTS} clients");
        }
    }
}
