//! Two instances on one PostgreSQL beside one: the purchases a second, in turns, with the same number of connections, and
//! the processor time that instances, PostgreSQL and the client spend on a purchase.

use std::{path::Path, time::Duration};

use super::{
    Server, Settings,
    load::{self, LoadResult},
    support::{
        postgres_server::{PostgresServer, main_process},
        processor_time::{processor_time, try_processor_time},
    },
};

const CONNECTIONS: [usize; 2] = [64, 256];

/// The purchases a second of one round, and the processor time of each part for one of them in microseconds.
struct Round {
    rate: f64,
    instances: f64,
    database: f64,
    client: f64,
}

pub(super) fn run(settings: &Settings, folder: &Path) {
    for connections in CONNECTIONS {
        for rows in ["memory", "PostgreSQL"] {
            let rounds = (0..settings.rounds).map(|round| {
                [1, 2].map(|instances| {
                    let data = folder.join(format!("{connections}-{rows}-{round}-{instances}"));
                    measure(settings, &data, rows, instances, connections)
                })
            });
            let rounds: Vec<[Round; 2]> = rounds.collect();
            report(connections, rows, &rounds);
        }
    }
}

fn measure(
    settings: &Settings,
    data: &Path,
    rows: &str,
    instances: usize,
    connections: usize,
) -> Round {
    let database = PostgresServer::start().expect("PostgreSQL is installed");
    let servers = (0..instances).map(|number| {
        let mut command = super::library();
        command.env("EVENT_STORE_URL", database.url());
        if rows == "PostgreSQL" {
            command.env("DATABASE_URL", database.url());
        }
        Server::with_store(&mut command, &data.join(number.to_string()))
    });
    let servers: Vec<Server> = servers.collect();
    let used = || {
        let instances = servers
            .iter()
            .map(|server| processor_time(server.child.id()));
        [
            instances.sum(),
            postgres_time(&database),
            processor_time(std::process::id()),
        ]
    };
    let time = Duration::from_secs_f64(settings.seconds);
    let before = used();
    let loads: Vec<LoadResult> = std::thread::scope(|scope| {
        let loads = servers.iter().map(|server| {
            scope.spawn(|| load::run(&server.address, connections / instances, time))
        });
        let loads: Vec<_> = loads.collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect()
    });
    let after = used();
    let rate: f64 = loads.iter().map(|load| load.rate).sum();
    // The warm-up counts, too.
    let purchases = rate * (time + load::WARM_UP).as_secs_f64();
    let micros = |part: usize| (after[part] - before[part]) as f64 * 1e4 / purchases;
    Round {
        rate,
        instances: micros(0),
        database: micros(1),
        client: micros(2),
    }
}

/// The processor time of a server and of all its processes, in hundredths of a second.
fn postgres_time(server: &PostgresServer) -> u64 {
    let main = main_process(&server.data()).expect("PostgreSQL runs");
    let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children")).unwrap();
    let all = children.split_whitespace().chain([&*main]);
    all.filter_map(|process| try_processor_time(process.parse().unwrap()))
        .sum()
}

fn report(connections: usize, rows: &str, rounds: &[[Round; 2]]) {
    let median = |value: &dyn Fn(&[Round; 2]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let ratio = median(&|[one, two]| two.rate / one.rate);
    println!(
        "\n{connections} connections, rows in {rows}: two instances take {ratio:.2} of the purchases of one"
    );
    for number in [0, 1] {
        println!(
            "  {} instance(s): {:.0} purchases/s; processor time of a purchase: instances {:.0} µs, PostgreSQL {:.0} µs, client {:.0} µs",
            number + 1,
            median(&|pair| pair[number].rate),
            median(&|pair| pair[number].instances),
            median(&|pair| pair[number].database),
            median(&|pair| pair[number].client),
        );
    }
}
