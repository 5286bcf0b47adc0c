//! Describes a catalog as an [`ApplicationModel`]: plain data for pictures and tools.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    ApplicationModel, EdgeKind, ModelEdge, ModelFinding, ModelNode, ModelRule, NodeKind,
};
use es_command::{
    command::CommandDescriptor,
    publication::{PublicEventDescriptor, PublicationDescriptor},
    reaction::{ReactionStep, ReactionTiming, Schedule},
    state::StateDescriptor,
};
use es_event::{Declaration, EventDescriptor};
use es_read::query::{QueryRoute, QueryRouteTarget};
use serde_json::Value;

use super::{
    caller_rules::{rule_about_column, rules_about_callers},
    catalog::Catalog,
    connections::CatalogEntry,
    finding::Finding,
    json_schema,
    source_path::path_from_package,
    state_parameter::{StateParameter, states_of_parameters},
    subject_lanes::{LaneVotes, SubjectLanes},
    unique_rules::describe_rules,
};

impl Catalog {
    /// Returns the model of the application of this name, with findings about its declarations.
    #[doc(hidden)]
    #[must_use]
    pub fn to_model(&self, application: &str, findings: &[Finding]) -> ApplicationModel {
        let mut builder = ModelBuilder {
            catalog: self,
            lanes: SubjectLanes::default(),
            nodes: Vec::new(),
            ids: BTreeMap::new(),
        };
        builder.add_declarations();
        let edges = builder.edges();
        let findings = findings.iter().map(|one| builder.finding(one)).collect();
        let (subjects, nodes) = builder.into_lanes_and_nodes();
        ApplicationModel::new(application, subjects, nodes, edges, findings)
    }
}

/// The nodes while declarations are added to them.
struct ModelBuilder<'a> {
    catalog: &'a Catalog,
    lanes: SubjectLanes,
    nodes: Vec<ModelNode>,
    /// The positions of the nodes of the declarations. The steps of a reaction share a node.
    ids: BTreeMap<CatalogEntry, usize>,
}

