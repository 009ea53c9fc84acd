//! One allowance of work for a whole run, in one currency: what a small input can make the
//! emulator do is bounded, and where it is cut off does not depend on threads or machines.
//!
//! Every kind of work has a price in *units*; a unit is about the work of moving 16 bytes.
//! Whoever does work takes it from the [`Budget`] first. Work that several threads do at once
//! is shared out before they start ([`Budget::share`]) and settled in a fixed order after they
//! are done ([`Budget::settle`]), so that the cut is the same for any number of threads.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A kind of work that is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A section of a capture, taken from its container.
    Section,
    /// 16 bytes of a capture's container, read and unpacked.
    Unpacked16,
    /// A dword of a command stream, executed.
    Dword,
    /// A packet of a command stream, executed.
    Packet,
    /// A buffer that a capture announces.
    Buffer,
    /// A warp started, whatever it runs.
    Warp,
    /// An instruction that a warp runs.
    WarpInstruction,
    /// A load, store or atomic of one lane.
    LaneAccess,
    /// An attribute that is fetched for a vertex.
    Attribute,
    /// An entry of a draw's vertex list: looked up, and made part of a primitive.
    Vertex,
    /// A pixel that a primitive's bounds touch.
    Pixel,
    /// A texel that a texture request reads.
    Texel,
    /// 16 bytes that are copied, cleared, resolved or put out.
    Copy16,
    /// A step of an assembler: a token, an expression's node, a dword put out.
    Assembly,
    /// 16 bytes of text that a command makes.
    Text16,
    /// An instruction of a program made ready to run.
    Lowering,
    /// An instruction of a program that is not run, but listed or described.
    Reading,
    /// A step of the analysis of a program by rules.
    Analysis,
    /// A draw or dispatch set up: its state read from registers.
    Draw,
    /// A draw or dispatch looked at: all its state described.
    Look,
}

impl Work {
    /// Units that one of it costs. Measured on one core: a unit is 0.3 to 1 ns.
    pub const fn price(self) -> u64 {
        match self {
            Self::Copy16 => 1,
            Self::Section => 128,
            Self::Reading => 256,
            Self::Text16 => 320,
            Self::Texel | Self::Pixel => 4,
            Self::Attribute => 8,
            Self::WarpInstruction => 16,
            Self::LaneAccess => 32,
            Self::Unpacked16 | Self::Dword | Self::Assembly | Self::Analysis => 16,
            Self::Lowering => 1024,
            Self::Packet | Self::Vertex => 64,
            Self::Warp => 512,
            Self::Buffer => 1024,
            Self::Draw => 8192,
            Self::Look => 1 << 16,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Section => "sections of the capture",
            Self::Unpacked16 => "bytes of the capture",
            Self::Dword => "dwords of command streams",
            Self::Packet => "packets",
            Self::Buffer => "announced buffers",
            Self::Warp => "warps",
            Self::WarpInstruction => "warp instructions",
            Self::LaneAccess => "memory accesses of shaders",
            Self::Attribute => "attributes of vertices",
            Self::Vertex => "vertices",
            Self::Pixel => "pixels",
            Self::Texel => "texels",
            Self::Copy16 => "bytes copied",
            Self::Assembly => "assembler work",
            Self::Text16 => "bytes put out",
            Self::Lowering => "instructions of programs made ready",
            Self::Reading => "instructions of programs looked at",
            Self::Analysis => "steps of rules for programs",
            Self::Draw => "draws",
            Self::Look => "looks at draws",
        })
    }
}

/// Units that any run may spend, however little its capture holds: some ten seconds.
pub const BASE: u64 = 1 << 34;

