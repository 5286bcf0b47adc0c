//! The library reports a full disk, loses nothing, and continues once there is space again. The disk is a
//! small one in memory, and mounting it needs rights.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Library, book, eventually, get, json_of, post, requirement::require};
use es_framework::event::RecordedEvent;
use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

const MIB: usize = 1 << 20;

/// More than the free space that the health check requires, and small enough to fill quickly.
const SIZE: usize = 40 * MIB;

/// Concurrent purchases.
const AT_ONCE: usize = 16;

#[tokio::test]
async fn a_library_on_a_full_disk_says_so_and_goes_on_once_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let library = Library::embedded(&disk.data());
    assert_eq!(library.health().await.0, StatusCode::OK);

    disk.leave_free(MIB);
    let tried = purchase_until_full(&library).await;
    let (status, health) = library.health().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{health}");
    assert_eq!(health["components"]["diskSpace"]["status"], "DOWN");
    assert_eq!(health["components"]["eventstore"]["status"], "DOWN");
    assert_eq!(health["components"]["db"]["status"], "UP");
    let last = tried.done.iter().next().unwrap();
    eventually("a purchase is in the stock", async || {
        let shown = get(&format!("{}/books/{last}", library.url)).await;
        (shown.status() == StatusCode::OK).then_some(())
    })
    .await;

    disk.free();
    // Purchases work again before anybody requests the health check.
    for id in &tried.refused {
        let status = library.purchase(&large_book(*id)).await.status();
        assert_eq!(status, StatusCode::CREATED, "nothing was written before");
    }
    let (status, health) = library.health().await;
    assert_eq!(status, StatusCode::OK, "{health}");
    let all: HashSet<_> = tried.done.union(&tried.refused).copied().collect();
    assert_eq!(stored(&library).await, all);
    assert!(!library.process.log().contains("panicked"));

    assert!(library.process.stop().success());
    let library = Library::embedded(&disk.data());
    assert_eq!(stored(&library).await, all);
    assert_eq!(library.health().await.0, StatusCode::OK);
}

#[tokio::test]
async fn no_acknowledged_purchase_is_lost_when_the_library_dies_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let mut done = HashSet::new();
    for _ in 0..3 {
        let mut library = Library::embedded(&disk.data());
        disk.leave_free(MIB);
        let tried = purchase_until_full(&library).await;
        library.process.kill();
        assert!(!library.process.log().contains("panicked"));
        done.extend(tried.done);
        disk.free();
        assert_eq!(stored(&Library::embedded(&disk.data())).await, done);
    }
}

#[tokio::test]
async fn a_library_stops_well_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let library = Library::embedded(&disk.data());
    disk.leave_free(MIB);
    let tried = purchase_until_full(&library).await;
    assert!(library.process.stop().success());
    disk.free();
    let library = Library::embedded(&disk.data());
    assert_eq!(stored(&library).await, tried.done);
}

#[tokio::test]
async fn a_full_state_database_repeats_and_forgets_nothing_and_says_so() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let events = tempfile::tempdir().unwrap();
    std::fs::create_dir(disk.data()).unwrap();
    let state = format!("sqlite:{}", disk.data().join("state.sqlite").display());
    // A loan is overdue as soon as it begins.
    let settings = [
        ("STATE_DATABASE_URL", &*state),
        ("LOAN_DAYS", "0"),
        ("LOAN_LIMIT", "1000"),
    ];
    let library = Library::embedded_with(events.path(), &settings);
    let reader = Uuid::new_v4();
    let ada = json!({"id": reader, "name": "Ada"}).to_string();
    let registered = post(&format!("{}/readers/register", library.url), ada).await;
    assert_eq!(registered.status(), StatusCode::CREATED);
    disk.leave_free(MIB / 4);
    for _ in 0..100 {
        let id = Uuid::new_v4();
        let purchased = library.purchase(&book(id)).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
        let loan = json!({"id": id, "reader": reader}).to_string();
        let lent = post(&format!("{}/books/borrow", library.url), loan).await;
        assert_eq!(lent.status(), StatusCode::OK);
    }
    eventually("the log says what to do", async || {
        let log = library.process.log();
        log.contains("free some space for it, and the reactions go on")
            .then_some(())
    })
    .await;
    disk.free();
    let count_reports = async || {
        let events = library.stored_events().await;
        let is_report =
            |event: &&RecordedEvent| event.event_type.as_str().ends_with(".LoanOverdueEvent");
        let reported: Vec<_> = events.iter().filter(is_report).collect();
        let loans: HashSet<_> = reported
            .iter()
            .map(|event| event.subject.as_str())
            .collect();
        assert_eq!(loans.len(), reported.len(), "no loan is reported twice");
        loans.len()
    };
    eventually("each loan is reported", async || {
        (count_reports().await == 100).then_some(())
    })
    .await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(count_reports().await, 100);
    assert!(!library.process.log().contains("panicked"));
}

