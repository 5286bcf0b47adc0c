//! The programs that are compared.

use std::{path::Path, time::Duration};

use crate::{
    server::{PostgresServer, Server},
    stores::{
        Store, cqrs_es::CqrsEs, disintegrate::Disintegrate, event_store::EventStoreClient,
        postgres::PostgresTable, umadb::UmaDb,
    },
    workload::{Figures, Workload, fill},
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    EventStore,
    UmaDb,
    EventStoreOnPostgres,
    PostgresAlone,
    CqrsEs,
    Disintegrate,
}

impl Contender {
    pub const ALL: [Self; 6] = [
        Self::EventStore,
        Self::UmaDb,
        Self::EventStoreOnPostgres,
        Self::PostgresAlone,
        Self::CqrsEs,
        Self::Disintegrate,
    ];

    /// Returns false if the contender needs a newer PostgreSQL. The functions of disintegrate have hexadecimal literals.
    pub fn runs_on(self, postgres: &PostgresServer) -> bool {
        self != Self::Disintegrate || postgres.version() >= 16_00_00
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::EventStore => "event-store",
            Self::UmaDb => "UmaDB",
            Self::EventStoreOnPostgres => "event-store on PostgreSQL",
            Self::PostgresAlone => "PostgreSQL alone",
            Self::CqrsEs => "cqrs-es",
            Self::Disintegrate => "disintegrate",
        }
    }

    /// Does all the work with a new store.
    pub async fn measure(
        self,
        event_store: &Path,
        postgres: &PostgresServer,
        workloads: &[Workload],
        time: Duration,
    ) -> Vec<Figures> {
        let folder = tempfile::tempdir().expect("a folder for the events");
        let database = postgres.create_database();
        match self {
            Self::EventStore => {
                let server = Server::event_store(event_store, folder.path(), None);
                measure(EventStoreClient::new(server.port()), workloads, time).await
            }
            Self::EventStoreOnPostgres => {
                let server = Server::event_store(event_store, folder.path(), Some(&database));
                measure(EventStoreClient::new(server.port()), workloads, time).await
            }
            Self::UmaDb => {
                let server = Server::umadb(folder.path());
                measure(UmaDb::connect(server.port()).await, workloads, time).await
            }
            Self::PostgresAlone => {
                measure(PostgresTable::create(&database).await, workloads, time).await
            }
            Self::CqrsEs => measure(CqrsEs::create(&database).await, workloads, time).await,
            Self::Disintegrate => {
                measure(Disintegrate::create(&database).await, workloads, time).await
            }
        }
    }
}

async fn measure(store: impl Store, workloads: &[Workload], time: Duration) -> Vec<Figures> {
    let subjects = fill(&store).await;
    let mut figures = Vec::new();
    for workload in workloads {
        figures.push(workload.measure(&store, &subjects, time).await);
    }
    figures
}
