//! One type for whatever goes wrong, and the one rule from it to the exit status.

use std::fmt;

use a4emu_decoder::error::CaptureError;
use hashbrown::HashMap;

use super::{Client, Fault, Miss, Missing, Place};
use crate::status::{Failure, Status};

/// Different reports of one run that are kept; more are only counted.
const MAX_KEPT: usize = 1000;

/// Something that went wrong; the run goes on with the rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// The capture could not be read on.
    Io(Damage),
    /// Damage of the container.
    Container(Damage),
    /// A section that says what no A4xx capture says, and is passed over.
    OddSection(String),
    /// What the program or the command stream got wrong.
    Fault(Fault),
    /// Something that is not supported yet: left out, and the rest was still done.
    Unsupported(String),
    /// An input that is of another kind than this is for: what of it can be read is read.
    Refused(String),
    /// What one of our own limits ended: where, and the option that lets it run.
    Cut(String),
    /// A value that depends on draws that were skipped: it is taken as the capture holds it.
    Stale(String),
    /// Memory that was read and is not in the capture.
    Missing(Miss),
}

/// What a reader of captures says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Damage {
    /// In words.
    pub what: String,
    /// Byte of the unpacked stream.
    pub offset: Option<u64>,
}

/// How bad a trouble is; the worst is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The recorded program's own affair, or the recording's.
    Warning,
    /// The operating system refused.
    Usage,
    /// The capture is damaged: its container or its command stream.
    Damaged,
    /// We cannot do it.
    Unsupported,
}

impl Severity {
    /// What the process exits with.
    pub fn status(self, strict: bool) -> Status {
        match self {
            Self::Warning if !strict => Status::Fine,
            Self::Usage => Status::Usage,
            Self::Warning | Self::Damaged => Status::Damaged,
            Self::Unsupported => Status::Unsupported,
        }
    }
}

impl Trouble {
    /// Damage of the container that is at no byte in particular.
    pub fn damaged(what: String) -> Self {
        Self::Container(Damage { what, offset: None })
    }

    /// What kind of trouble it is, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Container(_) => "container",
            Self::OddSection(_) => "section",
            Self::Fault(_) => "fault",
            Self::Unsupported(_) | Self::Refused(_) => "unsupported",
            Self::Cut(_) => "cut",
            Self::Stale(_) => "stale",
            Self::Missing(_) => "missing",
        }
    }

    /// The byte of the unpacked capture that it is about, if it is about one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Io(damage) | Self::Container(damage) => damage.offset,
            _ => None,
        }
    }

    /// How bad it is: the one rule, for every command.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Io(_) => Severity::Usage,
            Self::Container(_) => Severity::Damaged,
            Self::Fault(fault) if fault.is_damage() => Severity::Damaged,
            Self::Fault(_) | Self::OddSection(_) | Self::Stale(_) | Self::Missing(_) => Severity::Warning,
            Self::Unsupported(_) | Self::Refused(_) | Self::Cut(_) => Severity::Unsupported,
        }
    }
}

impl From<CaptureError> for Trouble {
    fn from(error: CaptureError) -> Self {
        let (what, offset) = (error.to_string(), error.offset());
        match error {
            CaptureError::Io { .. } => Self::Io(Damage { what, offset }),
            CaptureError::TooLarge { .. } => Self::Cut(what),
            CaptureError::CoreDump { .. } => {
                Self::Refused(what + ": this reads captures alone; Mesa's crashdec reads it")
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
            | Self::OddSection(what)
            | Self::Refused(what)
            | Self::Stale(what) => f.write_str(what),
            Self::Fault(fault) => fault.fmt(f),
            Self::Unsupported(what) => write!(f, "{what} is not supported yet"),
            Self::Cut(what) => write!(f, "cut off: {what}"),
            Self::Missing(Miss { client, address, len }) => {
                write!(f, "{len} bytes at {address:#010x} are not in the capture ({client})")
            }
        }
    }
}

/// Reports with where each was first met and how often, in order of first meeting.
#[derive(Clone, Debug, Default)]
pub struct Log {
    rows: Vec<(Trouble, Place, u64)>,
    index: HashMap<Trouble, usize>,
    /// The worst so far.
    worst: Option<Severity>,
    /// Reports that differed from those that are kept.
    dropped: u64,
}

impl Log {
    /// Adds one report. It is kept if it is one of the first 1,000, or worse than all before: the
    /// exit status has to be right.
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

    /// What was reported, where first, and how often.
    pub fn iter(&self) -> impl Iterator<Item = &(Trouble, Place, u64)> {
        self.rows.iter()
    }

    /// Reports that differed from all that are kept: there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What a limit of ours cut off first, if one did.
    pub fn first_cut(&self) -> Option<String> {
        let mut cuts = self.rows.iter().filter(|(trouble, ..)| matches!(trouble, Trouble::Cut(_)));
        cuts.next().map(|(cut, ..)| cut.to_string())
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reports in all, kept or not.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|row| row.2).sum::<u64>() + self.dropped
    }
}

/// Everything that a run has to say about what went wrong.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All of it but missing memory, in order of first meeting.
    pub troubles: Log,
    /// What the capture does not hold.
    pub missing: Missing,
}

