//! Selects one part of a job: by `--shard I/N`, or by the variables of the CI engine.

use std::cmp::{Ordering, Reverse};
use std::env;
use std::str::FromStr;

use anyhow::{Context, bail};

use a4emu_support::options::Shared;
use a4emu_support::terminal;

/// The option.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Sharding {
    /// Only part I of N, counted from 0; /N takes I from JOB_COMPLETION_INDEX. By default what the engine says
    /// (CI_NODE_INDEX and CI_NODE_TOTAL; SLURM_ARRAY_TASK_ID, _COUNT and _MIN); 0/1 is all
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Wanted>,
}

/// The value of `--shard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The index of the part and the number of parts.
    Part(Shard),
    /// The number of parts; the engine has the index.
    Of(usize),
}

/// One part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

impl Shard {
    /// The whole job.
    pub const ALL: Self = Self { part: 0, of: 1 };

    fn new(part: usize, of: usize) -> Option<Self> {
        (part < of).then_some(Self { part, of })
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither I/N with I below N, nor /N");
        let (part, of) = text.split_once('/').ok_or_else(wrong)?;
        let of: usize = of.parse().map_err(|_| wrong())?;
        match part {
            "" if of > 0 => Ok(Self::Of(of)),
            part => part.parse().ok().and_then(|part| Shard::new(part, of)).map(Self::Part).ok_or_else(wrong),
        }
    }
}

/// The environment variables in which an engine has the part of a process.
struct Engine {
    index: &'static str,
    /// Index of the first part: a number, or the variable that holds it.
    first: Result<usize, &'static str>,
    /// The variable that holds the distance of two indices, if it may be more than one.
    step: Option<&'static str>,
    total: Option<&'static str>,
}

/// GitLab counts from 1. A Slurm array starts at any number and has steps. Kubernetes has no variable for
/// the number of parts.
const ENGINES: [Engine; 3] = [
    Engine { index: "CI_NODE_INDEX", first: Ok(1), step: None, total: Some("CI_NODE_TOTAL") },
    Engine {
        index: "SLURM_ARRAY_TASK_ID",
        first: Err("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        total: Some("SLURM_ARRAY_TASK_COUNT"),
    },
    Engine { index: "JOB_COMPLETION_INDEX", first: Ok(0), step: None, total: None },
];

impl Engine {
    /// The part that the engine's variables select. `total` is used if the engine has no number of parts.
    /// None if the engine does not run this process.
    fn shard(&self, total: Option<usize>, variable: &Variables<'_>) -> Option<anyhow::Result<Shard>> {
        let number = |name: &str| {
            Some(variable(name)?.trim().parse::<usize>().ok().with_context(|| format!("{name} is no number")))
        };
        let index = number(self.index)?;
        let total = total.map(Ok).or_else(|| number(self.total?))?;
        let shard = || {
            let first = self.first.or_else(|name| number(name).unwrap_or(Ok(0)))?;
            let step = self.step.and_then(number).unwrap_or(Ok(1))?.max(1);
            let (index, total) = (index?, total?);
            let part = index.checked_sub(first).map(|above| above / step);
            let outside = || format!("{} is {index}, which is none of {total} parts", self.index);
            part.and_then(|part| Shard::new(part, total)).with_context(outside)
        };
        Some(shard())
    }
}

/// Looks up an environment variable.
type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl Sharding {
    /// The part of this process. It is printed if it comes from an engine.
    ///
    /// # Errors
    /// The call fails if the variables of an engine are wrong.
    pub fn shard(&self, shared: &Shared) -> anyhow::Result<Shard> {
        let (shard, from) = self.shard_in(&|name| env::var(name).ok())?;
        if let (Some(from), false) = (from, shared.quiet) {
            terminal::say(format_args!("part {}/{}, as {from} says", shard.part, shard.of));
        }
        Ok(shard)
    }

    fn shard_in(&self, variable: &Variables<'_>) -> anyhow::Result<(Shard, Option<&'static str>)> {
        let total = match self.shard {
            Some(Wanted::Part(shard)) => return Ok((shard, None)),
            Some(Wanted::Of(total)) => Some(total),
            None => None,
        };
        let said = ENGINES.iter().find_map(|engine| Some((engine.shard(total, variable)?, engine.index)));
        match (said, total) {
            (Some((shard, from)), _) => Ok((shard?, Some(from))),
            (None, None) => Ok((Shard::ALL, None)),
            (None, Some(total)) => bail!("--shard /{total}: no engine says which part this is"),
        }
    }
}

impl Shard {
    /// The items of this part, in their order. Each item is in exactly one part. From the heaviest on, each
    /// item is added to the part with the least weight so far. All parts must use the same items, names and
    /// weights.
    pub fn of<T>(self, items: Vec<T>, name: impl Fn(&T) -> &str, weight: impl Fn(&T) -> f64) -> Vec<T> {
        let weights: Vec<f64> = items.iter().map(|item| weight(item).max(0.0)).collect();
        let mut order: Vec<usize> = (0..items.len()).collect();
        let heavier = |a: usize, b: usize| weights[b].partial_cmp(&weights[a]).unwrap_or(Ordering::Equal);
        order.sort_by(|a, b| heavier(*a, *b).then_with(|| name(&items[*a]).cmp(name(&items[*b]))));
        // The first items are added to different parts, so parts beyond the number of items stay empty.
        let parts = self.of.min(items.len());
        let mut loads = vec![Load::default(); parts];
        let mut mine = vec![false; items.len()];
        for index in order {
            let least = (0..parts).min_by(|a, b| loads[*a].lighter(&loads[*b])).unwrap_or(0);
            loads[least].weight += weights[index];
            loads[least].items += 1;
            mine[index] = least == self.part;
        }
        items.into_iter().zip(mine).filter_map(|(item, mine)| mine.then_some(item)).collect()
    }
}

/// The items of a part so far.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    weight: f64,
    items: usize,
}