/// The acknowledged and the rejected purchases.
#[derive(Default)]
struct PurchaseAttempts {
    done: HashSet<Uuid>,
    refused: HashSet<Uuid>,
}

/// Purchases copies until the library rejects several in a row.
async fn purchase_until_full(library: &Library) -> PurchaseAttempts {
    let mut tried = PurchaseAttempts::default();
    let mut refused_in_a_row = 0;
    while refused_in_a_row < 3 * AT_ONCE {
        let purchases = (0..AT_ONCE).map(async |_| {
            let id = Uuid::new_v4();
            (id, library.purchase(&large_book(id)).await)
        });
        for (id, answer) in join_all(purchases).await {
            if answer.status() == StatusCode::CREATED {
                tried.done.insert(id);
                refused_in_a_row = 0;
                continue;
            }
            assert_eq!(answer.headers()["content-type"], "application/problem+json");
            let status = answer.status();
            let problem = json_of(answer).await;
            let name = match status {
                StatusCode::INSUFFICIENT_STORAGE => "event-store-full",
                StatusCode::SERVICE_UNAVAILABLE => "event-store-unavailable",
                _ => panic!("{status}: {problem}"),
            };
            let expected = format!("tag:es-framework,2026:problem:{name}");
            assert_eq!(problem["type"], expected, "{problem}");
            tried.refused.insert(id);
            refused_in_a_row += 1;
        }
        assert!(tried.done.len() * 512 < SIZE, "the disk does not get full");
    }
    assert!(!tried.done.is_empty());
    tried
}

/// A copy whose event takes more than a kilobyte.
fn large_book(id: Uuid) -> Value {
    let mut book = book(id);
    book["title"] = "T".repeat(500).into();
    book["author"] = "A".repeat(500).into();
    book
}

/// Checks the hash chain and returns the copies in the event store.
async fn stored(library: &Library) -> HashSet<Uuid> {
    let events = library.stored_events().await;
    let copies = events.iter().map(|event| {
        let id = event.subject.as_str().strip_prefix("/books/");
        id.unwrap().parse().unwrap()
    });
    let distinct: HashSet<_> = copies.collect();
    assert_eq!(distinct.len(), events.len(), "no copy is there twice");
    distinct
}

/// A small disk in memory, unmounted when it is dropped.
struct SmallDisk {
    folder: TempDir,
    /// The command prefix that grants the rights, such as `sudo -n`.
    prefix: &'static [&'static str],
}

impl SmallDisk {
    /// Returns `None` if the rights are missing.
    #[track_caller]
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={SIZE}");
        let mounted = [&[][..], &["sudo", "-n"]].into_iter().find(|prefix| {
            let arguments = ["-t", "tmpfs", "-o", &size, "tmpfs"];
            run(prefix, "mount", &arguments, folder.path())
        });
        let remedy = || "run the tests as root, to mount a small disk in memory".to_owned();
        let prefix = require("mount", mounted.ok_or_else(remedy))?;
        Some(Self { folder, prefix })
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn ballast(&self) -> PathBuf {
        self.folder.path().join("ballast")
    }

    /// Fills the disk except for this number of bytes.
    fn leave_free(&self, bytes: usize) {
        let used = size_of(&self.data());
        std::fs::write(self.ballast(), vec![1; SIZE - used - bytes]).unwrap();
    }

    /// Frees the space.
    fn free(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The lazy unmount works even if a process of a failed test still uses the disk.
        let _ = run(self.prefix, "umount", &[], self.folder.path())
            || run(self.prefix, "umount", &["--lazy"], self.folder.path());
    }
}

fn run(prefix: &[&str], program: &str, arguments: &[&str], folder: &Path) -> bool {
    let words = [prefix, &[program], arguments].concat();
    let mut command = Command::new(words[0]);
    let ended = command.args(&words[1..]).arg(folder).output();
    ended.is_ok_and(|output| output.status.success())
}

fn size_of(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).unwrap();
    let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
    usize::try_from(sizes.sum::<u64>()).unwrap()
}
