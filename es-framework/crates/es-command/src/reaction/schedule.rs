//! The schedule of a step: a cron expression in a time zone, and the rule for missed times.

/// The times at which a step is executed. `#[schedule(…)]` writes it.
///
/// ```
/// use es_framework::{prelude::*, reaction::{MissedTimes, React, ReactionTiming}};
/// # #[derive(Event)]
/// # struct StockCountedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/counts/{day}", internal)]
/// # struct CountStockCommand { day: String }
/// # #[handler]
/// # fn count(_: CountStockCommand) -> StockCountedEvent { StockCountedEvent {} }
///
/// struct NightlyCount;
///
/// #[reaction]
/// impl NightlyCount {
///     #[schedule(cron = "0 6 * * *", zone = "Europe/Berlin")]
///     fn count(time: Timestamp) -> CountStockCommand {
///         CountStockCommand { day: time.strftime("%F").to_string() }
///     }
/// }
///
/// let ReactionTiming::Schedule(schedule) = NightlyCount::STEPS[0].when else { panic!("it is one") };
/// assert_eq!((schedule.cron, schedule.missed), ("0 6 * * *", MissedTimes::One));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The minute, the hour, the day of the month, the month and the day of the week.
    pub cron: &'static str,
    /// The name of the time zone, such as `Europe/Berlin`.
    pub zone: &'static str,
    /// The rule for the times that passed while no instance ran.
    pub missed: MissedTimes,
}

/// The times of a schedule that are met after a time in which no instance ran.
///
/// ```
/// use es_framework::reaction::{MissedTimes, Schedule};
///
/// // Each day has its own report, so each missed report is written.
/// let reports = Schedule { cron: "@daily", zone: "UTC", missed: MissedTimes::All };
/// assert_ne!(reports.missed, MissedTimes::One);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissedTimes {
    /// The last missed time, which stands for all of them.
    One,
    /// Each missed time, up to the newest 100.
    All,
    /// None of them.
    None,
}

impl Schedule {
    /// Returns the schedule of a step as a sentence.
    #[must_use]
    #[doc(hidden)]
    pub fn describe(&self, step: &str) -> String {
        let missed = match self.missed {
            MissedTimes::One => "After missed times it runs once.",
            MissedTimes::All => "It makes up for each missed time.",
            MissedTimes::None => "It leaves out missed times.",
        };
        let (cron, zone) = (self.cron, self.zone);
        format!("The schedule of `{step}` is `{cron}` in the zone {zone}. {missed}")
    }
}
