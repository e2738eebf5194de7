//! Lines over time or over a number, as an SVG that is readable on light and on dark ground.

use std::fmt::Write as _;

/// One pair of axes with its lines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What is told from left to right, with its unit.
    pub(crate) across: String,
    /// What is told from bottom to top, with its unit.
    pub(crate) upward: String,
    pub(crate) lines: Vec<Line>,
}

/// One line and what it is called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 50.0;

/// About how many steps an axis has.
const STEPS: f64 = 5.0;

/// A line with more points than that shows no single ones.
const MARKED_POINTS_MAX: usize = 30;

/// The colours of the lines, which differ in lightness too, and the pattern of each.
const STYLES: [(&str, &str); 5] =
    [("#3b82c4", ""), ("#d9772b", "8 4"), ("#4a9e5c", "2 4"), ("#b052a8", "8 4 2 4"), ("#8a8a2a", "4 4")];

const STYLE_SHEET: &str = "\
text { font: 12px system-ui, sans-serif; fill: #222 } .title { font-size: 14px; font-weight: 600 }\n\
.ground { fill: #fff } .axis { stroke: #444 } .grid { stroke: #ddd }\n\
@media (prefers-color-scheme: dark) {\n\
text { fill: #ddd } .ground { fill: #16181c } .axis { stroke: #bbb } .grid { stroke: #333 } }";

