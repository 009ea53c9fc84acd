//! Reports of what goes wrong, and the rule that gives each a severity.

use a4emu_decoder::adreno::address::Address;
use std::fmt;

use a4emu_decoder::error::CaptureError;
use hashbrown::HashMap;

use super::{Client, Fault, Miss, Missing, Place};

/// Most different reports of a run that are kept. Further ones are only counted.
const MAX_KEPT: usize = 1000;

/// A problem that is reported. The run continues with the rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// The operating system failed to read the capture.
    Io(Damage),
    /// Damage of the container.
    Container(Damage),
    /// The input is no capture at all.
    NoCapture(Damage),
    /// A section with contents that no A4xx capture has. It is skipped.
    OddSection(String),
    /// An error of the recorded program or of its command stream.
    Fault(Fault),
    /// A feature that is not supported yet. It is left out; the rest is done.
    Unsupported(String),
    /// What the emulator does not draw yet. The text is a whole sentence.
    NotRendered(String),
    /// An input of a kind that this tool does not read. Its readable parts are read.
    Refused(String),
    /// No section is of the process that was asked for. The text names those that are there.
    NoProcess(String),
    /// Work that a limit of the emulator ended. The text says where, and which option raises the limit.
    Cut(String),
    /// A value that depends on skipped draws. The value in the capture is used instead.
    Stale(String),
    /// Memory that was read and is not in the capture.
    Missing(Miss),
}

/// An error of the capture reader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Damage {
    /// The description, for people.
    pub what: String,
    /// Offset in the unpacked stream, in bytes.
    pub offset: Option<u64>,
}

/// Severity of a [`Trouble`]. A larger value is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A problem of the recorded program or of the recording.
    Warning,
    /// The operating system refused a request, or the capture has nothing of what was asked for.
    Usage,
    /// The capture is damaged: its container or its command stream.
    Damaged,
    /// The emulator does not support it.
    Unsupported,
}

impl Trouble {
    /// Damage of the container that has no offset.
    pub fn damaged(what: String) -> Self {
        Self::Container(Damage { what, offset: None })
    }

    /// The kind of the trouble in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Container(_) | Self::NoCapture(_) => "container",
            Self::OddSection(_) => "section",
            Self::Fault(_) => "fault",
            Self::Unsupported(_) | Self::NotRendered(_) | Self::Refused(_) => "unsupported",
            Self::NoProcess(_) => "process",
            Self::Cut(_) => "cut",
            Self::Stale(_) => "stale",
            Self::Missing(_) => "missing",
        }
    }

    /// Offset in the unpacked capture, in bytes, if the trouble has one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Io(damage) | Self::Container(damage) | Self::NoCapture(damage) => damage.offset,
            _ => None,
        }
    }

    /// The severity. Every command uses this one rule.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Io(_) | Self::NoProcess(_) => Severity::Usage,
            Self::Container(_) | Self::NoCapture(_) => Severity::Damaged,
            Self::Fault(fault) if fault.is_damage() => Severity::Damaged,
            Self::Fault(_) | Self::OddSection(_) | Self::Stale(_) | Self::Missing(_) => Severity::Warning,
            Self::Unsupported(_) | Self::NotRendered(_) | Self::Refused(_) | Self::Cut(_) => {
                Severity::Unsupported
            }
        }
    }
}

impl From<CaptureError> for Trouble {
    fn from(error: CaptureError) -> Self {
        let (what, offset) = (error.to_string(), error.offset());
        match error {
            CaptureError::Io { .. } => Self::Io(Damage { what, offset }),
            CaptureError::TooLarge { .. } => Self::Cut(what),
            CaptureError::Empty | CaptureError::NotACapture { .. } => {
                Self::NoCapture(Damage { what, offset })
            }
            _ => Self::Container(Damage { what, offset }),
        }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(Damage { what, .. })
            | Self::Container(Damage { what, .. })
            | Self::NoCapture(Damage { what, .. })
            | Self::OddSection(what)
            | Self::NotRendered(what)
            | Self::Refused(what)
            | Self::NoProcess(what)
            | Self::Stale(what) => f.write_str(what),
            Self::Fault(fault) => fault.fmt(f),
            Self::Unsupported(what) => write!(f, "{what} is not supported yet"),
            Self::Cut(what) => write!(f, "cut off: {what}"),
            Self::Missing(Miss { client, address, len }) => {
                write!(f, "{len} bytes at {address} are not in the capture ({client})")
            }
        }
    }
}

/// Reports in the order of their first occurrence, each with its first place and its count.
#[derive(Clone, Debug, Default)]
pub struct Log {
    rows: Vec<(Trouble, Place, u64)>,
    index: HashMap<Trouble, usize>,
    /// The worst severity so far.
    worst: Option<Severity>,
    /// Number of reports that were not kept and equal no kept one.
    dropped: u64,
}

