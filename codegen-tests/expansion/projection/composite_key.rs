#[projection]
impl DoctorsDay {
    #[key(doctor, day)]
    fn booked(&mut self, event: &AppointmentBookedEvent) {
        self.minutes += event.minutes;
    }

    #[each(days)]
    #[key(event.doctor, element)]
    fn free(day: &String, event: &HolidayTakenEvent) -> Self {
        Self { doctor: event.doctor, day: day.clone(), minutes: 0 }
    }

    #[each(plans)]
    #[key(event.doctor, day)]
    fn planned(plan: &DayPlan, event: &WeekPlannedEvent) -> Self {
        Self { doctor: event.doctor, day: plan.day.clone(), minutes: 0 }
    }

    fn cleared(self, _: &DayClearedEvent) -> Option<Self> {
        None
    }
}