impl Report {
    /// Records a fault.
    pub fn fault(&mut self, fault: Fault, at: Place) {
        self.troubles.note(fault.into(), at);
    }

    /// Records something not supported yet.
    pub fn unsupported(&mut self, what: impl Into<String>, at: Place) {
        self.troubles.note(Trouble::Unsupported(what.into()), at);
    }

    /// Records what a limit of ours cut off.
    pub fn cut(&mut self, what: impl Into<String>, at: Place) {
        self.troubles.note(Trouble::Cut(what.into()), at);
    }

    /// Records a read of `len` bytes at `address` that found something missing.
    pub fn miss(&mut self, client: Client, address: u32, len: u32) {
        self.missing.note(Miss { client, address, len });
    }

    /// The faults.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.troubles.iter().filter_map(|(trouble, ..)| match trouble {
            Trouble::Fault(fault) => Some(fault),
            _ => None,
        })
    }

    /// What is not supported, without where and how often.
    pub fn unsupported_features(&self) -> impl Iterator<Item = &str> {
        self.troubles.iter().filter_map(|(trouble, ..)| match trouble {
            Trouble::Unsupported(what) | Trouble::Refused(what) => Some(what.as_str()),
            _ => None,
        })
    }

    /// The failure of whoever looks for something in an input that was refused.
    ///
    /// # Errors
    /// The input was.
    pub fn must_be_taken(&self) -> Result<(), Failure> {
        let refused = self.troubles.iter().find(|(trouble, ..)| matches!(trouble, Trouble::Refused(_)));
        refused.map_or(Ok(()), |(trouble, ..)| {
            Err(Failure { status: Status::Unsupported, message: trouble.to_string() })
        })
    }

    /// The first of the worst, with where it was met, unless all are warnings.
    pub fn worst(&self) -> Option<&(Trouble, Place, u64)> {
        let bad = self.troubles.iter().filter(|(trouble, ..)| trouble.severity() > Severity::Warning);
        bad.reduce(|worst, it| if it.0.severity() > worst.0.severity() { it } else { worst })
    }

    /// The worst exit status that anything here calls for.
    pub fn status(&self, strict: bool) -> Status {
        let missing = self.missing.iter().next().map(|_| Severity::Warning);
        let all = self.troubles.iter().map(|(trouble, ..)| trouble.severity()).chain(missing);
        all.map(|severity| severity.status(strict)).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn at(address: u32) -> Place {
        Place { address, ..Place::default() }
    }

    /// The whole table, of which a fault's kind and `--strict` are part.
    #[test]
    fn each_trouble_has_its_status() {
        let text = || String::from("x");
        let faults = [
            (Fault::Stream(text()), Status::Damaged),
            (Fault::ShortPacket { name: "x", dwords: 1 }, Status::Damaged),
            (Fault::NoBuffer { address: 1, dwords: 1 }, Status::Damaged),
            (Fault::CutBuffer { address: 1, dwords: 2, held: 1 }, Status::Damaged),
            (Fault::SelfCall { address: 1 }, Status::Damaged),
            (Fault::TooDeep { address: 1, limit: 1 }, Status::Damaged),
            (Fault::NoRegister(1), Status::Damaged),
            (Fault::EndlessWait { polled: 1, value: 1, reference: 1 }, Status::Fine),
            (Fault::Store { client: Client::Packet, page: 1 }, Status::Fine),
            (Fault::Shader(text()), Status::Fine),
            (Fault::Draw(text()), Status::Fine),
        ];
        let damage = || Damage { what: text(), offset: None };
        let troubles = [
            (Trouble::Io(damage()), Status::Usage),
            (Trouble::Container(damage()), Status::Damaged),
            (Trouble::OddSection(text()), Status::Fine),
            (Trouble::Unsupported(text()), Status::Unsupported),
            (Trouble::Refused(text()), Status::Unsupported),
            (Trouble::Cut(text()), Status::Unsupported),
            (Trouble::Stale(text()), Status::Fine),
            (Trouble::Missing(Miss { client: Client::Packet, address: 1, len: 1 }), Status::Fine),
        ];
        let faults = faults.into_iter().map(|(fault, status)| (Trouble::Fault(fault), status));
        for (trouble, status) in faults.chain(troubles) {
            let strictly = if status == Status::Fine { Status::Damaged } else { status };
            let mut report = Report::default();
            report.troubles.note(trouble.clone(), at(0));
            assert_eq!((report.status(false), report.status(true)), (status, strictly), "{trouble:?}");
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

    /// A thousand kinds of warning do not hide what is damaged, and everything is counted.
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
        assert_eq!((report.troubles.total(), report.status(false)), (3011, Status::Damaged));
        report.cut("x", at(0));
        assert_eq!(report.status(false), Status::Unsupported);
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
        assert_eq!(report.worst().map(|(trouble, at, _)| (trouble.kind(), at.address)), Some(("cut", 3)));
    }

    #[test]
    fn missing_memory_is_a_warning() {
        let mut report = Report::default();
        assert_eq!(report.status(true), Status::Fine);
        report.miss(Client::Index, 4, 4);
        assert_eq!((report.status(false), report.status(true)), (Status::Fine, Status::Damaged));
    }
}