impl Log {
    /// Adds one report. It is kept if it is one of the first 1,000, or worse than all before: the exit status
    /// has to be right.
    pub fn note(&mut self, what: Trouble, at: Place) {
        if let Some(index) = self.index.get(&what) {
            self.rows[*index].2 += 1;
            return;
        }
        let severity = Some(what.severity());
        if self.rows.len() < MAX_KEPT || severity > self.worst {
            self.worst = self.worst.max(severity);
            self.index.insert(what.clone(), self.rows.len());
            self.rows.push((what, at, 1));
        } else {
            self.dropped += 1;
        }
    }

    /// Removes the reports of draws that are not rendered, for results that do not depend on what draws put out.
    pub fn forget_not_rendered(&mut self) {
        self.rows.retain(|(trouble, ..)| !matches!(trouble, Trouble::NotRendered(_)));
        self.index = self.rows.iter().enumerate().map(|(at, (trouble, ..))| (trouble.clone(), at)).collect();
        self.worst = self.rows.iter().map(|(trouble, ..)| trouble.severity()).max();
    }

    /// The reports, each with its first place and its count.
    pub fn iter(&self) -> impl Iterator<Item = &(Trouble, Place, u64)> {
        self.rows.iter()
    }

    /// Number of reports that were not kept, because there were too many different ones.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The text of the first report of a limit that ended work, if there is one.
    pub fn first_cut(&self) -> Option<String> {
        let mut cuts = self.rows.iter().filter(|(trouble, ..)| matches!(trouble, Trouble::Cut(_)));
        cuts.next().map(|(cut, ..)| cut.to_string())
    }

    /// Whether there is no report.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of all reports, kept or not.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|row| row.2).sum::<u64>() + self.dropped
    }
}

/// Everything that went wrong in a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All reports except missing memory, in the order of their first occurrence.
    pub troubles: Log,
    /// Memory that the capture does not hold.
    pub missing: Missing,
}

impl Report {
    /// A report of one trouble, without a place.
    pub fn of(trouble: Trouble) -> Self {
        let mut report = Self::default();
        report.troubles.note(trouble, Place::default());
        report
    }

    /// Records a fault.
    pub fn fault(&mut self, fault: Fault, at: Place) {
        self.troubles.note(fault.into(), at);
    }

    /// Records something not supported yet.
    pub fn unsupported(&mut self, what: impl Into<String>, at: Place) {
        self.troubles.note(Trouble::Unsupported(what.into()), at);
    }

    /// Records that a limit of the emulator ended some work.
    pub fn cut(&mut self, what: impl Into<String>, at: Place) {
        self.troubles.note(Trouble::Cut(what.into()), at);
    }

    /// Records a read of `len` bytes at `address` that the capture does not fully hold.
    pub fn miss(&mut self, client: Client, address: impl Into<Address>, len: u32) {
        self.missing.note(Miss { client, address: address.into(), len });
    }

