//! How long checking a value takes at most, told before it begins.
//!
//! A schema of a few lines can take longer than anyone waits: alternatives within alternatives, all leading to the same definition. Each
//! schema is therefore counted as often as it can be visited for one part of the value, level by level. What is too much is not begun.

use serde_json::Value;

use super::survey::{Node, NodeIndex, Parts, Survey};
use crate::limits::{CHECK_NESTING_MAX, CHECK_STEPS_MAX, SCHEMA_CHAIN_MAX};

/// Bytes of text that count as one more step.
const TEXT_STEP_BYTES: usize = 64;

/// Comparisons of one value with others (`enum`, `required`) that count as one more step.
const COMPARISONS_PER_STEP: u64 = 8;

/// The reachable schemas in an order in which those for the same value come before the ones that lead to them.
#[derive(Debug)]
pub(super) struct Workload {
    steps: Vec<Step>,
    root: usize,
}

/// One schema, its neighbours as places in [`Workload::steps`].
#[derive(Debug)]
struct Step {
    in_place: Vec<usize>,
    /// Those for the elements of an array, and those for the members of an object. A value is at most one of both.
    parts: [Parts; 2],
    weight: u64,
    looks_back: bool,
}

/// What visiting one schema takes for a part of the value at one depth below it.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    /// Steps to say yes or no.
    to_decide: u64,
    /// Further steps to say what is wrong, or to look back.
    to_explain: u64,
    /// How many schemas are entered one within the other.
    nesting: usize,
}

impl Workload {
    /// Orders the schemas; the error says why checking would not end.
    pub(super) fn of(survey: &Survey) -> Result<Self, String> {
        let mut order = Order { survey, places: vec![Place::Unseen; survey.nodes.len()], done: Vec::new() };
        for (index, _) in survey.reachable().iter().enumerate().filter(|(_, way)| way.is_some()) {
            order.finish(index, 0)?;
        }
        let all = |indices: &[NodeIndex]| indices.iter().filter_map(|index| order.place(*index)).collect();
        let step = |node: &Node| Step {
            in_place: node.same_value().filter_map(|index| order.place(*index)).collect(),
            parts: [&node.elements, &node.members]
                .map(|parts| Parts { either: all(&parts.either), each: all(&parts.each) }),
            weight: 1 + node.comparisons / COMPARISONS_PER_STEP,
            looks_back: node.looks_back,
        };
        let steps = order.done.iter().filter_map(|index| survey.nodes.get(*index)).map(step).collect();
        Ok(Self { steps, root: order.place(0).unwrap_or_default() })
    }

    /// Whether the value can be checked in good time; the error says why not.
    pub(super) fn allows(&self, value: &Value) -> Result<(), String> {
        let (mut total, mut nesting) = (0_u64, 0);
        let mut costs = Vec::new();
        for (depth, parts) in sizes_by_depth(value).into_iter().enumerate() {
            costs = self.costs(if depth == 0 { None } else { Some(&costs) });
            let root = worst(&costs, self.root);
            total = total.saturating_add(parts.saturating_mul(root.to_decide.saturating_add(root.to_explain)));
            nesting = nesting.max(root.nesting);
        }
        if nesting > CHECK_NESTING_MAX {
            return Err(format!("schema and value together are nested deeper than {CHECK_NESTING_MAX} levels"));
        }
        if total > CHECK_STEPS_MAX {
            return Err(format!("it could take more than {CHECK_STEPS_MAX} steps"));
        }
        Ok(())
    }

    /// The costs of every schema one level further down than `above`, which are those of the level before; `None` begins with the
    /// value that the schema itself is for.
    fn costs(&self, above: Option<&Vec<[Cost; 2]>>) -> Vec<[Cost; 2]> {
        let mut costs: Vec<[Cost; 2]> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let cost = std::array::from_fn(|side| {
                let same = step.in_place.iter().filter_map(|at| costs.get(*at)?.get(side));
                let parts = above.zip(step.parts.get(side)).map(|(above, parts)| parts_cost(above, parts));
                step.cost(same, parts)
            });
            costs.push(cost);
        }
        costs
    }
}

