//! Keys that a master key wraps.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::*;
use crate::{
    Result,
    app::personal_data::open_personal_store,
    config::{KeyStoreUrl, Settings},
};

async fn open(settings: &Settings) -> Result<Option<PersonalStore>> {
    let store = Arc::new(MemoryStore::new());
    open_personal_store(&[EventDescriptor::of::<PartyHeldEvent>()], settings, store).await
}

#[tokio::test]
async fn a_start_without_the_master_key_of_wrapped_keys_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let master = folder.path().join("master.key");
    fs::write(&master, format!("{}=\n", "A".repeat(43))).unwrap();
    fs::set_permissions(&master, fs::Permissions::from_mode(0o600)).unwrap();
    let keys = KeyStoreUrl::File(folder.path().join("keys.sqlite"));
    let plain = Settings::default().key_store_url(Some(keys));
    let wrapped = plain.clone().key_store_master_key_file(Some(master));
    assert!(open(&plain).await.unwrap().is_some());
    let store = open(&wrapped).await.unwrap().unwrap();
    assert!(open(&plain).await.is_ok(), "there is no key yet");
    let appended = store.append(vec![candidate(&party())], Vec::new());
    appended.await.unwrap();
    let refused = format!("{:#}", open(&plain).await.unwrap_err());
    assert!(refused.contains("KEY_STORE_MASTER_KEY_FILE"), "{refused}");
    assert!(open(&wrapped).await.is_ok());
}
