#[projection]
impl Utilisation {
    #[key(with = hall_and_month)]
    fn booked(row: Option<Self>, event: &HallBookedEvent) -> Option<Self> {
        Some(Self::new(event))
    }

    #[key(with = Self::recorded_in)]
    fn cancelled(&mut self, event: BookingCancelledEvent, recorded: &RecordedEvent) {
        self.cancelled += 1;
    }

    #[each(bookings)]
    #[key(with = keys::month_of_booking)]
    fn imported(&mut self, booking: &Booking, event: &BookingsImportedEvent, recorded: &RecordedEvent) {
        self.minutes += booking.minutes;
    }
}
