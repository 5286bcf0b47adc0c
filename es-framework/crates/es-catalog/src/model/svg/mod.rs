//! The picture of a model as SVG, without scripts. The colours follow the reader's light or dark mode.

mod xml_text;

use std::fmt::Write as _;

use crate::model::{
    application_model::ApplicationModel,
    layout::{
        BoxLine, BoxLineKind, LINE_HEIGHT, MARGIN, ModelLayout, PADDING, PlacedBox, PlacedLane,
        PlacedLine, TITLE_HEIGHT,
    },
    node::ModelNode,
};
use xml_text::escape;

/// The style of the picture.
pub const STYLE: &str = include_str!("style.css");

/// The first lines below the title of the picture: what the colours mean.
const LEGEND: [(&str, &str); 6] = [
    ("command", "command"),
    ("event", "event"),
    ("state", "state, read model"),
    ("query", "query"),
    ("reaction", "reaction"),
    ("finding", "finding"),
];

impl ApplicationModel {
    /// Returns the picture of the model as an SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.draw(Some(STYLE), &|_| None)
    }

    /// Returns the picture as an element for a page that has the style [`STYLE`]. A box is a link, if it has
    /// an address.
    #[must_use]
    pub fn to_inline_svg(&self, address: &dyn Fn(&ModelNode) -> Option<String>) -> String {
        self.draw(None, address)
    }

    fn draw(&self, style: Option<&str>, link: &dyn Fn(&ModelNode) -> Option<String>) -> String {
        let layout = ModelLayout::from_model(self);
        let ModelLayout { width, height, .. } = layout;
        let name = escape(&self.application);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"application-model\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"{}\" aria-label=\"The model of {name}\">\n\
             <title>The model of {name}</title>\n<desc>{}</desc>\n",
            if style.is_some() { "img" } else { "group" },
            escape(&self.description()),
        );
        if let Some(style) = style {
            let _ = writeln!(svg, "<style>\n{}</style>", style);
        }
        svg.push_str(MARKERS);
        let _ = writeln!(
            svg,
            "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>"
        );
        draw_head(&mut svg, &self.application, &layout);
        for lane in &layout.lanes {
            draw_lane(&mut svg, lane, width);
        }
        for line in &layout.lines {
            self.draw_line(&mut svg, line);
        }
        for one in &layout.boxes {
            self.draw_box(&mut svg, one, link(one.node).as_deref());
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Returns a sentence about the model, for readers who do not see the picture.
    fn description(&self) -> String {
        let count = |noun: &str| {
            let nodes = self.nodes.iter();
            nodes.filter(|node| node.kind.noun() == noun).count()
        };
        format!(
            "{} commands, {} events, {} states, {} read models, {} queries, {} reactions and {} public events on {} subjects",
            count("Command"),
            count("Event"),
            count("State"),
            count("Read model"),
            count("Query"),
            count("Reaction"),
            count("Public event"),
            self.subjects.len(),
        )
    }

    /// Draws a straight line in the row of the first box, and a curve to the second one.
    fn draw_line(&self, svg: &mut String, line: &PlacedLine<'_>) {
        let PlacedLine {
            edge,
            from: (x, y),
            bend,
            to: (end_x, end_y),
        } = line;
        // The arrow's head is in front of the end.
        let end_x = end_x.saturating_sub(6);
        let control = end_x.saturating_sub(*bend) / 2;
        let (first, second) = (bend + control, end_x.saturating_sub(control));
        let names = [&edge.from, &edge.to].map(|id| self.node(id).map(ModelNode::short_name));
        let [from, to] = names.map(|name| escape(name.unwrap_or_default()));
        let kind = serde_json::to_value(edge.kind).unwrap_or_default();
        let class = kind.as_str().unwrap_or_default();
        let _ = writeln!(
            svg,
            "<path class=\"edge {class}\" marker-end=\"url(#{})\" \
             d=\"M{x} {y}H{bend}C{first} {y} {second} {end_y} {end_x} {end_y}\"><title>{from} {} {to}</title></path>",
            marker(class),
            edge.kind.verb(),
        );
    }

    fn draw_box(&self, svg: &mut String, one: &PlacedBox<'_>, link: Option<&str>) {
        let PlacedBox {
            node,
            text,
            x,
            y,
            width,
            height,
            ..
        } = one;
        let finding = self.finding(&node.id);
        let kind = node.kind.id();
        let class = finding.map_or(kind.to_owned(), |_| format!("{kind} finding"));
        if let Some(link) = link {
            let _ = writeln!(svg, "<a href=\"{}\">", escape(link));
        }
        let _ = writeln!(
            svg,
            "<g class=\"node {class}\" data-id=\"{}\"><title>{}</title>\n\
             <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>",
            escape(&node.id),
            escape(&tooltip(
                node,
                finding.map(|finding| finding.message.as_str())
            )),
        );
        let text_x = x + PADDING;
        let mut baseline = (y + TITLE_HEIGHT).saturating_sub(3);
        let title = escape(&text.title);
        let _ = writeln!(
            svg,
            "<text class=\"name\" x=\"{text_x}\" y=\"{baseline}\">{title}</text>"
        );
        for BoxLine { text, kind } in &text.lines {
            baseline += LINE_HEIGHT;
            let class = match kind {
                BoxLineKind::Route => "route",
                BoxLineKind::Remark => "remark",
                BoxLineKind::Mark => "mark",
            };
            let text = escape(text);
            let _ = writeln!(
                svg,
                "<text class=\"{class}\" x=\"{text_x}\" y=\"{baseline}\">{text}</text>"
            );
        }
        svg.push_str("</g>\n");
        if link.is_some() {
            svg.push_str("</a>\n");
        }
    }
}