impl ModelBuilder<'_> {
    fn add_declarations(&mut self) {
        let catalog = self.catalog;
        // A template of a command with a route names the lane, if there is one.
        let mut commands: Vec<_> = catalog.commands.iter().collect();
        commands.sort_by_key(|command| command.is_internal());
        for command in commands {
            self.lanes.lane(command.subject);
        }
        for command in &catalog.commands {
            self.add_command(command);
        }
        for event in &catalog.events {
            self.add_event(event);
        }
        for StateParameter { state, subject, .. } in catalog.states() {
            self.add_state(&state, Some(subject));
        }
        let steps = catalog.reactions.iter().flat_map(|reaction| reaction.steps);
        let by_steps = steps.map(|step| step.parameters);
        let by_publications = catalog.publications.iter().map(|one| one.parameters);
        for parameters in by_steps.chain(by_publications) {
            for (state, subject) in states_of_parameters(parameters) {
                self.add_state(&state, subject);
            }
        }
        for table in catalog.models.iter() {
            let model = table.model;
            let entry = CatalogEntry::ReadModel(model.name);
            let mut node = self.node(NodeKind::ReadModel, model.name, model.declaration);
            node.subject = self.lane_before([entry], EdgeKind::Projects);
            node.schema = Some(json_schema::of_columns(model.columns));
            node.rules = model.visibility.iter().map(rule_about_column).collect();
            self.push([entry], node);
        }
        for (index, route) in catalog.queries.iter().enumerate() {
            self.add_query(CatalogEntry::Query(index), route);
        }
        for reaction in catalog.reactions.iter() {
            let steps =
                (0..reaction.steps.len()).map(|step| CatalogEntry::Step(reaction.name, step));
            let mut node = self.node(NodeKind::Reaction, reaction.name, reaction.declaration);
            let lane = self.lane_before(steps.clone(), EdgeKind::Starts);
            // No event starts a schedule.
            node.subject = lane.or_else(|| self.lane_of_sent_commands(steps.clone()));
            node.rules = reaction.steps.iter().filter_map(rule_of_schedule).collect();
            self.push(steps, node);
        }
        for event in &catalog.public_events {
            self.add_public_event(event);
        }
    }

    fn add_public_event(&mut self, event: &PublicEventDescriptor) {
        let entry = CatalogEntry::PublicEvent(event.event_type);
        let mut node = self.node(NodeKind::PublicEvent, event.event_type, event.declaration);
        node.subject = self.lane_before([entry], EdgeKind::Publishes);
        describe(&mut node, json_schema::of_response(event.schema));
        let publishes = |one: &&PublicationDescriptor| {
            let mut events = (one.public_events)().into_iter();
            events.any(|published| published.event_type == event.event_type)
        };
        let publications = self.catalog.publications.iter().filter(publishes);
        node.rules = publications.map(rule_of_publication).collect();
        self.push([entry], node);
    }

    fn add_command(&mut self, command: &CommandDescriptor) {
        let mut node = self.node(NodeKind::Command, command.name, command.declaration);
        node.subject = Some(self.lanes.lane(command.subject));
        describe(&mut node, json_schema::of_request(command.schema));
        node.summary = command.summary.to_owned();
        node.route = (!command.is_internal()).then(|| format!("POST {}", command.path));
        node.roles = owned(command.roles);
        node.rules = rules_about_callers(command.public, command.owner.as_ref());
        self.push([CatalogEntry::command(command)], node);
    }

    fn add_event(&mut self, event: &EventDescriptor) {
        let entry = CatalogEntry::Event(event.event_type);
        let mut node = self.node(NodeKind::Event, event.event_type, event.declaration);
        let own = event.subject.map(|template| self.lanes.lane(template));
        node.subject = own.or_else(|| self.lane_before([entry], EdgeKind::Records));
        node.informational = event.informational;
        node.rules = describe_rules(&event.unique);
        describe(&mut node, (event.schema)().to_value());
        self.push([entry], node);
    }

    /// Adds a state, unless it was added before.
    fn add_state(&mut self, state: &StateDescriptor, subject: Option<&'static str>) {
        let entry = CatalogEntry::State(state.name, state.declaration);
        if !self.ids.contains_key(&entry) {
            let mut node = self.node(NodeKind::State, state.name, state.declaration);
            let lane = self.lane_before([entry], EdgeKind::Evolves);
            node.subject = lane.or_else(|| subject.map(|subject| self.lanes.lane(subject)));
            self.push([entry], node);
        }
    }

    fn add_query(&mut self, entry: CatalogEntry, route: &QueryRoute) {
        let name = match &route.target {
            QueryRouteTarget::Query(query) => query.name,
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => &route.path,
        };
        let mut node = self.node(NodeKind::Query, name, route.declaration);
        if let QueryRouteTarget::Query(query) = &route.target {
            let documentation = [query.summary, query.description].join("\n\n");
            node.documentation = documentation.trim_end().to_owned();
            node.summary = query.summary.to_owned();
            node.schema = Some(json_schema::of_response(query.output));
        }
        node.subject = self.lane_before([entry], EdgeKind::Answers);
        node.route = Some(format!("GET {}", route.path));
        node.roles = owned(route.roles());
        node.rules = rules_about_callers(route.is_public(), route.owner().as_ref());
        self.push([entry], node);
    }

    fn push(&mut self, entries: impl IntoIterator<Item = CatalogEntry>, node: ModelNode) {
        let position = self.nodes.len();
        self.ids
            .extend(entries.into_iter().map(|entry| (entry, position)));
        self.nodes.push(node);
    }

    fn node_of(&self, entry: CatalogEntry) -> Option<&ModelNode> {
        self.ids
            .get(&entry)
            .and_then(|position| self.nodes.get(*position))
    }

    /// Returns the lane in which most of the declarations stand that lead to these entries.
    fn lane_before(
        &self,
        entries: impl IntoIterator<Item = CatalogEntry>,
        kind: EdgeKind,
    ) -> Option<String> {
        let entries: BTreeSet<_> = entries.into_iter().collect();
        let connections = self.catalog.connections.iter();
        let leading = connections.filter(|one| one.kind == kind && entries.contains(&one.to));
        let before: BTreeSet<_> = leading.map(|one| one.from).collect();
        let mut votes = LaneVotes::default();
        for node in before.into_iter().filter_map(|entry| self.node_of(entry)) {
            votes.add_vote(node.subject.as_ref());
        }
        votes.most_frequent()
    }

    /// Returns the lane in which most of the commands stand that these steps send.
    fn lane_of_sent_commands(
        &self,
        steps: impl IntoIterator<Item = CatalogEntry>,
    ) -> Option<String> {
        let mut votes = LaneVotes::default();
        let connections = &self.catalog.connections;
        let sent = steps.into_iter().flat_map(|step| connections.leaving(step));
        for node in sent.filter_map(|sent| self.node_of(sent.to)) {
            votes.add_vote(node.subject.as_ref());
        }
        votes.most_frequent()
    }

    /// Returns a new node with an id of its own.
    fn node(&self, kind: NodeKind, name: &str, declaration: Declaration) -> ModelNode {
        let base = node_id(kind.id(), name);
        let is_free = |id: &String| self.nodes.iter().all(|node| node.id != *id);
        let numbered = (2..).map(|number: u32| format!("{base}#{number}"));
        let id = [base.clone()].into_iter().chain(numbered).find(is_free);
        ModelNode {
            id: id.unwrap_or(base),
            kind,
            name: name.to_owned(),
            subject: None,
            summary: String::new(),
            documentation: String::new(),
            route: None,
            roles: Vec::new(),
            rules: Vec::new(),
            informational: false,
            package: declaration.package.to_owned(),
            file: path_from_package(&declaration),
            line: declaration.line,
            schema: None,
        }
    }

    /// Returns the connections between the nodes. A declaration of a package that is not served has no node.
    fn edges(&self) -> Vec<ModelEdge> {
        let connections = self.catalog.connections.iter();
        let edges: BTreeSet<_> = connections
            .filter_map(|one| {
                Some(ModelEdge {
                    from: self.node_of(one.from)?.id.clone(),
                    to: self.node_of(one.to)?.id.clone(),
                    kind: one.kind,
                })
            })
            .collect();
        edges.into_iter().collect()
    }

    /// Returns a finding without the places, which depend on the folder of the build.
    fn finding(&self, finding: &Finding) -> ModelFinding {
        let name = &finding.name;
        let node = finding.entry.and_then(|entry| self.node_of(entry));
        ModelFinding {
            kind: finding.kind,
            node: node.map_or_else(|| node_id("settings", name), |node| node.id.clone()),
            name: name.clone(),
            message: finding.message.clone(),
            file: path_from_package(&finding.declaration),
            line: finding.declaration.line,
        }
    }

    /// Returns the lanes and the nodes by kind.
    fn into_lanes_and_nodes(mut self) -> (Vec<String>, Vec<ModelNode>) {
        self.nodes.sort_by_key(|node| node.kind);
        let lanes = self.nodes.iter().filter_map(|node| node.subject.as_ref());
        let used: BTreeSet<_> = lanes.collect();
        let mut subjects = self.lanes.into_templates();
        subjects.retain(|subject| used.contains(subject));
        (subjects, self.nodes)
    }
}

