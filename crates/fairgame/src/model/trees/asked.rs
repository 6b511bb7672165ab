//! Trees on rows that are elsewhere: questions to those who hold them, and their answers.
//!
//! Each holder has some of the rows, as a [`Field`] in its memory. One [`Question`] goes to all of them, and their
//! [`Answer`]s are added up; all are sums of integers, so the trees are those of all rows in one place, to the bit.
//!
//! A question costs a round over the network, so leaves that are likely to be cut soon are cut along with the one that is
//! to be cut now: a leaf's best split does not depend on the others. What comes of a cut that is not made after all is
//! left unused.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::boost::{Lesson, Sampler, grow_on};
use super::field::{About, Cut, Field, Round, Rows};
use super::forest::{Forest, Fork};
use super::gradient::Scale;
use super::histogram::{Frame, Histogram, plus_words};
use super::spec::TreesSpec;
use super::split::Set;
use crate::threads::Threads;
use crate::{Error, ErrorKind, Result};

/// At most so many leaves are cut in one round.
const AT_ONCE: usize = 8;

/// What is asked of those who hold rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Question {
    Heaviest,
    About {
        heaviest: f32,
    },
    Start {
        base: f32,
        scale: Scale,
        sampler: Sampler,
    },
    Open {
        number: u64,
        active: Vec<u16>,
    },
    Cut(Vec<AskedCut>),
    /// The last tree, and the value of each of its leaves where they were cut.
    Learn {
        tree: Tree,
        values: Vec<f32>,
    },
}

/// A cut that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct AskedCut {
    leaf: u32,
    column: u16,
    /// The codes that go left, one bit each.
    goes_left: [u64; 4],
    sum: Option<u8>,
}

/// A tree alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tree {
    splits: Vec<Fork>,
    leaves: Vec<f32>,
    sets: Vec<Set>,
}

/// What a holder answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Heaviest(f32),
    About(About),
    /// The sums of histograms, as bytes: of the columns that a tree may split on, the levels that they have, and missing.
    Sums(Vec<ByteBuf>),
    Done,
}

/// How a question is asked of all, and answered.
pub(crate) type Ask<'a> = &'a mut dyn FnMut(&Question) -> Result<Vec<Answer>>;

/// Rows in memory that answer.
pub(crate) struct Holder {
    rows: Rows<'static>,
    sampler: Option<(Sampler, Scale)>,
    /// The tree that is being grown: its number, and the columns that it may split on.
    open: Option<(usize, Vec<u16>)>,
}

impl Holder {
    /// Of rows with so many codes each. What a tree sees of them is drawn by their numbers.
    pub(crate) fn new(codes: Vec<u8>, columns: usize, numbers: Vec<u32>) -> Self {
        Holder { rows: Rows::held(codes, columns, numbers), sampler: None, open: None }
    }

    /// What the rows should be, from 0 to 1, and how much each counts.
    pub(crate) fn teach(&mut self, target: Vec<f32>, weights: Option<Vec<f32>>) {
        self.rows.teach(target, weights);
        (self.sampler, self.open) = (None, None);
    }

