#[handler]
fn plan(
    command: PlanSeasonCommand,
    #[subject("/halls/{hall}/days/{day}", day in PlanSeasonCommand::days)] days: Vec<Option<&Day>>,
) -> Vec<DayPlannedEvent> {
    plan_days(&command, &days)
}