impl Step {
    /// What it takes in all, from what the others for the same value take and, below the value itself, what its parts take.
    fn cost<'a>(&self, others: impl Iterator<Item = &'a Cost>, parts: Option<Cost>) -> Cost {
        let mut cost = Cost { to_decide: if parts.is_none() { self.weight } else { 0 }, ..Cost::default() };
        for same in others {
            cost.to_decide = cost.to_decide.saturating_add(same.to_decide);
            cost.to_explain = cost.to_explain.saturating_add(same.to_decide).saturating_add(same.to_explain);
            cost.nesting = cost.nesting.max(same.nesting);
        }
        if self.looks_back {
            cost.to_decide = cost.to_decide.saturating_add(cost.to_explain);
        }
        cost = cost.and(parts.unwrap_or_default());
        cost.nesting += 1;
        cost
    }
}

fn parts_cost(above: &[[Cost; 2]], parts: &Parts) -> Cost {
    let either = parts.either.iter().map(|at| worst(above, *at)).fold(Cost::default(), Cost::worse);
    parts.each.iter().map(|at| worst(above, *at)).fold(either, Cost::and)
}

/// The costs of a schema, whether the value turns out to be an array or an object.
fn worst(costs: &[[Cost; 2]], at: usize) -> Cost {
    costs.get(at).map_or_else(Cost::default, |[array, object]| array.worse(*object))
}

impl Cost {
    fn and(self, other: Self) -> Self {
        Self {
            to_decide: self.to_decide.saturating_add(other.to_decide),
            to_explain: self.to_explain.saturating_add(other.to_explain),
            nesting: self.nesting.max(other.nesting),
        }
    }

    fn worse(self, other: Self) -> Self {
        Self {
            to_decide: self.to_decide.max(other.to_decide),
            to_explain: self.to_explain.max(other.to_explain),
            nesting: self.nesting.max(other.nesting),
        }
    }
}

/// Puts schemas in order, each after those it applies to the same value.
struct Order<'a> {
    survey: &'a Survey,
    places: Vec<Place>,
    done: Vec<NodeIndex>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Unseen,
    Open,
    Done { at: usize, height: usize },
}

impl Order<'_> {
    fn place(&self, index: NodeIndex) -> Option<usize> {
        match self.places.get(index)? {
            Place::Done { at, .. } => Some(*at),
            Place::Unseen | Place::Open => None,
        }
    }

    /// Puts a schema in its place and says how long the longest chain below it is.
    fn finish(&mut self, index: NodeIndex, depth: usize) -> Result<usize, String> {
        match self.places.get(index) {
            Some(Place::Done { height, .. }) => return Ok(*height),
            Some(Place::Open) => return Err("it refers to itself without end".to_owned()),
            Some(Place::Unseen) | None => {}
        }
        let survey = self.survey;
        let (Some(node), Some(place)) = (survey.nodes.get(index), self.places.get_mut(index)) else { return Ok(0) };
        *place = Place::Open;
        let too_long = || format!("more than {SCHEMA_CHAIN_MAX} references follow one another in it");
        if depth > SCHEMA_CHAIN_MAX {
            return Err(too_long());
        }
        let mut height = 0;
        for next in node.same_value() {
            height = height.max(self.finish(*next, depth + 1)? + 1);
        }
        if height > SCHEMA_CHAIN_MAX {
            return Err(too_long());
        }
        if let Some(place) = self.places.get_mut(index) {
            *place = Place::Done { at: self.done.len(), height };
        }
        self.done.push(index);
        Ok(height)
    }
}

/// How much there is to look at in each depth of a value: its parts, the names of members, and long texts for their length.
fn sizes_by_depth(value: &Value) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut level = vec![value];
    let mut names = 0_u64;
    while !level.is_empty() {
        let (mut size, mut below) = (names, Vec::new());
        names = 0;
        for part in level {
            size += 1;
            match part {
                Value::String(text) => size += (text.len() / TEXT_STEP_BYTES) as u64,
                Value::Array(elements) => below.extend(elements),
                Value::Object(members) => {
                    names += members.keys().map(|name| 1 + (name.len() / TEXT_STEP_BYTES) as u64).sum::<u64>();
                    below.extend(members.values());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        sizes.push(size);
        level = below;
    }
    sizes
}