    /// Answers; `lesson` has the bins of the codes.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        bins: &super::Bins,
        threads: &Threads,
    ) -> Result<Answer> {
        let early = || Error::new(ErrorKind::Format, "a question about trees came too early");
        match question {
            Question::Heaviest => self.rows.heaviest().map(Answer::Heaviest),
            Question::About { heaviest } => self.rows.about(*heaviest).map(Answer::About),
            Question::Start { base, scale, sampler } => {
                (self.sampler, self.open) = (Some((*sampler, *scale)), None);
                self.rows.start(*base, *scale, *sampler)?;
                Ok(Answer::Done)
            }
            Question::Open { number, active } => {
                self.open = Some((*number as usize, active.clone()));
                let (sampler, scale) = self.sampler.ok_or_else(early)?;
                let frame = Frame { scale, shapes: &bins.shapes, active, threads };
                let round = Round { number: *number as usize, sampler, frame };
                let mut histogram = Histogram::new();
                self.rows.open(&round, &mut histogram)?;
                Ok(Answer::Sums(vec![ByteBuf::from(frame.bytes(&mut histogram))]))
            }
            Question::Cut(cuts) => {
                let (sampler, scale) = self.sampler.ok_or_else(early)?;
                let (number, active) = self.open.as_ref().ok_or_else(early)?;
                let frame = Frame { scale, shapes: &bins.shapes, active, threads };
                let round = Round { number: *number, sampler, frame };
                let mut histogram = Histogram::new();
                let mut sums = Vec::with_capacity(cuts.len());
                for cut in cuts {
                    let goes_left = std::array::from_fn(|code| {
                        cut.goes_left[code / 64] >> (code % 64) & 1 == 1
                    });
                    let (leaf, column) = (cut.leaf as usize, usize::from(cut.column));
                    let sum = cut.sum.map(usize::from);
                    let own = Cut { leaf, column, goes_left: &goes_left, sum };
                    self.rows.cut(&round, own, &[], &mut histogram)?;
                    let bytes = sum.map_or_else(Vec::new, |_| frame.bytes(&mut histogram));
                    sums.push(ByteBuf::from(bytes));
                }
                Ok(Answer::Sums(sums))
            }
            Question::Learn { tree, values } => {
                let mut forest = Forest::new(bins.columns(), 0.0);
                forest.roots.push(0);
                forest.splits.clone_from(&tree.splits);
                forest.leaves.clone_from(&tree.leaves);
                forest.sets.clone_from(&tree.sets);
                match self.open.take() {
                    Some(_) => self.rows.learn(&forest, values)?,
                    // The cuts were asked of another, whose rows these were.
                    None => self.rows.walk(&forest),
                }
                Ok(Answer::Done)
            }
        }
    }
}

/// Boosts trees on rows that are elsewhere; those set aside are the lesson's.
pub(crate) fn boost_elsewhere(
    ask: Ask<'_>,
    lesson: &Lesson<'_>,
    spec: &TreesSpec,
    seed: u64,
    threads: &Threads,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Forest> {
    spec.check()?;
    let mut field = Elsewhere { ask, leaves: Vec::new(), asked: 0, known: Vec::new() };
    grow_on(&mut field, lesson, spec, seed, threads, watch)
}

/// A field whose rows are elsewhere.
///
/// Who holds rows numbers leaves by the cuts that were asked for: the rows that go left keep the number, the others have the
/// next one. There may be more of these than leaves of the tree.
struct Elsewhere<'a> {
    ask: Ask<'a>,
    /// The number that each leaf of the tree has there.
    leaves: Vec<u32>,
    /// How many leaves there are there.
    asked: u32,
    /// Cuts that were asked for before they were needed.
    known: Vec<Known>,
}

/// A cut that was asked for.
struct Known {
    /// The numbers of its sides there.
    sides: [u32; 2],
    sums: Option<Histogram>,
}

impl Elsewhere<'_> {
    /// The histograms that all answers add up to.
    fn sums(&mut self, question: &Question, frame: &Frame<'_>) -> Result<Vec<Option<Histogram>>> {
        let mut found: Vec<Option<Histogram>> = Vec::new();
        for answer in (self.ask)(question)? {
            let Answer::Sums(sums) = answer else { return Err(strange()) };
            found.resize(sums.len().max(found.len()), None);
            for (sums, bytes) in found.iter_mut().zip(sums).filter(|(_, bytes)| !bytes.is_empty()) {
                let sums = sums.get_or_insert_with(|| frame.zeros());
                plus_words(frame, sums, &bytes)?;
            }
        }
        Ok(found)
    }

    fn done(&mut self, question: &Question) -> Result<()> {
        (self.ask)(question).map(drop)
    }
}