/// The charts, one below the other.
pub(crate) fn svg(charts: &[Chart]) -> String {
    let mut out = String::new();
    let height = charts.iter().fold(0.0, |height, _| height + HEIGHT);
    put(
        &mut out,
        format_args!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">"#),
    );
    put(&mut out, format_args!("<style>\n{STYLE_SHEET}\n</style>"));
    put(&mut out, format_args!(r#"<rect class="ground" width="{WIDTH}" height="{height}"/>"#));
    let mut top = 0.0;
    for chart in charts {
        put(&mut out, format_args!(r#"<g transform="translate(0 {top})">"#));
        draw(chart, &mut out);
        put(&mut out, format_args!("</g>"));
        top += HEIGHT;
    }
    put(&mut out, format_args!("</svg>"));
    out
}

/// Where values are on the picture.
struct Scale {
    across_end: f64,
    upward_end: f64,
}

impl Scale {
    fn of(chart: &Chart) -> Self {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let end = |values: &mut dyn Iterator<Item = f64>| {
            let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
            if most > 0.0 { most } else { 1.0 }
        };
        let upward = end(&mut points().map(|point| point.1));
        // The line does not touch the top, and the last step is a whole one.
        let step = step(upward * 1.05);
        Self { across_end: end(&mut points().map(|point| point.0)), upward_end: (upward * 1.05 / step).ceil() * step }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + value / self.across_end * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.upward_end * (HEIGHT - TOP - BOTTOM)
    }
}

fn draw(chart: &Chart, out: &mut String) {
    let scale = Scale::of(chart);
    put(out, format_args!(r#"<text class="title" x="{LEFT}" y="22">{}</text>"#, escaped(&chart.title)));
    draw_axes(chart, &scale, out);
    let mut name_at = LEFT;
    for (line, (colour, dashes)) in chart.lines.iter().zip(STYLES.iter().cycle()) {
        draw_line(line, &scale, (colour, dashes), out);
        let end = name_at + 26.0;
        let stroke = format!(r#"stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}""#);
        put(out, format_args!(r#"<line x1="{name_at}" y1="40" x2="{end}" y2="40" {stroke}/>"#));
        put(out, format_args!(r#"<text x="{}" y="44">{}</text>"#, end + 6.0, escaped(&line.name)));
        // Letters of this size are about seven units wide.
        name_at = line.name.chars().fold(end + 30.0, |at, _| at + 7.0);
    }
}

fn draw_axes(chart: &Chart, scale: &Scale, out: &mut String) {
    let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for value in marks(scale.upward_end) {
        let y = scale.y(value);
        put(out, format_args!(r#"<line class="grid" x1="{LEFT}" y1="{y:.1}" x2="{right}" y2="{y:.1}"/>"#));
        let (x, y) = (LEFT - 8.0, y + 4.0);
        put(out, format_args!(r#"<text x="{x}" y="{y:.1}" text-anchor="end">{}</text>"#, number(value)));
    }
    for value in marks(scale.across_end) {
        let (x, y) = (scale.x(value), floor + 18.0);
        put(out, format_args!(r#"<text x="{x:.1}" y="{y}" text-anchor="middle">{}</text>"#, number(value)));
    }
    put(out, format_args!(r#"<line class="axis" x1="{LEFT}" y1="{floor}" x2="{right}" y2="{floor}"/>"#));
    put(out, format_args!(r#"<line class="axis" x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{floor}"/>"#));
    let (middle, below) = (f64::midpoint(LEFT, right), HEIGHT - 12.0);
    put(out, format_args!(r#"<text x="{middle}" y="{below}" text-anchor="middle">{}</text>"#, escaped(&chart.across)));
    let middle = f64::midpoint(TOP, floor);
    let turned = format!(r#"transform="translate(18 {middle}) rotate(-90)""#);
    put(out, format_args!(r#"<text {turned} text-anchor="middle">{}</text>"#, escaped(&chart.upward)));
}

fn draw_line(line: &Line, scale: &Scale, (colour, dashes): (&str, &str), out: &mut String) {
    let seen: Vec<(f64, f64)> = line.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let path: Vec<String> = seen.iter().map(|(x, y)| format!("{:.1},{:.1}", scale.x(*x), scale.y(*y))).collect();
    let stroke = format!(r#"fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}""#);
    put(out, format_args!(r#"<polyline points="{}" {stroke}/>"#, path.join(" ")));
    if seen.len() <= MARKED_POINTS_MAX {
        for (x, y) in seen {
            let (x, y) = (scale.x(x), scale.y(y));
            put(out, format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#));
        }
    }
}

/// The values at which an axis is marked.
fn marks(end: f64) -> impl Iterator<Item = f64> {
    let step = step(end);
    std::iter::successors(Some(0.0), move |value| Some(value + step)).take_while(move |value| *value <= end * 1.001)
}

/// A step of 1, 2 or 5 times a power of ten.
fn step(end: f64) -> f64 {
    let rough = end / STEPS;
    let power = 10_f64.powf(rough.log10().floor());
    let wide = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
    wide * power
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = writeln!(out, "{what}");
}

#[cfg(test)]
mod tests {
    use super::{Chart, Line, marks, number, svg};

    #[test]
    fn axes_are_marked_with_round_numbers() {
        let cases: [(f64, &[&str]); 4] = [
            (50.0, &["0", "10", "20", "30", "40", "50"]),
            (7.3, &["0", "2", "4", "6"]),
            (0.9, &["0", "0.2", "0.4", "0.6", "0.8"]),
            (1_800.0, &["0", "500", "1000", "1500"]),
        ];
        for (end, expected) in cases {
            assert_eq!(marks(end).map(number).collect::<Vec<_>>(), expected, "{end}");
        }
    }

    #[test]
    fn a_chart_has_its_names_and_its_points() {
        let line = Line { name: "a < b".to_owned(), points: vec![(0.0, 1.0), (5.0, 2.0), (10.0, f64::NAN)] };
        let (title, across, upward) = ("memory".to_owned(), "seconds".to_owned(), "MB".to_owned());
        let picture = svg(&[Chart { title, across, upward, lines: vec![line] }]);
        for part in ["memory", "seconds", "MB", "a &lt; b", "prefers-color-scheme: dark", "<circle"] {
            assert!(picture.contains(part), "{part} is missing in {picture}");
        }
        assert!(!picture.contains("NaN"), "{picture}");
        assert_eq!(picture.matches("<circle").count(), 2);
    }

    #[test]
    fn nothing_to_show_is_a_picture_too() {
        let empty = Chart { title: String::new(), across: String::new(), upward: String::new(), lines: vec![] };
        assert!(svg(&[empty]).trim_end().ends_with("</svg>"));
    }
}
