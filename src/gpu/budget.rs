//! The budget: one allowance of work for a whole run. It bounds what a small input can make the emulator do.
//! Where a run is cut off does not depend on threads or machines.
//!
//! Every kind of work has a price in *units*; a unit is about the work of moving 16 bytes. Work is charged to
//! the [`Budget`] before it is done. Work of several threads is divided before they start ([`Budget::share`])
//! and charged in a fixed order after they end ([`Budget::settle`]). So the cut is the same for any number of
//! threads.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A kind of work that is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A section of a capture, read from its container.
    Section,
    /// 16 bytes of a capture's container, read and unpacked.
    Unpacked16,
    /// A dword of a command stream, executed.
    Dword,
    /// A packet of a command stream, executed.
    Packet,
    /// A buffer that a capture announces.
    Buffer,
    /// The start of a warp, for any program.
    Warp,
    /// An instruction that a warp runs.
    WarpInstruction,
    /// A load, store or atomic of one lane.
    LaneAccess,
    /// An attribute that is fetched for a vertex.
    Attribute,
    /// An entry of a draw's vertex list: its lookup, and its use in a primitive.
    Vertex,
    /// A pixel that a primitive's bounds touch.
    Pixel,
    /// A texel that a texture request reads.
    Texel,
    /// 16 bytes that are copied, cleared, resolved or output.
    Copy16,
    /// A step of an assembler: a token, a node of an expression, an output dword.
    Assembly,
    /// 16 bytes of text that a command outputs.
    Text16,
    /// The lowering of an instruction of a program.
    Lowering,
    /// An instruction of a program that is listed or described, and does not run.
    Reading,
    /// A step of a rule-based program analysis.
    Analysis,
    /// The setup of a draw or dispatch: reading its state from registers.
    Draw,
    /// A description of all state of a draw or dispatch.
    Look,
}

impl Work {
    /// Price of one item in units. Measured on one core: a unit is 0.3 to 1 ns.
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

/// Units that any run may spend, even with an empty capture: about ten seconds.
pub const BASE: u64 = 1 << 34;

/// Names of the options that raise limits, for messages. Only the caller knows what its users can set. An empty name
/// leaves the option out of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionNames {
    /// Units of work.
    pub work: &'static str,
    /// Time.
    pub time: &'static str,
    /// Bytes of memory, and of the output that is kept.
    pub memory: &'static str,
    /// Reading a capture of another generation as one of an A4xx.
    pub force: &'static str,
}

impl OptionNames {
    /// No option.
    pub const NONE: Self = Self { work: "", time: "", memory: "", force: "" };
}

/// ` (NAME)`, or nothing for an empty name.
pub(crate) fn in_brackets(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ({name})") }
}

/// The work that a run may still do, and what it has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    spent: u64,
    /// Units spent but not yet charged. The next charge includes them.
    owed: Cell<u64>,
    /// Units that observers have spent. Their allowance equals the run's and is separate. So observers do not
    /// change where a run is cut off, unless they use all of their allowance.
    observed: Cell<u64>,
    /// Bytes that the run may still keep for its output.
    room: Cell<u64>,
    /// Whether something did not fit.
    full: Cell<bool>,
    growth: Growth,
    /// External ends: at these, all further work is refused.
    ends: Option<Ends>,
    /// The kind of work that was refused first.
    cut: Option<Work>,
    /// What cut the run off, if it was not its own work.
    ended: Option<Ended>,
    /// Whether [`Budget::take_cut_notice`] has returned the notice.
    notice_taken: bool,
    /// Options that messages name.
    pub names: OptionNames,
}

/// External ends of a run: a deadline and an interrupt. Both depend on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    deadline: Option<Instant>,
    interrupt: Option<Interrupt>,
}

/// What cut the run off, apart from its own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Late,
    Interrupted,
    /// The observers have used all of their allowance.
    Observed,
}