/// The work that a run may still do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    spent: u64,
    /// Units that the run has spent and that are taken with what is taken next.
    owed: Cell<u64>,
    /// Units that observers have spent. They have as much as the run, apart from it: where a run is cut off does not depend
    /// on who observes it, unless observing takes all of theirs.
    observed: Cell<u64>,
    /// Bytes that may still be kept of what the run shows.
    room: Cell<u64>,
    /// Something would have taken more.
    full: Cell<bool>,
    growth: Growth,
    /// When all further work is refused, whatever is left.
    ends: Option<Ends>,
    /// What was refused first.
    cut: Option<Work>,
    /// Why, if it was not for the work.
    ended: Option<Ended>,
    /// [`Budget::take_cut_notice`] has said so.
    told: bool,
}

/// What ends a run from outside. Both depend on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    deadline: Option<Instant>,
    interrupt: Option<Interrupt>,
}

/// Which of them it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Late,
    Interrupted,
}

impl Ends {
    /// How long the run may still take, if its time is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether it has: the budget of the run will say so when it is asked next.
    pub fn are_reached(&self) -> bool {
        self.reached().is_some()
    }

    fn reached(&self) -> Option<Ended> {
        if self.interrupt.as_ref().is_some_and(Interrupt::is_raised) {
            return Some(Ended::Interrupted);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Ended::Late)
    }
}

/// Ends runs from another thread: all that have a copy of it are cut off where they are.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Ends them.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Interrupt {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Interrupt {}

/// Whether a budget follows what the capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Grows,
    Fixed,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BASE)
    }
}

impl Budget {
    /// A budget of `units`, and what it grows by.
    pub const fn new(units: u64) -> Self {
        Self {
            left: units,
            spent: 0,
            owed: Cell::new(0),
            observed: Cell::new(0),
            room: Cell::new(u64::MAX),
            full: Cell::new(false),
            growth: Growth::Grows,
            ends: None,
            cut: None,
            ended: None,
            told: false,
        }
    }

    /// A budget of `units`, whatever the capture holds.
    pub const fn fixed(units: u64) -> Self {
        let mut budget = Self::new(units);
        budget.growth = Growth::Fixed;
        budget
    }

    /// A budget of a run that may keep so many `bytes` of what it shows: rows, lines, findings.
    #[must_use]
    pub fn with_room(self, bytes: u64) -> Self {
        self.room.set(bytes);
        self
    }

