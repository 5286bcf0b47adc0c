//! Builds the graph from the descriptors of all declarations.

use std::collections::{BTreeMap, BTreeSet};

use es_command::{
    command::{CommandDescriptor, ParameterOrigin, Registry},
    reaction::{ReactionDescriptor, ReactionTiming, Reactions},
    state::StateDescriptor,
};
use es_event::{Declaration, EventDescriptor};
use es_read::{
    projection::ReadModels,
    query::{QueryRoute, QueryRouteTarget},
};
use serde_json::Value;

use crate::{
    application_model::ApplicationModel,
    edge::{EdgeKind, ModelEdge},
    finding::find_in,
    json_schema,
    node::{ModelNode, NodeKind},
    source_path::path_from_package,
    subject_lanes::{LaneVotes, SubjectLanes},
};

impl ApplicationModel {
    /// Returns the model of these declarations.
    #[must_use]
    pub fn from_declarations(
        application: &str,
        registry: &Registry,
        reactions: &Reactions,
        models: &ReadModels,
        queries: &[QueryRoute],
    ) -> Self {
        let mut builder = ModelBuilder::new(registry);
        builder.add_commands(registry);
        builder.add_upcasters(registry);
        builder.add_read_models(models);
        builder.add_queries(queries);
        builder.add_reactions(reactions);
        let (subjects, nodes, edges) = builder.into_parts();
        let findings = find_in(&nodes, &edges, None);
        Self {
            application: application.to_owned(),
            subjects,
            nodes,
            edges,
            findings,
        }
    }
}

/// The graph while declarations are added to it.
#[derive(Debug, Default)]
struct ModelBuilder {
    lanes: SubjectLanes,
    nodes: Vec<ModelNode>,
    edges: BTreeSet<ModelEdge>,
    ids: BTreeSet<String>,
    /// The ids of commands and states, which have no name that is unique.
    declared: BTreeMap<(&'static str, Declaration), String>,
}

impl ModelBuilder {
    /// Begins with the events, because all other declarations are connected with them.
    fn new(registry: &Registry) -> Self {
        let mut builder = Self::default();
        // A template of a command with a route names the lane, if there is one.
        let mut commands: Vec<_> = registry.commands().iter().collect();
        commands.sort_by_key(|command| command.is_internal());
        for command in commands {
            builder.lanes.lane(command.subject);
        }
        for event in registry.events() {
            builder.add_event(event, registry.commands());
        }
        builder
    }

    fn add_event(&mut self, event: &EventDescriptor, commands: &[CommandDescriptor]) {
        let mut neighbour_lanes = LaneVotes::default();
        let records = |command: &&CommandDescriptor| (command.events)().contains(&event.event_type);
        for command in commands.iter().filter(records) {
            neighbour_lanes.add_vote(Some(&self.lanes.lane(command.subject)));
        }
        let subject = event.subject.map(|template| self.lanes.lane(template));
        let mut node = self.node(NodeKind::Event, event.event_type, event.declaration);
        node.subject = subject.or_else(|| neighbour_lanes.most_frequent());
        node.informational = event.informational;
        node.describe(Some((event.schema)().to_value()));
        self.nodes.push(node);
    }

    fn add_commands(&mut self, registry: &Registry) {
        for command in registry.commands() {
            let id = self.add_command(command);
            for event in (command.events)() {
                self.connect(&id, &event_id(event), EdgeKind::Records);
            }
            for parameter in command.parameters {
                if let ParameterOrigin::State(state) = parameter.origin {
                    let subject = parameter.subject.unwrap_or(command.subject);
                    let state = self.add_state(&state, subject);
                    self.connect(&state, &id, EdgeKind::Decides);
                }
            }
        }
    }

    fn add_command(&mut self, command: &CommandDescriptor) -> String {
        let mut node = self.node(NodeKind::Command, command.name, command.declaration);
        node.subject = Some(self.lanes.lane(command.subject));
        node.describe(Some(json_schema::of_request(command.schema)));
        node.summary = command.summary.to_owned();
        node.route = (!command.is_internal()).then(|| format!("POST {}", command.path));
        node.roles = command
            .roles
            .iter()
            .map(|role| (*role).to_owned())
            .collect();
        let id = node.id.clone();
        let key = (command.name, command.declaration);
        self.declared.insert(key, id.clone());
        self.nodes.push(node);
        id
    }

    /// Adds a state, unless it was added for another command, and returns its id.
    fn add_state(&mut self, state: &StateDescriptor, subject: &str) -> String {
        let key = (state.name, state.declaration);
        if let Some(id) = self.declared.get(&key) {
            return id.clone();
        }
        let mut node = self.node(NodeKind::State, state.name, state.declaration);
        let lane = self.lane_of_events(state.events.iter().copied());
        node.subject = lane.or_else(|| Some(self.lanes.lane(subject)));
        let id = node.id.clone();
        self.declared.insert(key, id.clone());
        self.nodes.push(node);
        for event in state.events {
            self.connect(&event_id(event), &id, EdgeKind::Evolves);
        }
        id
    }

    fn add_upcasters(&mut self, registry: &Registry) {
        for upcaster in registry.upcasters().iter() {
            for event in upcaster.to {
                let (from, to) = (event_id(upcaster.from), event_id(event));
                self.connect(&from, &to, EdgeKind::Upcasts);
            }
        }
    }