impl Ends {
    /// The time that the run may still take, if it is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether one of them is reached. The budget then refuses the next work.
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

/// Ends runs from another thread: all runs that have a clone of it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Ends the runs.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
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

/// Whether a budget grows with the contents of the capture.
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
    /// A budget of `units` that can grow.
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
            notice_taken: false,
            names: OptionNames::NONE,
        }
    }

    /// A budget of `units` that never grows.
    pub const fn fixed(units: u64) -> Self {
        let mut budget = Self::new(units);
        budget.growth = Growth::Fixed;
        budget
    }

    /// The budget, whose messages name these options.
    #[must_use]
    pub fn naming(self, names: OptionNames) -> Self {
        Self { names, ..self }
    }

    /// The budget, with a limit of `bytes` for kept output: rows, lines, findings.
    #[must_use]
    pub fn with_room(self, bytes: u64) -> Self {
        self.room.set(bytes);
        self
    }

    /// Takes `bytes` from the room for output that is kept to the end of the run. Returns false if they do
    /// not fit, and always after that.
    #[must_use]
    pub fn keep(&self, bytes: u64) -> bool {
        let left = self.room.get().checked_sub(bytes).filter(|_| !self.full.get());
        self.full.set(left.is_none());
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether something did not fit in the room for output.
    pub fn is_full(&self) -> bool {
        self.full.get()
    }

    /// The budget, which also ends after `time` from now. This cut depends on the machine.
    #[must_use]
    pub fn for_time(mut self, time: Duration) -> Self {
        self.ends.get_or_insert_default().deadline = Instant::now().checked_add(time);
        self
    }

    /// The budget, which also ends as soon as `interrupt` is raised.
    #[must_use]
    pub fn until(mut self, interrupt: Interrupt) -> Self {
        self.ends.get_or_insert_default().interrupt = Some(interrupt);
        self
    }

    /// The external ends, for code that works long between two charges.
    pub fn ends(&self) -> Option<Ends> {
        self.ends.clone()
    }

    /// Adds `units`, unless the budget is fixed.
    pub fn grow(&mut self, units: u64) {
        if self.growth == Growth::Grows {
            self.left = self.left.saturating_add(units);
        }
    }

    /// Takes `count` of `work` and returns true. If that is more than is left, it takes nothing, returns
    /// false and refuses everything later.
    #[must_use]
    #[inline]
    pub fn take(&mut self, work: Work, count: u64) -> bool {
        self.check_ends(work);
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

    /// Charges `count` of `work` that is already done. The next [`Self::take`] includes it.
    pub fn charge_later(&self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.owed.set(self.owed.get().saturating_add(units));
    }

    /// Charges `count` of `work` to the observers' allowance.
    pub fn observe(&self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.observed.set(self.observed.get().saturating_add(units));
    }

    /// Charges what is owed, and ends the run if the observers have used all of their allowance.
    #[inline]
    fn pay(&mut self) {
        let owed = self.owed.take();
        self.left = self.left.saturating_sub(owed);
        self.spent = self.spent.saturating_add(owed);
        if self.cut.is_none() && self.observed.get() > self.left.saturating_add(self.spent) {
            (self.cut, self.ended) = (Some(Work::Text16), Some(Ended::Observed));
        }
    }

    /// Whether `count` of `work` is left after what is owed is charged.
    pub fn affords(&self, work: Work, count: u64) -> bool {
        let units = count.saturating_mul(work.price()).saturating_add(self.owed.get());
        self.cut.is_none() && units <= self.left
    }

    fn check_ends(&mut self, work: Work) {
        if let Some(ends) = &self.ends
            && self.cut.is_none()
            && let Some(ended) = ends.reached()
        {
            (self.cut, self.ended) = (Some(work), Some(ended));
        }
    }

    /// The number of `work` items that each of `jobs` concurrent jobs may do.
    pub fn share(&self, work: Work, jobs: usize) -> u64 {
        match self.cut {
            Some(_) => 0,
            None => self.left / work.price() / (jobs as u64).max(1),
        }
    }

    /// Charges `count` of `work` that was done within a [`Budget::share`].
    pub fn settle(&mut self, work: Work, count: u64) {
        let units = count.saturating_mul(work.price());
        self.left = self.left.saturating_sub(units);
        self.spent = self.spent.saturating_add(units);
        self.check_ends(work);
    }

    /// A budget for a separate run, with all units that this run had from its beginning, including growth.
    /// External ends and room are the same. A budget that was cut off stays cut off.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self {
            left: self.left.saturating_add(self.spent),
            spent: 0,
            owed: Cell::new(0),
            observed: Cell::new(0),
            ..self.clone()
        }
    }

    /// A copy of the budget for concurrent work. [`Budget::join`] charges that work here. Until then, both
    /// may spend all that is left.
    pub fn fork(&self) -> Self {
        Self { spent: 0, owed: Cell::new(0), observed: Cell::new(0), ..self.clone() }
    }

    /// Like [`Self::fork`], with one `count`-th of what is left.
    pub fn fork_part(&self, count: u64) -> Self {
        Self { left: self.left / count.max(1), ..self.fork() }
    }

    /// Charges the work of a [copy](Budget::fork). If the copy was cut off, this budget is too, for the
    /// same reason.
    pub fn join(&mut self, beside: &Self) {
        self.left = self.left.saturating_sub(beside.spent);
        self.spent = self.spent.saturating_add(beside.spent);
        if beside.cut.is_some() {
            (self.cut, self.ended) = (beside.cut, beside.ended);
        }
    }

    /// Cuts the run off at `work`, because a share was too small.
    pub fn exhaust(&mut self, work: Work) {
        self.cut.get_or_insert(work);
    }

    /// The kind of work at which the run was cut off, if it was.
    pub fn cut(&self) -> Option<Work> {
        self.cut
    }

    /// The reason why the run was cut off, if it was, and the option that raises the limit.
    pub fn refusal(&self) -> Option<String> {
        self.cut.map(|work| match self.ended {
            Some(Ended::Late) => {
                let limit = if self.names.time.is_empty() { "the time limit" } else { self.names.time };
                format!("{limit} is over (it came to {work}; another run may come to others)")
            }
            Some(Ended::Interrupted) => {
                format!("interrupted (it came to {work}; another run may come to others)")
            }
            Some(Ended::Observed) => {
                let (most, name) = (self.left.saturating_add(self.spent), self.names.work);
                let more = if name.is_empty() { String::new() } else { format!(" ({name} allows more)") };
                format!("output may take no more than {most} units of work{more}")
            }
            None => {
                let (spent, name) = (self.spent, self.names.work);
                let more = if name.is_empty() { String::new() } else { format!("; {name} allows more") };
                format!("no more work is allowed than the {spent} units done (next: {work}{more})")
            }
        })
    }

    /// [`Budget::refusal`] at the first call after the cut, then `None`. So the cut is reported once.
    pub fn take_cut_notice(&mut self) -> Option<String> {
        let notice = self.refusal().filter(|_| !self.notice_taken);
        self.notice_taken |= notice.is_some();
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
    fn budget_refuses_work_above_the_remaining_units() {
        let mut budget = Budget::new(3 * Work::Warp.price());
        assert!(budget.take(Work::Warp, 2));
        assert!(!budget.take(Work::Warp, 2), "one is left");
        assert_eq!(budget.cut(), Some(Work::Warp));
        assert!(!budget.take(Work::Copy16, 1), "after the cut nothing goes on");
        assert_eq!(budget.spent(), 2 * Work::Warp.price());
    }

    /// Every kind of work.
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
    fn deferred_charges_are_taken_with_the_next_charge() {
        let mut budget = Budget::new(10 * Work::Packet.price());
        budget.charge_later(Work::Packet, 8);
        assert_eq!(budget.fork().owed.get(), 0, "it is charged once");
        assert!(budget.take(Work::Packet, 1));
        assert_eq!(budget.spent(), 9 * Work::Packet.price());
        budget.charge_later(Work::Packet, 1);
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
        assert_eq!(budget.refusal().unwrap(), "output may take no more than 640 units of work");
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
    fn budget_reports_the_first_refusal() {
        let mut budget = Budget::new(0);
        assert!(!budget.take(Work::Packet, 1));
        let mut late = budget.for_time(Duration::ZERO);
        late.settle(Work::Warp, 1);
        assert!(late.refusal().unwrap().ends_with("(next: packets)"), "{:?}", late.refusal());
        let named = late.naming(OptionNames { work: "--more", ..OptionNames::NONE });
        assert!(named.refusal().unwrap().ends_with("(next: packets; --more allows more)"));
        let late = named;
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
        assert!(budget.refusal().unwrap().starts_with("no more work is allowed"));
    }

    #[test]
    fn when_time_is_over_nothing_goes_on() {
        let mut budget = Budget::new(BASE).for_time(Duration::ZERO);
        assert!(!budget.take(Work::Packet, 1));
        assert!(budget.refusal().unwrap().starts_with("the time limit is over"));
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
    fn work_of_a_fork_is_charged_at_the_join() {
        let mut budget = Budget::new(10 * Work::Warp.price());
        assert!(budget.take(Work::Warp, 1));
        let mut beside = budget.fork();
        assert!(budget.take(Work::Warp, 2) && beside.take(Work::Warp, 4));
        budget.join(&beside);
        assert_eq!((budget.spent(), budget.cut()), (7 * Work::Warp.price(), None));
        assert!(budget.affords(Work::Warp, 3) && !budget.affords(Work::Warp, 4));
        let mut beside = budget.fork();
        assert!(!beside.take(Work::Pixel, 1 << 20));
        budget.join(&beside);
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
