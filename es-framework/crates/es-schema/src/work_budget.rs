//! The budget of a schema check. Clients send schemas and data, and a few lines of both can describe
//! more work than a computer finishes in a lifetime. A check that exceeds its budget unwinds, and `es-store`
//! refuses programs that cannot.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr,
};

/// The most bytes of stack that a check may use. Threads have 2 MiB.
const STACK: usize = 768 << 10;

/// A check needs more steps than it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetExceeded;

/// Runs a check that spends steps through [`spend`] and [`spend_text`].
pub(super) fn run_within<T>(
    steps: &mut u64,
    text: TextPrice,
    check: impl FnOnce() -> T,
) -> Result<T, BudgetExceeded> {
    METER.with(|meter| {
        meter.steps.set(*steps);
        meter.text.set(text.0);
        meter.stack.set(stack_address());
    });
    // The validator has no way to stop early. It leaves nothing half done, because it only reads.
    let outcome = catch_unwind(AssertUnwindSafe(check));
    *steps = METER.with(|meter| meter.steps.take());
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(reason) if reason.is::<BudgetExceeded>() => Err(BudgetExceeded),
        Err(panic) => resume_unwind(panic),
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
        let mut steps = 1_000;
        for (price, left) in [(PRICE, 995), (TextPrice::SMALL_PATTERNS, 866)] {
            let spending = run_within(&mut steps, price, || spend_text(&"x".repeat(64)));
            assert_eq!((spending, steps), (Ok(()), left));
        }
        let large = TextPrice::LARGE_PATTERNS;
        let spending = run_within(&mut steps, large, || spend_text(&"x".repeat(64)));
        assert_eq!(spending, Err(BudgetExceeded));
    }

    #[test]
    fn a_check_that_spends_more_than_its_budget_ends() {
        let mut steps = 10;
        assert_eq!(run_within(&mut steps, PRICE, || spend(4)), Ok(()));
        assert_eq!(steps, 6);
        let spending = run_within(&mut steps, PRICE, || (0..7).for_each(|_| spend(1)));
        assert_eq!(spending, Err(BudgetExceeded));
        let spending = run_within(&mut steps, PRICE, || spend(1));
        assert_eq!(spending, Err(BudgetExceeded));
    }

    #[test]
    fn a_check_that_recurses_too_deeply_ends() {
        fn recurse(left: u64) -> u64 {
            let frame = std::hint::black_box([left; 64]);
            spend(1);
            let deeper = left.checked_sub(1).map_or(0, recurse);
            deeper.saturating_add(frame[0])
        }
        let mut steps = 1_000_000;
        assert!(run_within(&mut steps, PRICE, || recurse(100)).is_ok());
        let recursing = run_within(&mut steps, PRICE, || recurse(100_000));
        assert_eq!(recursing, Err(BudgetExceeded));
        assert!(steps > 900_000);
    }

    #[test]
    fn another_panic_goes_on() {
        let panicking = || run_within(&mut 1, PRICE, || resume_unwind(Box::new("a bug")));
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    }
}