    /// Takes room for `bytes` that are kept to the end of the run; false from the first time on that they do not fit.
    #[must_use]
    pub fn keep(&self, bytes: u64) -> bool {
        let left = self.room.get().checked_sub(bytes).filter(|_| !self.full.get());
        self.full.set(left.is_none());
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether something would have taken more room than there is.
    pub fn is_full(&self) -> bool {
        self.full.get()
    }

    /// The same, used up after `time` from now as well. Where that is depends on the machine.
    #[must_use]
    pub fn for_time(mut self, time: Duration) -> Self {
        self.ends.get_or_insert_default().deadline = Instant::now().checked_add(time);
        self
    }

    /// The same, used up as soon as `interrupt` is raised as well.
    #[must_use]
    pub fn until(mut self, interrupt: Interrupt) -> Self {
        self.ends.get_or_insert_default().interrupt = Some(interrupt);
        self
    }

    /// What ends the run from outside, for those who do much before they ask the budget again.
    pub fn ends(&self) -> Option<Ends> {
        self.ends.clone()
    }

    /// Adds what the capture's size allows.
    pub fn grow(&mut self, units: u64) {
        if self.growth == Growth::Grows {
            self.left = self.left.saturating_add(units);
        }
    }

    /// Takes `count` of `work`, or nothing if that is more than is left; then everything later
    /// is refused too. Says whether it may be done.
    #[must_use]
    pub fn take(&mut self, work: Work, count: u64) -> bool {
        self.look_outside(work);
        self.pay();
        if !self.affords(work, count) {
            self.cut.get_or_insert(work);
            return false;
        }
        let units = count.saturating_mul(work.price());
        self.left -= units;
        self.spent += units;
        true
    }

    /// Charges `count` of `work` that the run has done: it is taken with what is taken next.
    pub fn owe(&self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.owed.set(self.owed.get().saturating_add(units));
    }

    /// Charges `count` of `work` that an observer has done, to what observers may do.
    pub fn observe(&self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.observed.set(self.observed.get().saturating_add(units));
    }

    /// Takes what is owed, and ends the run where observers have done all that they may.
    #[inline]
    fn pay(&mut self) {
        let owed = self.owed.take();
        self.left = self.left.saturating_sub(owed);
        self.spent = self.spent.saturating_add(owed);
        if self.observed.get() > self.left.saturating_add(self.spent) {
            self.cut.get_or_insert(Work::Text16);
        }
    }

    /// Whether `count` of `work` are left, once what is owed is paid.
    pub fn affords(&self, work: Work, count: u64) -> bool {
        let units = count.saturating_mul(work.price()).saturating_add(self.owed.get());
        self.cut.is_none() && units <= self.left
    }

    fn look_outside(&mut self, work: Work) {
        if let Some(ends) = &self.ends
            && self.cut.is_none()
            && let Some(ended) = ends.reached()
        {
            (self.cut, self.ended) = (Some(work), Some(ended));
        }
    }

    /// How many of `work` are left for each of `jobs` that run side by side.
    pub fn share(&self, work: Work, jobs: usize) -> u64 {
        match self.cut {
            Some(_) => 0,
            None => self.left / work.price() / (jobs as u64).max(1),
        }
    }

    /// Charges `count` of `work` that has been done within a [`Budget::share`].
    pub fn settle(&mut self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.left = self.left.saturating_sub(units);
        self.spent = self.spent.saturating_add(units);
        self.look_outside(work);
    }

    /// All that the run could do from its beginning, as far as it grew, for a run of its own: what ends it from outside, and
    /// what it may keep, is the same. Nothing if it was cut off.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            left: self.left.saturating_add(self.spent),
            spent: 0,
            owed: Cell::new(0),
            observed: Cell::new(0),
            ..self.clone()
        }
    }

    /// What is left, for somebody who works beside the rest: [`Budget::rejoin`] charges what he did. Both may spend all
    /// of it until then.
    pub fn beside(&self) -> Self {
        Self { spent: 0, owed: Cell::new(0), observed: Cell::new(0), ..self.clone() }
    }

    /// The same of one `count`-th of it.
    pub fn part_beside(&self, count: u64) -> Self {
        Self { left: self.left / count.max(1), ..self.beside() }
    }

    /// Charges what was done [beside](Budget::beside). If that was cut off, so is the rest, for the same reason.
    pub fn rejoin(&mut self, beside: &Self) {
        self.left = self.left.saturating_sub(beside.spent);
        self.spent = self.spent.saturating_add(beside.spent);
        if beside.cut.is_some() {
            (self.cut, self.ended) = (beside.cut, beside.ended);
        }
    }

    /// Somebody's share was too small: the run is cut here, at `work`.
    pub fn exhaust(&mut self, work: Work) {
        self.cut.get_or_insert(work);
    }

    /// The kind of work at which the run was cut off, if it was.
    pub fn cut(&self) -> Option<Work> {
        self.cut
    }

    /// Why the run was cut off, if it was, and the option that would let it go on.
    pub fn refusal(&self) -> Option<String> {
        self.cut.map(|work| match self.ended {
            Some(Ended::Late) => format!("--time-limit is over (it came to {work}; another run may come to others)"),
            Some(Ended::Interrupted) => format!("interrupted (it came to {work}; another run may come to others)"),
            None => {
                let spent = self.spent;
                format!("no more work is allowed than the {spent} units done (next: {work}; --max-work allows more)")
            }
        })
    }

    /// [`Budget::refusal`], once: to be reported by whoever asks first after the cut.
    pub fn take_cut_notice(&mut self) -> Option<String> {
        let notice = self.refusal().filter(|_| !self.told);
        self.told |= notice.is_some();
        notice
    }

    /// Units spent so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_can_be_taken_and_no_more() {
        let mut budget = Budget::new(3 * Work::Warp.price());
        assert!(budget.take(Work::Warp, 2));
        assert!(!budget.take(Work::Warp, 2), "one is left");
        assert_eq!(budget.cut(), Some(Work::Warp));
        assert!(!budget.take(Work::Copy16, 1), "after the cut nothing goes on");
        assert_eq!(budget.spent(), 2 * Work::Warp.price());
    }

    /// Every kind.
    const KINDS: [Work; 20] = [
        Work::Attribute,
        Work::Lowering,
        Work::Reading,
        Work::Analysis,
        Work::Draw,
        Work::Look,
        Work::Section,
        Work::Unpacked16,
        Work::Text16,
        Work::Dword,
        Work::Packet,
        Work::Buffer,
        Work::Warp,
        Work::WarpInstruction,
        Work::LaneAccess,
        Work::Vertex,
        Work::Pixel,
        Work::Texel,
        Work::Copy16,
        Work::Assembly,
    ];

    #[test]
    fn no_kind_of_work_is_free() {
        for work in KINDS {
            let mut budget = Budget::new(2 * work.price());
            assert!(budget.take(work, 1), "{work}");
            assert_eq!(budget.spent(), work.price(), "{work}");
            budget.settle(work, 1);
            assert_eq!((budget.spent(), budget.share(Work::Copy16, 1)), (2 * work.price(), 0), "{work}");
            assert!(!budget.take(work, 1), "{work}");
        }
    }

    #[test]
    fn what_is_owed_is_taken_with_what_is_taken_next() {
        let mut budget = Budget::new(10 * Work::Packet.price());
        budget.owe(Work::Packet, 8);
        assert_eq!(budget.beside().owed.get(), 0, "it is charged once");
        assert!(budget.take(Work::Packet, 1));
        assert_eq!(budget.spent(), 9 * Work::Packet.price());
        budget.owe(Work::Packet, 1);
        assert!(!budget.take(Work::Packet, 1));
        assert_eq!(budget.cut(), Some(Work::Packet));
    }

    #[test]
    fn observers_change_where_a_run_is_cut_off_when_they_have_done_as_much_as_it_may() {
        let mut budget = Budget::new(10 * Work::Packet.price());
        budget.observe(Work::Packet, 10);
        assert!(budget.take(Work::Packet, 10));
        assert_eq!(budget.spent(), 10 * Work::Packet.price(), "theirs are not the run's");
        let mut budget = Budget::new(10 * Work::Packet.price());
        budget.observe(Work::Packet, 11);
        assert!(!budget.take(Work::Packet, 1));
        assert_eq!(budget.cut(), Some(Work::Text16));
    }

    #[test]
    fn from_the_first_that_does_not_fit_nothing_is_kept() {
        let budget = Budget::default().with_room(10);
        assert!(budget.keep(10) && !budget.is_full());
        assert!(!budget.keep(1) && budget.is_full());
        assert!(!budget.keep(0));
        assert!(Budget::default().keep(u64::MAX), "without a limit all is kept");
    }

    #[test]
    fn a_budget_grows_by_what_the_capture_holds() {
        let mut budget = Budget::new(0);
        budget.grow(Work::Packet.price());
        assert!(budget.take(Work::Packet, 1));
        assert!(!budget.take(Work::Packet, 1));
    }

    #[test]
    fn what_was_refused_first_is_what_is_said() {
        let mut budget = Budget::new(0);
        assert!(!budget.take(Work::Packet, 1));
        let mut late = budget.for_time(Duration::ZERO);
        late.settle(Work::Warp, 1);
        assert!(late.refusal().unwrap().contains("--max-work"));
        assert_eq!(late.cut(), Some(Work::Packet));
    }

    #[test]
    fn the_cut_is_news_once() {
        let mut budget = Budget::new(0);
        assert_eq!(budget.take_cut_notice(), None);
        assert!(!budget.take(Work::Packet, 1));
        assert_eq!(budget.take_cut_notice(), budget.refusal());
        assert!(!budget.take(Work::Packet, 1));
        assert_eq!(budget.take_cut_notice(), None);
    }

    #[test]
    fn shares_add_up_to_what_is_left() {
        let mut budget = Budget::new(100 * Work::WarpInstruction.price());
        assert_eq!(budget.share(Work::WarpInstruction, 3), 33);
        budget.settle(Work::WarpInstruction, 60);
        assert_eq!(budget.share(Work::WarpInstruction, 3), 13);
        budget.exhaust(Work::WarpInstruction);
        assert_eq!(budget.share(Work::WarpInstruction, 1), 0);
    }

    #[test]
    fn a_fixed_budget_does_not_grow() {
        let mut budget = Budget::fixed(Work::Packet.price());
        budget.grow(1 << 40);
        assert!(budget.take(Work::Packet, 1));
        assert!(!budget.take(Work::Packet, 1));
        assert!(budget.refusal().unwrap().contains("--max-work"));
    }

    #[test]
    fn when_time_is_over_nothing_goes_on() {
        let mut budget = Budget::new(BASE).for_time(Duration::ZERO);
        assert!(!budget.take(Work::Packet, 1));
        assert!(budget.refusal().unwrap().contains("--time-limit"));
        let mut settled = Budget::new(BASE).for_time(Duration::ZERO);
        settled.settle(Work::Warp, 1);
        assert_eq!(settled.cut(), Some(Work::Warp), "work done side by side counts as well");
        assert!(Budget::new(BASE).for_time(Duration::MAX).take(Work::Packet, 1));
    }

    #[test]
    fn an_interrupt_ends_all_that_have_it() {
        let interrupt = Interrupt::default();
        let mut budgets = [Budget::new(BASE), Budget::fixed(BASE)].map(|it| it.until(interrupt.clone()));
        assert!(budgets.iter_mut().all(|budget| budget.take(Work::Packet, 1)));
        interrupt.raise();
        for budget in &mut budgets {
            assert!(!budget.take(Work::Packet, 1));
            assert!(budget.refusal().unwrap().contains("interrupted"));
        }
        let mut settled = Budget::new(BASE).until(interrupt);
        settled.settle(Work::Warp, 1);
        assert_eq!((settled.cut(), settled.share(Work::Pixel, 1)), (Some(Work::Warp), 0));
    }

    #[test]
    fn what_was_done_beside_is_charged_when_it_is_over() {
        let mut budget = Budget::new(10 * Work::Warp.price());
        assert!(budget.take(Work::Warp, 1));
        let mut beside = budget.beside();
        assert!(budget.take(Work::Warp, 2) && beside.take(Work::Warp, 4));
        budget.rejoin(&beside);
        assert_eq!((budget.spent(), budget.cut()), (7 * Work::Warp.price(), None));
        assert!(budget.affords(Work::Warp, 3) && !budget.affords(Work::Warp, 4));
        let mut beside = budget.beside();
        assert!(!beside.take(Work::Pixel, 1 << 20));
        budget.rejoin(&beside);
        assert_eq!(budget.cut(), Some(Work::Pixel));
        assert!(!budget.affords(Work::Warp, 0), "nothing goes on");
    }

    #[test]
    fn counts_beyond_any_budget_do_not_wrap() {
        let mut budget = Budget::new(u64::MAX - 1);
        assert!(!budget.take(Work::Warp, u64::MAX));
        budget.settle(Work::Warp, u64::MAX);
        budget.grow(u64::MAX);
        assert_eq!(budget.share(Work::Copy16, 1), 0, "it stays cut");
        let mut settled = Budget::new(u64::MAX - 1);
        settled.settle(Work::Warp, u64::MAX);
        assert_eq!((settled.share(Work::Copy16, 1), settled.spent()), (0, u64::MAX), "nothing is left");
    }
}
