//! Runs many seeds on all processors.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::available_parallelism,
};

use super::{
    defect::Defect,
    environment::lock,
    scenario_run::{RunReport, run_seed},
};

/// Runs seeds from `first` on until one of them violates an invariant whose description contains `text`.
/// Returns the lowest such seed that was found, and the number of seeds that ran.
pub(super) fn find_violating_seed(
    first: u64,
    count: u64,
    defect: Option<Defect>,
    text: &str,
) -> std::io::Result<(Option<RunReport>, u64)> {
    let next = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let found: Mutex<Option<RunReport>> = Mutex::default();
    let run_seeds = || -> std::io::Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(());
            }
            let report = run_seed(first.wrapping_add(index), defect)?;
            if !report.violations.iter().any(|one| one.contains(text)) {
                continue;
            }
            is_over.store(true, Ordering::Relaxed);
            let mut found = lock(&found);
            if found.as_ref().is_none_or(|found| report.seed < found.seed) {
                *found = Some(report);
            }
        }
        Ok(())
    };
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run_seeds)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    let ran = next.load(Ordering::Relaxed).min(count);
    Ok((found.into_inner().unwrap_or_default(), ran))
}
