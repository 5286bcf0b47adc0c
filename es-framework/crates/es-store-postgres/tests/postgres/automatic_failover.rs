//! Patroni replaces a primary that is killed, hangs or is cut off, and nobody promotes by hand.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use es_store::EventLog as _;

use crate::{
    failover::{check_log, write_until},
    patroni_cluster::{PatroniCluster, PatroniNode},
    store_fixture::{candidate, open},
};

/// A way to lose a primary, and the way in which its machine comes back.
type Outage = (&'static str, fn(&mut PatroniNode), fn(&mut PatroniNode));

const OUTAGES: [Outage; 3] = [
    ("killed", |node| node.signal("-KILL"), PatroniNode::start),
    // The watchdog of a machine that hangs resets it.
    (
        "hanging",
        |node| node.signal("-STOP"),
        |node| {
            node.signal("-KILL");
            node.start();
        },
    ),
    (
        "cut off from etcd",
        |node| node.cut_off_from_etcd(),
        |node| node.reconnect_to_etcd(),
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patroni_replaces_a_lost_primary_and_no_confirmed_event_is_lost() {
    let Some(cluster) = PatroniCluster::create() else {
        return;
    };
    let mut cluster = cluster.await;
    cluster.await_primary().await;
    let url = cluster.url();
    let stores = [open(&url).await, open(&url).await];
    let mut logs = Vec::new();
    for (round, (outage, lose, bring_back)) in OUTAGES.into_iter().enumerate() {
        let primary = cluster.await_primary().await;
        let is_done = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let store = stores[writer % 2].clone();
                tokio::spawn(write_until(store, round * 8 + writer, Arc::clone(&is_done)))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(500)).await;
        lose(primary);
        let (lost, lost_primary) = (Instant::now(), primary.number);
        cluster.await_primary_other_than(lost_primary).await;
        let promoted = lost.elapsed();
        for store in &stores {
            while store
                .append(vec![candidate("/after", 0)], vec![])
                .await
                .is_err()
            {
                assert!(lost.elapsed() < Duration::from_secs(120), "{outage}");
            }
        }
        let recovery = lost.elapsed();
        eprintln!(
            "{outage}: a standby is the primary after {promoted:?}, both instances write after {recovery:?}"
        );
        is_done.store(true, Ordering::Relaxed);
        for writer in writers {
            logs.push(writer.await.unwrap());
        }
        bring_back(cluster.node(lost_primary));
        cluster.await_primary().await;
    }
    for store in &stores {
        check_log(store, &logs).await;
    }
}