impl Field for Elsewhere<'_> {
    fn heaviest(&mut self) -> Result<f32> {
        let mut most = 0.0_f32;
        for answer in (self.ask)(&Question::Heaviest)? {
            let Answer::Heaviest(own) = answer else { return Err(strange()) };
            most = most.max(own);
        }
        Ok(most)
    }

    fn about(&mut self, heaviest: f32) -> Result<About> {
        let mut all = About::NOTHING;
        for answer in (self.ask)(&Question::About { heaviest })? {
            let Answer::About(own) = answer else { return Err(strange()) };
            all += own;
        }
        Ok(all)
    }

    fn start(&mut self, base: f32, scale: Scale, sampler: Sampler) -> Result<()> {
        self.done(&Question::Start { base, scale, sampler })
    }

    fn open(&mut self, round: &Round<'_>, into: &mut Histogram) -> Result<()> {
        self.leaves = vec![0];
        (self.asked, self.known) = (1, Vec::new());
        let active = round.frame.active.to_vec();
        let question = Question::Open { number: round.number as u64, active };
        let sums = self.sums(&question, &round.frame)?.into_iter().next().flatten();
        *into = sums.unwrap_or_else(|| round.frame.zeros());
        Ok(())
    }

    fn foresees(&self) -> usize {
        AT_ONCE
    }

    fn cut(
        &mut self,
        round: &Round<'_>,
        cut: Cut<'_>,
        soon: &[Cut<'_>],
        into: &mut Histogram,
    ) -> Result<()> {
        let own = self.leaves[cut.leaf];
        if !self.known.iter().any(|known| known.sides[0] == own) {
            let (leaves, known) = (&self.leaves, &self.known);
            let is_new = |cut: &&Cut<'_>| !known.iter().any(|one| one.sides[0] == leaves[cut.leaf]);
            let cuts = std::iter::once(&cut).chain(soon.iter().filter(is_new)).take(AT_ONCE);
            let cuts: Vec<AskedCut> = cuts
                .map(|cut| AskedCut {
                    leaf: leaves[cut.leaf],
                    column: cut.column as u16,
                    goes_left: std::array::from_fn(|word| {
                        (0..64).fold(0, |bits, bit| {
                            bits | u64::from(cut.goes_left[word * 64 + bit]) << bit
                        })
                    }),
                    sum: cut.sum.map(|side| side as u8),
                })
                .collect();
            let question = Question::Cut(cuts);
            let mut sums = self.sums(&question, &round.frame)?.into_iter();
            let Question::Cut(cuts) = question else { return Err(strange()) };
            for cut in cuts {
                let sums = match (cut.sum, sums.next().flatten()) {
                    // Nobody has a row.
                    (Some(_), None) => Some(round.frame.zeros()),
                    (_, sums) => sums,
                };
                self.known.push(Known { sides: [cut.leaf, self.asked], sums });
                self.asked += 1;
            }
        }
        let Some(at) = self.known.iter().position(|known| known.sides[0] == own) else {
            return Err(strange());
        };
        let Known { sides, sums } = self.known.swap_remove(at);
        if let (Some(_), Some(sums)) = (cut.sum, sums) {
            *into = sums;
        }
        self.leaves.push(sides[1]);
        Ok(())
    }

    fn learn(&mut self, forest: &Forest, values: &[f32]) -> Result<()> {
        let mut all = vec![0.0; self.asked as usize];
        for (&leaf, &value) in self.leaves.iter().zip(values) {
            all[leaf as usize] = value;
        }
        // Of a cut that was not made, both sides are of one leaf.
        for known in self.known.drain(..) {
            all[known.sides[1] as usize] = all[known.sides[0] as usize];
        }
        let question = Question::Learn { tree: Tree::last(forest), values: all };
        self.done(&question)
    }
}

impl Tree {
    /// The last tree of a forest.
    fn last(forest: &Forest) -> Self {
        let first = forest.roots.last().map_or(0, |&root| root as usize);
        let leaves = forest.leaves.len() - (forest.splits.len() - first + 1);
        let mut sets = Vec::new();
        let splits = forest.splits[first..].iter().map(|split| {
            let mut own = *split;
            if let Some(set) = forest.sets.get(split.set as usize) {
                own.set = sets.len() as u32;
                sets.push(*set);
            }
            own.children = own.children.map(|child| match child.checked_sub(super::forest::LEAF) {
                None => child - first as u32,
                Some(_) => child - leaves as u32,
            });
            own
        });
        Tree { splits: splits.collect(), leaves: forest.leaves[leaves..].to_vec(), sets }
    }
}

fn strange() -> Error {
    Error::new(ErrorKind::Format, "an answer about trees is not what was asked for")
}
