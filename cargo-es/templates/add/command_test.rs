    #[test]
    fn every_reason_for_a_rejection_has_a_scenario() {
        panic!("decide when {{name}} is rejected, and write a scenario for each reason");
    }
