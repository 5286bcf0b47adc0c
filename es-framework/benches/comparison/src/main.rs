//! The stand-alone event store beside other stores and libraries: the same work, the same disk, in turns.
//!
//! `comparison [path of event-store] [seconds of a measurement] [rounds] [appends or reads]`

mod contender;
mod server;
mod stores;
mod workload;

use std::{path::PathBuf, time::Duration};

use contender::Contender;
use server::PostgresServer;
use workload::{Figures, WORKLOADS, Workload};

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, address] = &arguments[..]
        && command == "serve-umadb"
    {
        return stores::umadb::serve(folder, address).await;
    }
    let argument = |number: usize| arguments.get(number).map(String::as_str);
    let event_store = PathBuf::from(argument(0).expect("the path of the program event-store"));
    let seconds: f64 = argument(1).map_or(1.0, |text| text.parse().unwrap());
    let rounds: usize = argument(2).map_or(5, |text| text.parse().unwrap());
    let kind = argument(3).unwrap_or_default();
    let workloads: Vec<Workload> = WORKLOADS
        .into_iter()
        .filter(|workload| workload.name().contains(kind))
        .collect();

    let postgres = PostgresServer::start();
    let (contenders, skipped): (Vec<_>, Vec<_>) = Contender::ALL
        .into_iter()
        .partition(|contender| contender.runs_on(&postgres));
    for contender in skipped {
        println!("{} needs PostgreSQL 16\n", contender.name());
    }
    let time = Duration::from_secs_f64(seconds);
    let mut figures: Vec<Vec<Vec<Figures>>> =
        vec![vec![Vec::new(); contenders.len()]; workloads.len()];
    for round in 0..rounds {
        for (number, contender) in contenders.iter().enumerate() {
            eprintln!("round {}: {}", round + 1, contender.name());
            let measured = contender.measure(&event_store, &postgres, &workloads, time);
            for (row, figure) in measured.await.into_iter().enumerate() {
                figures[row][number].push(figure);
            }
        }
    }
    print_table(&workloads, &contenders, figures);
}

fn print_table(workloads: &[Workload], contenders: &[Contender], figures: Vec<Vec<Vec<Figures>>>) {
    println!("a second, and the median / 99th percentile / longest time without an answer in ms\n");
    let names: Vec<_> = contenders
        .iter()
        .map(|contender| contender.name())
        .collect();
    println!(
        "| work | {} |\n|---|{}",
        names.join(" | "),
        "---|".repeat(contenders.len())
    );
    for (workload, row) in workloads.iter().zip(figures) {
        let cells: Vec<String> = row
            .into_iter()
            .map(|rounds| Figures::median(rounds).to_string())
            .collect();
        println!("| {} | {} |", workload.name(), cells.join(" | "));
    }
}
