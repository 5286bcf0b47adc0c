//! A rebuild of read models, in memory.

use std::{sync::Arc, time::Duration};

use es_framework::{
    projection::{Database, Processor, ReadModels},
    store::EventLog,
};

/// The most time that a rebuild takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Rebuilds read models from the events of a store, on a thread of their own as in an application.
pub async fn rebuild(store: Arc<dyn EventLog>, models: ReadModels) {
    let database = Database::in_memory(&models).await.unwrap();
    let processor = Processor::new(store, database, models);
    let positions = processor.progress();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            tokio::select! {
                () = processor.run() => {}
                reached = positions.wait_until_reached(&[], None, PATIENCE) => reached.unwrap(),
            }
        });
    });
    let ended = tokio::task::spawn_blocking(|| thread.join().unwrap());
    ended.await.unwrap();
}
