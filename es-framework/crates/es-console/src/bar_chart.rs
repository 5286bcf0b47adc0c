//! A bar chart as SVG.

use maud::{Markup, html};

/// A bar chart. Its highest bar has the whole height.
#[derive(Debug)]
pub(crate) struct BarChart {
    pub(crate) title: &'static str,
    /// The number of bars that have a place. Missing bars leave their places at the left free.
    pub(crate) places: u32,
    pub(crate) bars: Vec<ChartBar>,
}

/// One bar.
#[derive(Debug)]
pub(crate) struct ChartBar {
    /// The text that the bar stands for.
    pub(crate) title: String,
    pub(crate) height: u64,
    /// The part of the height that has the stronger colour.
    pub(crate) filled: u64,
}

impl BarChart {
    pub(crate) fn render(&self) -> Markup {
        let heights = self.bars.iter().map(|bar| bar.height);
        let most = heights.max().unwrap_or_default();
        let places = usize::try_from(self.places).unwrap_or_default();
        let missing = places.saturating_sub(self.bars.len());
        html! {
            svg.chart viewBox={ "0 0 " (places.saturating_mul(10)) " 60" } preserveAspectRatio="none" role="img" aria-label=(self.title) {
                @for (index, bar) in self.bars.iter().enumerate() {
                    @let left = index.saturating_add(missing).saturating_mul(10);
                    g {
                        title { (bar.title) }
                        @if bar.filled < bar.height { (rectangle("rest", left, bar_height(bar.height, most))) }
                        (rectangle("part", left, bar_height(bar.filled, most)))
                    }
                }
            }
        }
    }
}

fn rectangle(class: &str, left: usize, height: u64) -> Markup {
    html! { rect class=(class) x=(left) y=(60_u64.saturating_sub(height)) width="8" height=(height) {} }
}

/// Returns the height of a bar. A bar of zero has a line at the bottom.
fn bar_height(count: u64, most: u64) -> u64 {
    let share = count.saturating_mul(58).checked_div(most);
    share.unwrap_or_default().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_into_the_chart() {
        assert_eq!(
            [bar_height(0, 0), bar_height(0, 7), bar_height(7, 7)],
            [1, 1, 59]
        );
        assert!(bar_height(u64::MAX, u64::MAX) <= 60);
    }

    #[test]
    fn missing_bars_are_at_the_left() {
        let bar = |filled| ChartBar {
            title: "<b>".to_owned(),
            height: 10,
            filled,
        };
        let chart = BarChart {
            title: "Events",
            places: 4,
            bars: vec![bar(10), bar(5)],
        };
        let svg = chart.render().into_string();
        assert!(
            svg.contains("viewBox=\"0 0 40 60\"") && svg.contains("&lt;b&gt;"),
            "{svg}"
        );
        let left = |x: u32| svg.matches(&format!("x=\"{x}\"")).count();
        assert_eq!([left(0), left(20), left(30)], [0, 1, 2]);
    }
}
