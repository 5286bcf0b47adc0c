//! The budget of a schema check. Clients send schemas and data, and a few lines of both can describe
//! more work than a computer finishes in a lifetime.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

#[cfg(panic = "abort")]
compile_error!(
    "es-framework needs `panic = \"unwind\"`, which is the default: remove `panic = \"abort\"` from the profile in \
     Cargo.toml. A schema check that exceeds its budget unwinds, so with `abort` a client could end the process."
);

/// The most bytes of stack that a check may use. Threads have 2 MiB.
const STACK: usize = 768 << 10;

/// The number of steps that are left for schema checks. One step looks at one value of the data once,
/// which takes about 20 nanoseconds.
#[doc(hidden)]
#[derive(Debug)]
pub struct WorkBudget {
    steps: u64,
}

/// A check needs more steps than its budget has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetExceeded;

impl WorkBudget {
    /// The budget of all events of one write.
    pub const WRITE: u64 = 5_000_000;

    /// Creates a budget.
    pub const fn of(steps: u64) -> Self {
        Self { steps }
    }

    /// The number of steps that are left.
    pub const fn left(&self) -> u64 {
        self.steps
    }

    /// Runs a check that spends steps of this budget through [`spend`] and [`spend_text`].
    pub(super) fn run<T>(
        &mut self,
        text: TextPrice,
        check: impl FnOnce() -> T,
    ) -> Result<T, BudgetExceeded> {
        METER.with(|meter| {
            meter.steps.set(self.steps);
            meter.text.set(text.0);
            meter.stack.set(stack_address());
        });
        // The validator has no way to stop early. It leaves nothing half done, because it only reads.
        let outcome = catch_unwind(AssertUnwindSafe(check));
        self.steps = METER.with(|meter| meter.steps.take());
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(reason) if reason.is::<BudgetExceeded>() => Err(BudgetExceeded),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// The price of text: sixteenths of a step for each byte. Patterns cost less than their worst case, in
/// which a byte takes 2 microseconds for a pattern of [`SMALL_PATTERN`](super::SMALL_PATTERN) bytes of
/// memory, and 20 for the largest pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPrice(u64);

impl TextPrice {
    pub(super) const WITHOUT_PATTERNS: Self = Self(1);
    pub(super) const SMALL_PATTERNS: Self = Self(32);
    pub(super) const LARGE_PATTERNS: Self = Self(1_024);
}

/// The state of the check that runs on a thread.
#[derive(Default)]
struct Meter {
    steps: Cell<u64>,
    text: Cell<u64>,
    stack: Cell<usize>,
}

thread_local! {
    static METER: Meter = Meter::default();
}

/// Spends steps of the check that runs on this thread. Unwinds to the start of the check when the
/// budget or the stack is used up.
pub(super) fn spend(steps: u64) {
    let is_within = METER.with(|meter| {
        let left = meter.steps.get().checked_sub(steps);
        meter.steps.set(left.unwrap_or_default());
        left.is_some() && meter.stack.get().abs_diff(stack_address()) < STACK
    });
    if !is_within {
        resume_unwind(Box::new(BudgetExceeded));
    }
}

/// Spends the steps of reading a text.
pub(super) fn spend_text(text: &str) {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let sixteenths = bytes.saturating_mul(METER.with(|meter| meter.text.get()));
    spend(1_u64.saturating_add(sixteenths >> 4));
}

/// Returns the address of the current end of the stack.
#[inline(never)]
fn stack_address() -> usize {
    let marker = 0_u8;
    ptr::from_ref(std::hint::black_box(&marker)).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: TextPrice = TextPrice::WITHOUT_PATTERNS;

    #[test]
    fn text_has_a_price() {
        let mut budget = WorkBudget::of(1_000);
        for (price, left) in [(PRICE, 995), (TextPrice::SMALL_PATTERNS, 866)] {
            assert_eq!(budget.run(price, || spend_text(&"x".repeat(64))), Ok(()));
            assert_eq!(budget.left(), left);
        }
        let large = TextPrice::LARGE_PATTERNS;
        let spending = budget.run(large, || spend_text(&"x".repeat(64)));
        assert_eq!(spending, Err(BudgetExceeded));
    }

    #[test]
    fn a_check_that_spends_more_than_its_budget_ends() {
        let mut budget = WorkBudget::of(10);
        assert_eq!(budget.run(PRICE, || spend(4)), Ok(()));
        assert_eq!(budget.left(), 6);
        assert_eq!(
            budget.run(PRICE, || (0..7).for_each(|_| spend(1))),
            Err(BudgetExceeded)
        );
        assert_eq!(budget.run(PRICE, || spend(1)), Err(BudgetExceeded));
    }

    #[test]
    fn a_check_that_recurses_too_deeply_ends() {
        fn recurse(left: u64) -> u64 {
            let frame = std::hint::black_box([left; 64]);
            spend(1);
            let deeper = left.checked_sub(1).map_or(0, recurse);
            deeper.saturating_add(frame[0])
        }
        let mut budget = WorkBudget::of(1_000_000);
        assert!(budget.run(PRICE, || recurse(100)).is_ok());
        assert_eq!(budget.run(PRICE, || recurse(100_000)), Err(BudgetExceeded));
        assert!(budget.left() > 900_000);
    }

    #[test]
    fn another_panic_goes_on() {
        let panicking = || WorkBudget::of(1).run(PRICE, || resume_unwind(Box::new("a bug")));
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    }
}