    fn add_read_models(&mut self, models: &ReadModels) {
        for table in models.iter() {
            let model = table.model;
            let mut node = self.node(NodeKind::ReadModel, model.name, model.declaration);
            node.subject = self.lane_of_events(model.events.iter().copied());
            node.schema = Some(json_schema::of_columns(model.columns));
            let id = node.id.clone();
            self.nodes.push(node);
            for event in model.events {
                self.connect(&event_id(event), &id, EdgeKind::Projects);
            }
        }
    }

    fn add_queries(&mut self, queries: &[QueryRoute]) {
        for route in queries {
            let (name, models) = match &route.target {
                QueryRouteTarget::Query(query) => (query.name, query.read_models.to_vec()),
                QueryRouteTarget::BrowseEvents(table) | QueryRouteTarget::FindEvent(table) => {
                    (route.path.as_str(), vec![table.model.name])
                }
            };
            let models: Vec<_> = models.into_iter().map(read_model_id).collect();
            let mut node = self.node(NodeKind::Query, name, route.declaration);
            if let QueryRouteTarget::Query(query) = &route.target {
                node.documentation = [query.summary, query.description].join("\n\n");
                node.documentation = node.documentation.trim_end().to_owned();
                node.summary = query.summary.to_owned();
                node.schema = Some(json_schema::of_response(query.output));
            }
            node.subject = self.lane_of(&models);
            node.route = Some(format!("GET {}", route.path));
            node.roles = route
                .roles()
                .iter()
                .map(|role| (*role).to_owned())
                .collect();
            let id = node.id.clone();
            self.nodes.push(node);
            for model in models {
                self.connect(&model, &id, EdgeKind::Answers);
            }
        }
    }

    fn add_reactions(&mut self, reactions: &Reactions) {
        for reaction in reactions.iter() {
            self.add_reaction(reaction);
        }
    }

    fn add_reaction(&mut self, reaction: &ReactionDescriptor) {
        let mut node = self.node(NodeKind::Reaction, reaction.name, reaction.declaration);
        node.subject = self.lane_of_events(reaction.steps.iter().map(|step| step.event));
        let id = node.id.clone();
        self.nodes.push(node);
        for step in reaction.steps {
            self.connect(&event_id(step.event), &id, EdgeKind::Starts);
            if let ReactionTiming::Deadline(deadline) = step.when {
                for event in deadline.unless {
                    self.connect(&event_id(event), &id, EdgeKind::Cancels);
                }
            }
        }
        for command in (reaction.commands)() {
            let key = (command.name, command.declaration);
            if let Some(command) = self.declared.get(&key).cloned() {
                self.connect(&id, &command, EdgeKind::Sends);
            }
        }
    }

    /// Returns the lanes, the nodes by kind, and the edges.
    fn into_parts(mut self) -> (Vec<String>, Vec<ModelNode>, Vec<ModelEdge>) {
        self.nodes.sort_by_key(|node| node.kind);
        let used: BTreeSet<_> = self
            .nodes
            .iter()
            .filter_map(|node| node.subject.as_ref())
            .collect();
        let mut subjects = self.lanes.into_templates();
        subjects.retain(|subject| used.contains(subject));
        (subjects, self.nodes, self.edges.into_iter().collect())
    }

    /// Returns a new node with an id of its own.
    fn node(&mut self, kind: NodeKind, name: &str, declaration: Declaration) -> ModelNode {
        let base = node_id(kind, name);
        let mut id = base.clone();
        let mut number = 1_u32;
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("{base}#{number}");
        }
        ModelNode {
            id,
            kind,
            name: name.to_owned(),
            subject: None,
            summary: String::new(),
            documentation: String::new(),
            route: None,
            roles: Vec::new(),
            informational: false,
            package: declaration.package.to_owned(),
            file: path_from_package(&declaration),
            line: declaration.line,
            schema: None,
        }
    }

    /// Connects two nodes, unless one of them is declared in a package that is not served.
    fn connect(&mut self, from: &str, to: &str, kind: EdgeKind) {
        if self.ids.contains(from) && self.ids.contains(to) {
            let (from, to) = (from.to_owned(), to.to_owned());
            self.edges.insert(ModelEdge { from, to, kind });
        }
    }

    fn lane_of_events(&self, events: impl Iterator<Item = &'static str>) -> Option<String> {
        self.lane_of(&events.map(event_id).collect::<Vec<_>>())
    }

    /// Returns the lane that most of these nodes stand in.
    fn lane_of(&self, ids: &[String]) -> Option<String> {
        let mut neighbour_lanes = LaneVotes::default();
        for node in self.nodes.iter().filter(|node| ids.contains(&node.id)) {
            neighbour_lanes.add_vote(node.subject.as_ref());
        }
        neighbour_lanes.most_frequent()
    }
}

impl ModelNode {
    /// Sets the schema and the documentation in it.
    fn describe(&mut self, schema: Option<Value>) {
        let texts = schema.as_ref().map(json_schema::summary_and_description);
        (self.summary, self.documentation) = texts.unwrap_or_default();
        self.schema = schema;
    }
}

fn node_id(kind: NodeKind, name: &str) -> String {
    format!("{}:{name}", kind.id())
}

fn event_id(event_type: &str) -> String {
    node_id(NodeKind::Event, event_type)
}

fn read_model_id(table: &str) -> String {
    node_id(NodeKind::ReadModel, table)
}
