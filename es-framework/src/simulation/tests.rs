//! The tests: many seeds keep the invariants, a seed repeats its run, and each defect is found.

use super::{
    defect::Defect,
    scenario_run::{RunReport, run_seed},
    seed_batch::find_violating_seed,
};

/// The number of seeds of one run of the tests. `.ci/simulate` sets more.
const SEEDS: u64 = 100;
/// The number of seeds in which a defect must be found.
const SEEDS_OF_A_DEFECT: u64 = 300;

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let number = value.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

fn fail(report: &RunReport) -> ! {
    let RunReport {
        seed,
        trace,
        violations,
    } = report;
    panic!(
        "seed {seed} violates invariants:\n{}\n\nthe trace:\n{}\n\nrun it again: SIMULATION_SEED={seed} \
         cargo test -p es-framework --lib simulation::",
        violations.join("\n"),
        trace.join("\n")
    );
}

#[test]
fn all_seeds_keep_the_invariants() {
    if let Some(seed) = setting("SIMULATION_SEED") {
        let report = run_seed(seed, None).unwrap();
        println!("{}", report.trace.join("\n"));
        assert!(
            report.violations.is_empty(),
            "{}",
            report.violations.join("\n")
        );
        return;
    }
    let first = setting("SIMULATION_FIRST_SEED").unwrap_or(0);
    let count = setting("SIMULATION_SEEDS").unwrap_or(SEEDS);
    let (found, _) = find_violating_seed(first, count, None, "").unwrap();
    if let Some(report) = found {
        fail(&report);
    }
}

#[test]
fn a_seed_repeats_its_run() {
    for seed in 0..20 {
        let [first, second] = [(); 2].map(|()| run_seed(seed, None).unwrap());
        assert!(first.trace.len() > 30, "{}", first.trace.join("\n"));
        for (first, second) in first.trace.iter().zip(&second.trace) {
            assert_eq!(first, second, "seed {seed}");
        }
        assert_eq!(first.trace.len(), second.trace.len(), "seed {seed}");
    }
}

#[test]
fn the_seeds_of_one_run_find_each_defect() {
    for (defect, text) in [
        (Defect::TrustUnknownAppends, "was acknowledged and is lost"),
        (Defect::AllowSecondRecord, "was carried out twice"),
        (Defect::ForgetOtherSubjects, "a precondition did not hold"),
        (Defect::LoseCheckpoints, "differ from a fold of all events"),
        (Defect::SendOncePerProcess, "fired 2 times"),
        (Defect::LoseTasks, "fired 0 times"),
        (Defect::FinishBegunCalls, "was printed under 0 keys"),
        (Defect::FinishBegunCalls, "was never delivered"),
        (Defect::MeetBeforeCancelling, "instead of 0..=0"),
        (Defect::ReadUnflushed, "was delivered before it was durable"),
        (Defect::TwoOwners, "was printed again without a reason"),
        (Defect::MissErasures, "plain of an erased person"),
        (Defect::IgnoreClaims, "has two owners"),
        (Defect::LoseClaims, "with 0 claims"),
        (Defect::KeepErasedKeys, "opens with the keys that are left"),
    ] {
        let (found, ran) = find_violating_seed(0, SEEDS_OF_A_DEFECT, Some(defect), text).unwrap();
        let Some(report) = found else {
            panic!("{ran} seeds do not find {defect:?}");
        };
        println!(
            "seed {} of {ran} finds {defect:?}: {}",
            report.seed, report.violations[0]
        );
    }
}
