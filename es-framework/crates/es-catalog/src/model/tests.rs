//! The model of a small shop, with what an application should not have, and pictures of it.

#![cfg(all(feature = "declarations", feature = "drawing"))]

use std::collections::BTreeSet;

use es_framework::prelude::*;

use super::{
    ApplicationModel, EdgeKind, FindingKind, ModelEdge, ModelNode, NodeKind, layout::ModelLayout,
};
use crate::Catalog;

/// A customer placed an order.
#[derive(Event)]
#[event(package = "com.example.shop")]
struct OrderPlacedEvent {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.shop")]
struct OrderPaidEvent {}

#[derive(Event)]
#[event(package = "com.example.shop", subject = "/parcels/{parcel}")]
struct ParcelPackedEvent {
    parcel: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.shop")]
struct OrderPraisedEvent {}

#[derive(State)]
struct Order {}

#[evolve]
impl Order {
    fn placed(_: &OrderPlacedEvent) -> Self {
        Self {}
    }

    fn paid(&mut self, _: &OrderPaidEvent) {}
}

/// Places an order. It is not paid yet.
#[derive(Command)]
#[command(subject = "/orders/{id}", condition = pristine, role = "customer")]
struct PlaceOrderCommand {
    id: Uuid,
}

#[handler]
fn place(command: PlaceOrderCommand) -> OrderPlacedEvent {
    OrderPlacedEvent { id: command.id }
}

#[derive(Command)]
#[command(subject = "/orders/{id}")]
struct PayOrderCommand {
    id: Uuid,
}

#[handler]
fn pay(_: &Order, _: PayOrderCommand) -> OrderPaidEvent {
    OrderPaidEvent {}
}

#[derive(Command)]
#[command(subject = "/orders/{id}")]
#[command(role = ["customer", "staff"], owner = customer, owner_except = "staff")]
struct PraiseOrderCommand {
    id: Uuid,
    customer: Uuid,
}

#[handler]
fn praise(_: PraiseOrderCommand) -> Vec<OrderPraisedEvent> {
    vec![OrderPraisedEvent {}]
}

#[derive(Command)]
#[command(subject = "/orders/{order}", internal)]
struct PackParcelCommand {
    order: Uuid,
}

#[handler]
fn pack(command: PackParcelCommand) -> Option<ParcelPackedEvent> {
    let parcel = command.order;
    Some(ParcelPackedEvent { parcel })
}

#[derive(Command)]
#[command(subject = "/orders/{id}", internal)]
struct ForgetOrderCommand {
    id: Uuid,
}

#[handler]
fn forget(_: ForgetOrderCommand) -> (OrderPaidEvent, OrderPraisedEvent) {
    (OrderPaidEvent {}, OrderPraisedEvent {})
}

struct Shipping;

#[reaction]
impl Shipping {
    fn pack(event: &OrderPlacedEvent) -> PackParcelCommand {
        PackParcelCommand { order: event.id }
    }
}

#[derive(ReadModel)]
#[read_model(table = "parcels")]
struct ParcelRow {
    #[key]
    parcel: Uuid,
    #[visible(role = "packer", owner = packed_by)]
    weight: Option<u32>,
    packed_by: Option<String>,
}

#[projection]
impl ParcelRow {
    #[key(parcel)]
    fn packed(event: &ParcelPackedEvent) -> Self {
        Self {
            parcel: event.parcel,
            weight: None,
            packed_by: None,
        }
    }
}

/// Browses the parcels.
#[derive(Query)]
#[query(path = "/parcels", rows = ParcelRow, role = public)]
struct BrowseParcels {}

fn shop() -> ApplicationModel {
    let catalog = Catalog::builder()
        .command::<PlaceOrderCommand>()
        .command::<PayOrderCommand>()
        .command::<PraiseOrderCommand>()
        .command::<PackParcelCommand>()
        .command::<ForgetOrderCommand>()
        .event::<OrderPlacedEvent>()
        .event::<OrderPaidEvent>()
        .event::<ParcelPackedEvent>()
        .event::<OrderPraisedEvent>()
        .read_model::<ParcelRow>()
        .query::<BrowseParcels>()
        .reaction::<Shipping>()
        .build()
        .unwrap();
    catalog.to_model("shop", &catalog.findings(None))
}

#[test]
fn the_edges_follow_the_flow_of_events() {
    let model = shop();
    let edges = model.edges.iter().map(|edge| {
        let [from, to] = [&edge.from, &edge.to].map(|id| model.node(id).unwrap().short_name());
        format!("{from} {:?} {to}", edge.kind)
    });
    let mut edges: Vec<_> = edges.collect();
    edges.sort();
    assert_eq!(
        edges,
        [
            "ForgetOrderCommand Records OrderPaidEvent",
            "ForgetOrderCommand Records OrderPraisedEvent",
            "Order Decides PayOrderCommand",
            "OrderPaidEvent Evolves Order",
            "OrderPlacedEvent Evolves Order",
            "OrderPlacedEvent Starts Shipping",
            "PackParcelCommand Records ParcelPackedEvent",
            "ParcelPackedEvent Projects parcels",
            "PayOrderCommand Records OrderPaidEvent",
            "PlaceOrderCommand Records OrderPlacedEvent",
            "PraiseOrderCommand Records OrderPraisedEvent",
            "Shipping Sends PackParcelCommand",
            "parcels Answers BrowseParcels",
        ]
    );
}

#[test]
fn a_node_has_its_lane_its_route_and_its_place() {
    let model = shop();
    assert_eq!(model.subjects, ["/orders/{id}", "/parcels/{parcel}"]);
    let place = model.node("command:PlaceOrderCommand").unwrap();
    assert_eq!(place.route.as_deref(), Some("POST /orders/place"));
    assert_eq!(place.roles, ["customer"]);
    assert_eq!(place.summary, "Places an order. It is not paid yet.");
    assert_eq!(
        (place.file.as_str(), place.package.as_str()),
        ("src/model/tests.rs", "es-catalog")
    );
    let lane = |id: &str| model.node(id).unwrap().subject.clone().unwrap();
    assert_eq!(lane("command:PackParcelCommand"), "/orders/{id}");
    assert_eq!(
        lane("event:com.example.shop.ParcelPackedEvent"),
        "/parcels/{parcel}"
    );
    assert_eq!(lane("read-model:parcels"), "/parcels/{parcel}");
    assert_eq!(lane("query:BrowseParcels"), "/parcels/{parcel}");
    assert_eq!(lane("reaction:Shipping"), "/orders/{id}");
}

#[test]
fn what_nothing_consumes_and_what_nobody_can_send_is_found() {
    let found = |model: &ApplicationModel| {
        let findings = model.findings.iter();
        let found: Vec<_> = findings.map(|one| (one.kind, one.node.clone())).collect();
        found
    };
    let praised = (
        FindingKind::UnconsumedEvent,
        "event:com.example.shop.OrderPraisedEvent".to_owned(),
    );
    let forget = (
        FindingKind::UnreachableCommand,
        "command:ForgetOrderCommand".to_owned(),
    );
    assert_eq!(found(&shop()), [forget.clone(), praised.clone()]);

    let staff = BTreeSet::from(["staff".to_owned()]);
    let place = (
        FindingKind::UnreachableCommand,
        "command:PlaceOrderCommand".to_owned(),
    );
    let model = shop().with_findings_for(&staff);
    assert_eq!(found(&model), [forget, place, praised]);
    assert_eq!(
        model.findings[1].message,
        "nobody can send the command PlaceOrderCommand, because no caller can have the role customer"
    );
}

#[test]
fn the_model_that_a_tool_reads_is_the_one_that_the_application_prints() {
    let json = serde_json::to_string(&shop()).unwrap();
    let read: ApplicationModel = serde_json::from_str(&json).unwrap();
    assert_eq!(read, shop());
}

#[test]
fn the_pictures_are_those_that_are_kept() {
    let settings = insta::Settings::clone_current();
    settings.bind(|| {
        insta::assert_snapshot!("mermaid", shop().to_mermaid());
        insta::assert_snapshot!("svg", shop().to_svg());
    });
}

/// Boxes must not cover each other, and a line must not pass through the box of another node.
fn assert_is_readable(model: &ApplicationModel) {
    let layout = ModelLayout::from_model(model);
    for (index, one) in layout.boxes.iter().enumerate() {
        for other in &layout.boxes[index + 1..] {
            let beside = one.right() <= other.x || other.right() <= one.x;
            let above = one.bottom() <= other.y || other.bottom() <= one.y;
            assert!(beside || above, "{} covers {}", one.node.id, other.node.id);
        }
        assert!(one.right() < layout.width && one.bottom() < layout.height);
    }
    for line in &layout.lines {
        let (x, y) = line.from;
        for one in &layout.boxes {
            let is_crossed = one.x < line.bend && one.right() > x && one.y < y && one.bottom() > y;
            assert!(
                !is_crossed,
                "the line {:?} crosses {}",
                line.edge, one.node.id
            );
        }
    }
}

#[test]
fn nothing_covers_anything() {
    assert_is_readable(&shop());
}

fn node(kind: NodeKind, name: &str) -> ModelNode {
    ModelNode {
        id: format!("{kind:?}:{name}"),
        kind,
        name: name.to_owned(),
        subject: Some("/rooms/{id}".to_owned()),
        summary: String::new(),
        documentation: String::new(),
        route: None,
        roles: Vec::new(),
        rules: Vec::new(),
        informational: false,
        package: "rooms".to_owned(),
        file: "src/rooms.rs".to_owned(),
        line: 1,
        schema: None,
    }
}

#[test]
fn rules_about_callers_are_in_the_model_and_in_its_pictures() {
    let model = shop();
    let sentences = |id: &str| {
        let rules = &model.node(id).unwrap().rules;
        rules
            .iter()
            .map(|rule| rule.sentence.clone())
            .collect::<Vec<_>>()
    };
    let about_owner =
        "Clients send it only for their own `customer`, except those with the role `staff`.";
    assert_eq!(sentences("command:PraiseOrderCommand"), [about_owner]);
    let about_column = "Only clients with the role `packer` and clients whose owner id is the `packedBy` see `weight`.";
    assert_eq!(sentences("read-model:parcels"), [about_column]);
    let about_everybody = "Everybody may send it, without a credential.";
    assert_eq!(sentences("query:BrowseParcels"), [about_everybody]);
    for picture in [model.to_svg(), model.to_mermaid()] {
        assert!(picture.contains("owner customer, or staff"), "{picture}");
        assert!(
            picture.contains("weight for packer or owner pac"),
            "{picture}"
        );
    }
}

/// A reaction that leads to its own event, over a command that clients send as well.
#[test]
fn a_cycle_of_reactions_ends() {
    let names = [
        (NodeKind::Command, "Heat"),
        (NodeKind::Event, "Heated"),
        (NodeKind::Reaction, "Thermostat"),
        (NodeKind::Command, "Lonely"),
        (NodeKind::Event, "LonelyHappened"),
        (NodeKind::Reaction, "LonelyReaction"),
    ];
    let nodes: Vec<_> = names.map(|(kind, name)| node(kind, name)).into();
    let edge = |from: usize, kind, to: usize| ModelEdge {
        from: nodes[from].id.clone(),
        to: nodes[to].id.clone(),
        kind,
    };
    let edges = [0, 3].map(|first| {
        [
            edge(first, EdgeKind::Records, first + 1),
            edge(first + 1, EdgeKind::Starts, first + 2),
            edge(first + 2, EdgeKind::Sends, first),
        ]
    });
    let model = ApplicationModel {
        application: "rooms".into(),
        subjects: vec!["/rooms/{id}".into()],
        edges: edges.concat(),
        nodes,
        findings: vec![],
    };
    assert_is_readable(&model);
    let svg = model.to_svg();
    assert!(svg.contains(">sends Heat<"), "{svg}");
}

#[test]
fn hostile_texts_stay_texts() {
    let hostile = "</title><script>alert('1')</script>\u{1}\u{202e}&\"`#;";
    let mut model = shop();
    for node in &mut model.nodes {
        node.name = hostile.to_owned();
        node.summary = hostile.to_owned();
        node.route = Some(hostile.repeat(1_000));
    }
    let svg = model.to_svg();
    assert!(!svg.contains("<script") && !svg.contains('\u{1}'));
    let mermaid = model.to_mermaid();
    assert!(!mermaid.contains("<script") && !mermaid.contains("&\""));
}