impl Load {
    /// The order in which parts get the next item. Of equal parts, the first gets it.
    fn lighter(&self, other: &Self) -> Ordering {
        let weights = self.weight.partial_cmp(&other.weight).unwrap_or(Ordering::Equal);
        weights.then(self.items.cmp(&other.items))
    }
}

/// Sorts the heaviest item first. So worker threads that share the items end at about the same time.
pub fn heaviest_first<T>(items: &mut [T], weight: impl Fn(&T) -> f64) {
    // Compare the bits: weights are not negative.
    items.sort_by_key(|item| Reverse(weight(item).max(0.0).to_bits()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(shard: Option<&str>, variables: &[(&str, &str)]) -> Result<(usize, usize), String> {
        let shard = shard.map(|text| text.parse().unwrap());
        let of =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let found = Sharding { shard }.shard_in(&of);
        found.map(|(shard, _)| (shard.part, shard.of)).map_err(|error| error.to_string())
    }

    #[test]
    fn each_engine_is_understood() {
        assert_eq!(said(None, &[]), Ok((0, 1)));
        let gitlab = [("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "8")];
        assert_eq!(said(None, &gitlab), Ok((2, 8)));
        assert_eq!(said(Some("5/6"), &gitlab), Ok((5, 6)), "what is asked for comes first");
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "14"),
            ("SLURM_ARRAY_TASK_MIN", "10"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        assert_eq!(said(None, &slurm), Ok((2, 4)));
        let kubernetes = [("JOB_COMPLETION_INDEX", "7")];
        assert_eq!(said(Some("/8"), &kubernetes), Ok((7, 8)));
        assert_eq!(said(None, &kubernetes), Ok((0, 1)), "nobody says how many there are");
    }

    #[test]
    fn invalid_shards_are_refused() {
        let gitlab = |index, total| said(None, &[("CI_NODE_INDEX", index), ("CI_NODE_TOTAL", total)]);
        for (index, total) in [("0", "8"), ("9", "8"), ("x", "8"), ("1", "x"), ("1", "0")] {
            assert!(gitlab(index, total).is_err(), "{index} of {total}");
        }
        assert!(said(Some("/8"), &[]).is_err());
        for text in ["", "1", "1/1", "2/1", "/0", "a/b", "-1/2", "/"] {
            assert!(text.parse::<Wanted>().is_err(), "{text}");
        }
    }

    #[test]
    fn parts_are_disjoint_complete_and_weigh_about_the_same() {
        let items: Vec<(String, f64)> =
            (0..100_u32).map(|n| (format!("{n:03}"), f64::from(n * n % 37))).collect();
        for of in [1, 3, 8] {
            let part = |part| Shard { part, of }.of(items.clone(), |item| &item.0, |item| item.1);
            let parts: Vec<_> = (0..of).map(part).collect();
            let mut all: Vec<_> = parts.concat();
            assert!(parts.iter().all(|part| part.is_sorted_by_key(|item| &item.0)), "in their order");
            all.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(all, items);
            let weights = parts.iter().map(|part| part.iter().map(|item| item.1).sum::<f64>());
            let (least, most) = weights.fold((f64::MAX, 0.0_f64), |(l, m), w| (l.min(w), m.max(w)));
            assert!(most - least <= 36.0, "{least} to {most}");
        }
    }

    /// Empty parts cost no memory.
    #[test]
    fn of_many_parts_the_first_have_an_item_each() {
        let part = |part, of| Shard { part, of }.of(vec!["a", "b", "c"], |name| name, |_| 1.0);
        let most = usize::MAX;
        assert_eq!([part(0, most), part(2, most), part(3, most)], [vec!["a"], vec!["c"], vec![]]);
        assert!((0..7).all(|one| part(one, 7) == part(one, most)));
    }

    /// Items without weight are distributed evenly.
    #[test]
    fn items_without_weight_are_spread() {
        let names = ["a", "b", "c", "d", "e"];
        let part = |part| Shard { part, of: 2 }.of(names.to_vec(), |name| name, |_| 0.0);
        assert_eq!([part(0), part(1)], [vec!["a", "c", "e"], vec!["b", "d"]]);
    }
}