/// Sets the schema and the documentation in it.
fn describe(node: &mut ModelNode, schema: Value) {
    (node.summary, node.documentation) = json_schema::summary_and_description(&schema);
    node.schema = Some(schema);
}

/// Describes the schedule of a step, if it has one.
fn rule_of_schedule(step: &ReactionStep) -> Option<ModelRule> {
    let ReactionTiming::Schedule(schedule) = step.when else {
        return None;
    };
    let Schedule { cron, zone, .. } = schedule;
    Some(ModelRule {
        label: format!("{cron} {zone}"),
        sentence: schedule.describe(step.name),
    })
}

/// Describes a publication of a public event.
fn rule_of_publication(publication: &PublicationDescriptor) -> ModelRule {
    let PublicationDescriptor {
        name,
        event,
        personal,
        ..
    } = publication;
    let seen = match personal {
        [] => "no personal value".to_owned(),
        members => format!("the personal values of {}", members.join(", ")),
    };
    ModelRule {
        label: format!("publication {name}"),
        sentence: format!(
            "The publication {name} publishes it after {event}, of which it sees {seen}."
        ),
    }
}

fn node_id(kind: &str, name: &str) -> String {
    format!("{kind}:{name}")
}

fn owned(roles: &[&str]) -> Vec<String> {
    roles.iter().map(|role| (*role).to_owned()).collect()
}