    /// The recorded faults.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.troubles.iter().filter_map(|(trouble, ..)| match trouble {
            Trouble::Fault(fault) => Some(fault),
            _ => None,
        })
    }

    /// The unsupported features, without place and count.
    pub fn unsupported_features(&self) -> impl Iterator<Item = &str> {
        self.troubles.iter().filter_map(|(trouble, ..)| match trouble {
            Trouble::Unsupported(what) | Trouble::Refused(what) => Some(what.as_str()),
            _ => None,
        })
    }

    /// Whether the input was refused, is no capture, or has no such process. What a command misses in it follows from that.
    pub fn is_refused(&self) -> bool {
        self.refused().is_some()
    }

    /// The report that refuses the input, if there is one: it is no capture that this tool reads, or has no such process.
    pub fn refused(&self) -> Option<&Trouble> {
        let mut troubles = self.troubles.iter().map(|(trouble, ..)| trouble);
        troubles.find(|trouble| {
            matches!(trouble, Trouble::Refused(_) | Trouble::NoCapture(_) | Trouble::NoProcess(_))
        })
    }

    /// The first of the worst reports, with its place. `None` if all are warnings.
    pub fn worst(&self) -> Option<&(Trouble, Place, u64)> {
        let bad = self.troubles.iter().filter(|(trouble, ..)| trouble.severity() > Severity::Warning);
        bad.reduce(|worst, it| if it.0.severity() > worst.0.severity() { it } else { worst })
    }

    /// The worst severity of all reports; `None` if there is none.
    pub fn severity(&self) -> Option<Severity> {
        let missing = self.missing.iter().next().map(|_| Severity::Warning);
        self.troubles.iter().map(|(trouble, ..)| trouble.severity()).chain(missing).max()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn at(address: u32) -> Place {
        Place { address: address.into(), ..Place::default() }
    }

    /// Checks the whole table, including the kinds of faults.
    #[test]
    fn each_trouble_has_its_severity() {
        let text = || String::from("x");
        let faults = [
            (Fault::Stream(text()), Severity::Damaged),
            (Fault::ShortPacket { name: "x", dwords: 1 }, Severity::Damaged),
            (Fault::NoBuffer { address: 1.into(), dwords: 1 }, Severity::Damaged),
            (Fault::CutBuffer { address: 1.into(), dwords: 2, held: 1 }, Severity::Damaged),
            (Fault::SelfCall { address: 1.into() }, Severity::Damaged),
            (Fault::TooDeep { address: 1.into(), limit: 1 }, Severity::Damaged),
            (Fault::NoRegister(1), Severity::Damaged),
            (Fault::EndlessWait { polled: Address::new(1), value: 1, reference: 1 }, Severity::Warning),
            (Fault::Store { client: Client::Packet, page: 1.into() }, Severity::Warning),
            (Fault::Shader(text()), Severity::Warning),
            (Fault::Draw(text()), Severity::Warning),
        ];
        let damage = || Damage { what: text(), offset: None };
        let troubles = [
            (Trouble::Io(damage()), Severity::Usage),
            (Trouble::Container(damage()), Severity::Damaged),
            (Trouble::NoCapture(damage()), Severity::Damaged),
            (Trouble::OddSection(text()), Severity::Warning),
            (Trouble::Unsupported(text()), Severity::Unsupported),
            (Trouble::Refused(text()), Severity::Unsupported),
            (Trouble::NoProcess(text()), Severity::Usage),
            (Trouble::Cut(text()), Severity::Unsupported),
            (Trouble::Stale(text()), Severity::Warning),
            (Trouble::Missing(Miss { client: Client::Packet, address: 1.into(), len: 1 }), Severity::Warning),
        ];
        let faults = faults.into_iter().map(|(fault, severity)| (Trouble::Fault(fault), severity));
        for (trouble, severity) in faults.chain(troubles) {
            let mut report = Report::default();
            report.troubles.note(trouble.clone(), at(0));
            assert_eq!(report.severity(), Some(severity), "{trouble:?}");
        }
    }

    #[test]
    fn an_error_of_the_reader_is_what_it_was() {
        let io = || io::Error::other("x");
        let of = |error: CaptureError| Trouble::from(error).severity();
        assert_eq!(of(CaptureError::Io { offset: 0, source: io() }), Severity::Usage);
        assert_eq!(of(CaptureError::Compression { offset: 0, source: io() }), Severity::Damaged);
        assert_eq!(of(CaptureError::TooLarge { offset: 0, id: 1, size: 1 }), Severity::Unsupported);
        assert_eq!(of(CaptureError::Empty), Severity::Damaged);
    }

    /// A thousand warnings do not hide damage, and every report is counted.
    #[test]
    fn reports_are_capped_and_the_worst_is_kept() {
        let mut report = Report::default();
        let warning = |n: u32| Fault::Draw(n.to_string());
        (0..3000).for_each(|n| report.fault(warning(n), at(n)));
        report.fault(warning(7), at(1));
        assert_eq!(report.troubles.iter().count(), MAX_KEPT);
        assert_eq!(report.troubles.iter().nth(7).unwrap().2, 2);
        for n in 0..10 {
            report.fault(Fault::NoRegister(n), at(n));
        }
        assert_eq!(report.troubles.iter().count(), MAX_KEPT + 1);
        assert_eq!((report.troubles.total(), report.severity()), (3011, Some(Severity::Damaged)));
        report.cut("x", at(0));
        assert_eq!(report.severity(), Some(Severity::Unsupported));
    }

    #[test]
    fn the_worst_is_the_first_of_its_kind() {
        let mut report = Report::default();
        report.fault(Fault::Draw("a warning".to_owned()), at(0));
        assert_eq!(report.worst(), None);
        let damage = |offset| Trouble::from(CaptureError::ShortHeader { offset, got: 1 });
        [damage(7), damage(8)].into_iter().for_each(|it| report.troubles.note(it, at(0)));
        let (worst, ..) = report.worst().expect("two are damage");
        assert_eq!(
            (worst.kind(), worst.offset(), worst.severity()),
            ("container", Some(7), Severity::Damaged)
        );
        report.cut("x", at(3));
        assert_eq!(
            report.worst().map(|(trouble, at, _)| (trouble.kind(), at.address)),
            Some(("cut", 3.into()))
        );
    }

    #[test]
    fn missing_memory_is_a_warning() {
        let mut report = Report::default();
        assert_eq!(report.severity(), None);
        report.miss(Client::Index, 4, 4);
        assert_eq!(report.severity(), Some(Severity::Warning));
    }
}
