    #[test]
    fn the_command_is_recorded_once() {
        let event: {{event}} = command().into();
        given().event(event).when(command()).then_already_exists();
    }
