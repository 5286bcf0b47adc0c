//! Commands, events and a read model for tests, written without macros.

use es_command::{
    command::{Command, Handle, Handler, HandlerEvent, HandlerFunction, SubjectCondition},
    validate::{Validate, Violations, rules},
};
use es_event::{
    Declaration, Event, InvalidSubjectValue, Subject, SubjectTemplatePart, declaration,
};
use es_read::projection::{
    Cell, CellError, ColumnDescriptor, ColumnKind, ColumnType as _, EventRow, ReadModelDescriptor,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlantTreeCommand {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) num_leaves: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreePlantedEvent {
    kind: String,
    num_leaves: i64,
}

impl Event for TreePlantedEvent {
    const TYPE: &'static str = "com.example.garden.TreePlantedEvent";
    const DECLARATION: Declaration = declaration!();
}

impl HandlerEvent for TreePlantedEvent {}

impl Validate for PlantTreeCommand {
    fn validate(&self, violations: &mut Violations) {
        violations.check("kind", rules::text(&self.kind, 1, 10));
        violations.check("numLeaves", rules::range(&self.num_leaves, Some(1), None));
    }
}

impl Command for PlantTreeCommand {
    const NAME: &'static str = "PlantTreeCommand";
    const SUMMARY: &'static str = "Plants a tree.";
    const SUBJECT: &'static str = "/trees/{id}";
    const PATH: &'static str = "/trees/{id}/plant";
    const CONDITION: SubjectCondition = SubjectCondition::Pristine;
    const DECLARATION: Declaration = declaration!();

    fn subject(&self) -> Result<Subject, InvalidSubjectValue> {
        Subject::fill_template(&[
            SubjectTemplatePart::Text("/trees/"),
            SubjectTemplatePart::Field("id", &self.id),
        ])
    }
}

impl Handle for PlantTreeCommand {
    const HANDLER: Declaration = declaration!();
    const FUNCTION: &'static dyn HandlerFunction<Self> = &Handler::new((), |command, ()| {
        let Self {
            kind, num_leaves, ..
        } = command;
        TreePlantedEvent { kind, num_leaves }
    });
}

impl EventRow for TreePlantedEvent {
    const TABLE: &'static str = "trees";
    const COLUMNS: &'static [ColumnDescriptor] = &[
        ColumnDescriptor {
            name: "kind",
            member: "kind",
            kind: ColumnKind::Text,
        },
        ColumnDescriptor {
            name: "num_leaves",
            member: "numLeaves",
            kind: ColumnKind::Integer,
        },
    ];

    fn to_cells(&self) -> Result<Vec<Cell>, CellError> {
        Ok(vec![
            self.kind.to_cell("kind")?,
            self.num_leaves.to_cell("numLeaves")?,
        ])
    }
}

pub(crate) const TREES: ReadModelDescriptor = ReadModelDescriptor::of_events::<TreePlantedEvent>();

/// A command on a tree that exists.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WaterTreeCommand {
    pub(crate) id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TreeWateredEvent {}

impl Event for TreeWateredEvent {
    const TYPE: &'static str = "com.example.garden.TreeWateredEvent";
    const DECLARATION: Declaration = declaration!();
}

impl HandlerEvent for TreeWateredEvent {}

impl Validate for WaterTreeCommand {
    fn validate(&self, _: &mut Violations) {}
}

impl Command for WaterTreeCommand {
    const NAME: &'static str = "WaterTreeCommand";
    const SUMMARY: &'static str = "Waters a tree.";
    const SUBJECT: &'static str = "/trees/{id}";
    const PATH: &'static str = "/trees/water";
    const CONDITION: SubjectCondition = SubjectCondition::Exists;
    const DECLARATION: Declaration = declaration!();

    fn subject(&self) -> Result<Subject, InvalidSubjectValue> {
        Subject::fill_template(&[
            SubjectTemplatePart::Text("/trees/"),
            SubjectTemplatePart::Field("id", &self.id),
        ])
    }
}

impl Handle for WaterTreeCommand {
    const HANDLER: Declaration = declaration!();
    const FUNCTION: &'static dyn HandlerFunction<Self> =
        &Handler::new((), |_, ()| TreeWateredEvent {});
}
