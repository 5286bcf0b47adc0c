//! The time limit ends a query in the database.

use crate::orders_service::OrdersService;

#[test]
fn a_query_that_takes_too_long_is_ended_in_the_database_as_well() {
    let service = OrdersService::start(&[("QUERY_SECONDS", "1")]);
    // The test sends more queries than there are connections, so each connection must become free.
    for _ in 0..3 {
        let asked: Vec<_> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| service.get("/orders/endless"));
            let asked: Vec<_> = (0..2).map(|_| ask()).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for (status, problem) in asked {
            assert_eq!(status, 503, "{problem}");
            assert_eq!(
                problem["type"],
                "tag:es-framework,2026:problem:took-too-long"
            );
        }
    }
    assert_eq!(service.get("/orders/count").0, 200);
}
