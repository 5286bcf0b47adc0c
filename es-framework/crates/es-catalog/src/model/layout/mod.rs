//! Places the nodes of a model: kinds in columns from left to right in the order of time, one lane below
//! the other, one row for each step.
//!
//! An event has its row for itself from its box to the right edge, so that its line to states and read
//! models is straight and crosses no box.

mod box_text;
mod columns;
mod lines;
mod rows;
mod views;

use std::collections::BTreeMap;

use crate::model::{application_model::ApplicationModel, node::ModelNode};

pub(crate) use box_text::{BoxLine, BoxLineKind, BoxText, LINE_HEIGHT, PADDING, TITLE_HEIGHT};
use columns::ColumnPlan;
pub(crate) use lines::PlacedLine;

/// Space around the picture and between lanes.
pub(crate) const MARGIN: u32 = 16;
/// Space between two columns, for the lines.
const GUTTER: u32 = 66;
/// Space between two boxes of a column.
const GAP: u32 = 14;
/// Space above the boxes of a lane, for its label.
const LANE_HEAD: u32 = 34;
/// Space above the lanes, for the headings of the columns.
const HEAD: u32 = 76;

/// The width that the title and the legend need.
const MIN_WIDTH: u32 = 860;

/// A model with a place for each box and each line.
#[derive(Debug)]
pub(crate) struct ModelLayout<'a> {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) headings: Vec<(u32, String)>,
    pub(crate) lanes: Vec<PlacedLane<'a>>,
    pub(crate) boxes: Vec<PlacedBox<'a>>,
    pub(crate) lines: Vec<PlacedLine<'a>>,
}

/// A lane with its place from top to bottom.
#[derive(Debug)]
pub(crate) struct PlacedLane<'a> {
    pub(crate) subject: Option<&'a str>,
    pub(crate) y: u32,
    pub(crate) height: u32,
}

/// A node with its place and its text.
#[derive(Debug, Clone)]
pub(crate) struct PlacedBox<'a> {
    pub(crate) node: &'a ModelNode,
    pub(crate) text: BoxText,
    pub(crate) column: usize,
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl PlacedBox<'_> {
    pub(crate) const fn right(&self) -> u32 {
        self.x + self.width
    }

    pub(crate) const fn bottom(&self) -> u32 {
        self.y + self.height
    }

    pub(crate) const fn middle(&self) -> u32 {
        self.y + self.height / 2
    }
}

/// The left edge and the width of a column.
#[derive(Debug, Clone, Copy)]
struct ColumnPlace {
    x: u32,
    width: u32,
}

impl<'a> ModelLayout<'a> {
    /// Places the nodes of a model.
    pub(crate) fn from_model(model: &'a ApplicationModel) -> Self {
        let plan = ColumnPlan::from_model(model);
        let texts: BTreeMap<_, _> = model
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), BoxText::from_node(node, model, &plan)))
            .collect();
        let places = column_places(model, &plan, &texts);
        let mut layout = Self {
            width: (right_edge(&places) + MARGIN * 2).max(MIN_WIDTH),
            height: HEAD,
            headings: headings(&plan, &places),
            lanes: Vec::new(),
            boxes: Vec::new(),
            lines: Vec::new(),
        };
        let subjects = model.subjects.iter().map(|subject| Some(subject.as_str()));
        for subject in subjects.chain([None]) {
            layout.place_lane(model, &plan, &texts, &places, subject);
        }
        layout.lines = lines::place_lines(model, &layout.boxes);
        layout
    }

    /// Places the boxes of a lane below those of the lanes before. A lane without boxes is left out.
    fn place_lane(
        &mut self,
        model: &'a ApplicationModel,
        plan: &ColumnPlan,
        texts: &BTreeMap<&'a str, BoxText>,
        places: &[ColumnPlace],
        subject: Option<&'a str>,
    ) {
        let is_here = |node: &&'a ModelNode| node.subject.as_deref() == subject;
        let nodes = model.nodes.iter().filter(is_here);
        let boxes: Vec<_> = nodes
            .filter_map(|node| {
                let column = plan.find_column(&node.id)?;
                let place = places.get(column)?;
                let text = texts.get(node.id.as_str())?.clone();
                Some(PlacedBox {
                    node,
                    height: text.height(),
                    text,
                    column,
                    x: place.x,
                    y: 0,
                    width: place.width,
                })
            })
            .collect();
        if boxes.is_empty() {
            return;
        }
        let y = self.height;
        let top = y + LANE_HEAD;
        let first_view = plan.views();
        let (flow, view_boxes): (Vec<_>, Vec<_>) =
            boxes.into_iter().partition(|one| one.column < first_view);
        let (flow, flow_bottom) = rows::place_rows(model, flow, top);
        self.boxes.extend(flow);
        let bottom = views::place_views(model, &mut self.boxes, view_boxes, first_view, top)
            .max(flow_bottom);
        let height = bottom.saturating_sub(y) + MARGIN;
        self.lanes.push(PlacedLane { subject, y, height });
        self.height = y + height + MARGIN;
    }
}

/// Returns the place of each column. A column is as wide as its widest box.
fn column_places(
    model: &ApplicationModel,
    plan: &ColumnPlan,
    texts: &BTreeMap<&str, BoxText>,
) -> Vec<ColumnPlace> {
    let mut x = MARGIN * 2;
    let mut places = Vec::new();
    for column in 0..plan.column_count() {
        let nodes = model.nodes.iter();
        let here = nodes.filter(|node| plan.find_column(&node.id) == Some(column));
        let widths = here.filter_map(|node| texts.get(node.id.as_str()).map(BoxText::width));
        let width = widths.max().unwrap_or_default();
        places.push(ColumnPlace { x, width });
        x += width + GUTTER;
    }
    places
}

fn right_edge(places: &[ColumnPlace]) -> u32 {
    let last = places.last();
    last.map_or(0, |last| last.x + last.width)
}

fn headings(plan: &ColumnPlan, places: &[ColumnPlace]) -> Vec<(u32, String)> {
    let column_title =
        |(column, place): (usize, &ColumnPlace)| (place.x, plan.column_title(column).to_owned());
    places.iter().enumerate().map(column_title).collect()
}
