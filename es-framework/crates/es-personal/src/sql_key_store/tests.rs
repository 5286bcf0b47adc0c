//! A key store in a SQLite file: what its files hold, and earlier releases of them.

use rusqlite::Connection;

use super::*;

const ADA: Uuid = Uuid::from_u128(1);

async fn open(folder: &Path) -> SqlKeyStore {
    let url = DatabaseUrl::File(folder.join("keys.sqlite"));
    SqlKeyStore::open(&url).await.unwrap()
}

fn bytes_of(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap();
    files
        .flat_map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn the_first_key_of_a_person_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for key in [vec![1; 32], vec![2; 32]] {
        let stored = store.find_or_insert(ADA, key).await.unwrap();
        assert_eq!(stored, StoredKey::Key(vec![1; 32]));
    }
    let again = open(folder.path()).await;
    assert_eq!(again.identity(), store.identity());
    assert_eq!(again.find(vec![ADA, Uuid::nil()]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_destroyed_key_is_in_no_file_and_never_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let key: Vec<u8> = (100..132).collect();
    store.find_or_insert(ADA, key.clone()).await.unwrap();
    assert!(contains(&bytes_of(folder.path()), &key));
    store.erase(ADA).await.unwrap();
    assert!(!contains(&bytes_of(folder.path()), &key));
    assert_eq!(
        store.find_or_insert(ADA, key).await.unwrap(),
        StoredKey::Erased
    );
    assert_eq!(store.unfinished_erasures().await.unwrap(), [ADA]);
    store.finish_erasure(ADA).await.unwrap();
    assert!(store.unfinished_erasures().await.unwrap().is_empty());
    // A person without a key is erased as well.
    store.erase(Uuid::nil()).await.unwrap();
    let stored = store.find_or_insert(Uuid::nil(), vec![1; 32]).await;
    assert_eq!(stored.unwrap(), StoredKey::Erased);
}

#[tokio::test]
async fn the_keys_of_an_earlier_release_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = Connection::open(folder.path().join("keys.sqlite")).unwrap();
    earlier
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE identity (only INTEGER PRIMARY KEY CHECK (only = 1), id BLOB NOT NULL) STRICT;
             CREATE TABLE persons (
                 person BLOB PRIMARY KEY, key BLOB, is_finished INTEGER NOT NULL DEFAULT 0
             ) STRICT, WITHOUT ROWID;
             CREATE INDEX open_erasures ON persons (person) WHERE key IS NULL AND is_finished = 0;
             INSERT INTO identity VALUES (1, x'00000000000000000000000000000007');
             INSERT INTO persons VALUES (x'00000000000000000000000000000001', x'0102', 0);
             INSERT INTO persons VALUES (x'00000000000000000000000000000002', NULL, 0);
             INSERT INTO persons VALUES (x'00000000000000000000000000000003', NULL, 1);",
        )
        .unwrap();
    drop(earlier);
    for _ in 0..2 {
        let store = open(folder.path()).await;
        assert_eq!(store.identity(), Uuid::from_u128(7));
        let [ben, eve] = [2, 3].map(Uuid::from_u128);
        let found = store.find(vec![ADA, ben, eve]).await.unwrap();
        assert_eq!(found[&ADA], StoredKey::Key(vec![1, 2]));
        assert_eq!([&found[&ben], &found[&eve]], [&StoredKey::Erased; 2]);
        assert_eq!(store.unfinished_erasures().await.unwrap(), [ben]);
        assert!(store.has_longer_key(1).await.unwrap());
        assert!(!store.has_longer_key(2).await.unwrap());
    }
}

#[tokio::test]
async fn all_keys_are_rotated_however_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let old = vec![100; 32];
    let inserts =
        (1..=2_500).map(|person| store.find_or_insert(Uuid::from_u128(person), old.clone()));
    futures_util::future::join_all(inserts).await;
    store.erase(ADA).await.unwrap();
    assert!(contains(&bytes_of(folder.path()), &old));
    let wrap = |_, key: &[u8]| Ok((key.len() == 32).then(|| vec![7; 60]));
    assert_eq!(store.rewrite_keys(Box::new(wrap)).await.unwrap(), 2_499);
    assert!(!contains(&bytes_of(folder.path()), &old));
    assert_eq!(
        store.find(vec![ADA]).await.unwrap()[&ADA],
        StoredKey::Erased
    );
    assert_eq!(store.rewrite_keys(Box::new(wrap)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_transaction_that_cannot_begin_executes_no_job() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.sqlite");
    let store = open(folder.path()).await;
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.find_or_insert(ADA, vec![1; 32]).await.unwrap_err();
    assert!(refused.to_string().contains("locked"), "{refused}");
    assert!(store.check().await.is_err());
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.find(vec![ADA]).await.unwrap().is_empty());
    store.check().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_removed_or_replaced_under_the_store_takes_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.sqlite");
    let store = open(folder.path()).await;
    store.check().await.unwrap();
    fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        let refused = store.find_or_insert(ADA, vec![1; 32]).await.unwrap_err();
        assert!(
            refused.to_string().contains("was removed or replaced"),
            "{refused}"
        );
        assert!(store.check().await.is_err());
        fs::write(&file, "").unwrap();
    }
}