/// The arrow heads, one for each colour of lines.
const MARKERS: &str = "<defs>\n\
    <marker id=\"arrow-event\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head event\" d=\"M0 0L8 4L0 8z\"/></marker>\n\
    <marker id=\"arrow-view\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head view\" d=\"M0 0L8 4L0 8z\"/></marker>\n\
    <marker id=\"arrow-reaction\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head reaction\" d=\"M0 0L8 4L0 8z\"/></marker>\n\
    </defs>\n";

fn marker(class: &str) -> &'static str {
    match class {
        "records" | "publishes" => "arrow-event",
        "starts" | "cancels" | "sends" => "arrow-reaction",
        _ => "arrow-view",
    }
}

fn draw_head(svg: &mut String, application: &str, layout: &ModelLayout<'_>) {
    let left = MARGIN * 2;
    let name = escape(application);
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"{left}\" y=\"32\">{name}</text>"
    );
    let mut x = layout.width.saturating_sub(MARGIN * 2);
    for (class, text) in LEGEND.iter().rev() {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        x = x.saturating_sub(length * 7 + 38);
        let _ = writeln!(
            svg,
            "<g class=\"legend node {class}\"><rect x=\"{x}\" y=\"21\" width=\"16\" height=\"12\" rx=\"3\"/>\
             <text class=\"remark\" x=\"{}\" y=\"31\">{text}</text></g>",
            x + 22,
        );
    }
    for (x, heading) in &layout.headings {
        let _ = writeln!(
            svg,
            "<text class=\"heading\" x=\"{x}\" y=\"64\">{heading}</text>"
        );
    }
}

fn draw_lane(svg: &mut String, lane: &PlacedLane<'_>, width: u32) {
    let PlacedLane { subject, y, height } = lane;
    let x = MARGIN;
    let inner = width.saturating_sub(MARGIN * 2);
    let text_x = MARGIN * 2;
    let text_y = y + 22;
    let label = escape(subject.unwrap_or("no subject"));
    let _ = writeln!(
        svg,
        "<g class=\"lane\"><title>Subject {label}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{height}\" rx=\"10\"/>\
         <text x=\"{text_x}\" y=\"{text_y}\">{label}</text></g>"
    );
}

/// Returns the text that a pointer on a box shows.
fn tooltip(node: &ModelNode, finding: Option<&str>) -> String {
    let mut text = format!("{} {}", node.kind.noun(), node.name);
    if !node.summary.is_empty() {
        let _ = write!(text, "\n{}", node.summary);
    }
    if let Some(role) = node.role_text() {
        let _ = write!(text, "\nNeeds the role {role}.");
    }
    for rule in &node.rules {
        let _ = write!(text, "\n{}", rule.sentence);
    }
    if let Some(finding) = finding {
        let _ = write!(text, "\nFinding: {finding}.");
    }
    // Without the line, so that a committed picture changes with the model only.
    let _ = write!(text, "\n{}", node.file);
    text
}
