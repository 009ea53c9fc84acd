//! `--scaling`: a table of the time of a frame on several numbers of threads, and what the threads do meanwhile.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use a4emu_gpu::work_trace::Activity;
use a4emu_gpu::work_trace::spans::Span;

/// What the threads did in a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameUse {
    /// Time of the frame.
    time: Duration,
    /// Time of all threads, by what they did.
    busy: BTreeMap<Activity, Duration>,
    /// Of work, the time when no other thread worked.
    alone: BTreeMap<Activity, Duration>,
}

/// A frame on one number of threads.
pub struct Column {
    /// Number of threads.
    pub threads: u16,
    /// Whether the frame is predicted.
    pub is_predicted: bool,
    /// The frame.
    pub frame: FrameUse,
}

impl FrameUse {
    /// A frame from `start` to `end`, with the spans of each thread. Spans may contain others.
    pub fn new(threads: &[Vec<Span>], start: Duration, end: Duration) -> Self {
        let inside = |span: Span| Span { start: span.start.max(start), end: span.end.min(end), ..span };
        let pieces = threads.iter().flat_map(|spans| pieces(spans)).map(inside);
        let pieces: Vec<Span> = pieces.filter(|piece| piece.start < piece.end).collect();
        let mut frame = Self { time: end - start, ..Self::default() };
        for piece in &pieces {
            *frame.busy.entry(piece.activity).or_default() += piece.end - piece.start;
        }
        frame.add_alone(pieces.into_iter().filter(|piece| !piece.activity.is_wait()));
        frame
    }

    /// The frame that took the median time; nothing if there is none.
    pub fn median(mut frames: Vec<Self>) -> Self {
        frames.sort_by_key(|frame| frame.time);
        frames.get(frames.len() / 2).cloned().unwrap_or_default()
    }

    /// Time of the frame.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Work of all threads.
    pub fn work(&self) -> Duration {
        self.busy.iter().filter(|(activity, _)| !activity.is_wait()).map(|(_, time)| *time).sum()
    }

    /// Adds the times when only one of some pieces of work was done.
    fn add_alone(&mut self, pieces: impl Iterator<Item = Span>) {
        let both = |piece: Span| [(piece.start, true, piece.activity), (piece.end, false, piece.activity)];
        let mut changes: Vec<_> = pieces.flat_map(both).collect();
        changes.sort_unstable();
        let mut at_work: BTreeMap<Activity, usize> = BTreeMap::new();
        for pair in changes.windows(2) {
            let [(start, begins, activity), (end, ..)] = [pair[0], pair[1]];
            match (begins, at_work.get(&activity)) {
                (true, count) => _ = at_work.insert(activity, count.unwrap_or(&0) + 1),
                (false, Some(1)) => _ = at_work.remove(&activity),
                (false, count) => _ = at_work.insert(activity, count.unwrap_or(&1) - 1),
            }
            if let (1, Some((activity, 1))) = (at_work.len(), at_work.first_key_value()) {
                *self.alone.entry(*activity).or_default() += end - start;
            }
        }
    }
}

/// Cuts the spans of a thread into pieces that do not overlap: what it did, without what it did within that.
fn pieces(spans: &[Span]) -> Vec<Span> {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| (span.start, Reverse(span.end)));
    let (mut pieces, mut open, mut now) = (Vec::new(), Vec::<Span>::new(), Duration::ZERO);
    let mut put = |span: &Span, start: Duration, end: Duration| {
        if start < end {
            pieces.push(Span { start, end, ..*span });
        }
    };
    for span in spans {
        while let Some(last) = open.pop_if(|last| last.end <= span.start) {
            put(&last, now, last.end);
            now = last.end;
        }
        if let Some(around) = open.last() {
            put(around, now, span.start);
        }
        now = span.start;
        open.push(span);
    }
    while let Some(last) = open.pop() {
        put(&last, now, last.end);
        now = now.max(last.end);
    }
    pieces
}

/// Writes the table.
///
/// # Errors
/// The call fails if `out` does.
pub fn write(columns: &[Column], out: &mut impl Write) -> io::Result<()> {
    let row = |out: &mut dyn Write, name: &str, cells: Vec<String>| -> io::Result<()> {
        let cells: String = cells.iter().map(|cell| format!("{cell:>9}")).collect();
        writeln!(out, "{name:26}{cells}")
    };
    let all = |cell: &dyn Fn(&Column) -> String| columns.iter().map(cell).collect::<Vec<_>>();
    let ms = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
    let threads =
        |column: &Column| format!("{}{}", column.threads, if column.is_predicted { "*" } else { "" });
    row(out, "threads", all(&threads))?;
    row(out, "frame (median), ms", all(&|column| ms(column.frame.time)))?;
    let first = columns.first().map_or(Duration::ZERO, |column| column.frame.time).as_secs_f64();
    row(out, "times as fast", all(&|column| format!("{:.2}", first / column.frame.time.as_secs_f64())))?;
    let mut part = |title: &str, of: fn(&FrameUse) -> &BTreeMap<Activity, Duration>, is_wait: bool| {
        writeln!(out, "{title}")?;
        for activity in Activity::ALL.into_iter().filter(|activity| activity.is_wait() == is_wait) {
            let time = |column: &Column| of(&column.frame).get(&activity).copied().unwrap_or_default();
            if columns.iter().any(|column| !time(column).is_zero()) {
                row(out, &format!("  {}", activity.name()), all(&|column| ms(time(column))))?;
            }
        }
        io::Result::Ok(())
    };
    part("work of all threads, ms", |frame| &frame.busy, false)?;
    part("work while no other thread works, ms", |frame| &frame.alone, false)?;
    part("waiting of all threads, ms", |frame| &frame.busy, true)?;
    let rest = |column: &Column| {
        let known = column.frame.busy.values().sum();
        ms((column.frame.time * column.threads.into()).saturating_sub(known))
    };
    row(out, "  sleeps, or is not listed", all(&rest))?;
    match columns.iter().any(|column| column.is_predicted) {
        true => writeln!(out, "* predicted from the work of one thread"),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMANDS: Activity = Activity::Commands;
    const FRAGMENTS: Activity = Activity::Fragments;
    const WAIT: Activity = Activity::WaitForDraws;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn span(activity: Activity, start: u64, end: u64) -> Span {
        Span { activity, start: ms(start), end: ms(end) }
    }

    fn of<const N: usize>(map: &BTreeMap<Activity, Duration>, wanted: [Activity; N]) -> [u128; N] {
        wanted.map(|activity| map.get(&activity).map_or(0, Duration::as_millis))
    }

    #[test]
    fn time_within_a_span_counts_once() {
        // In the order in which they ended.
        let spans = [
            span(FRAGMENTS, 4, 6),
            span(FRAGMENTS, 7, 8),
            span(WAIT, 3, 9),
            span(COMMANDS, 0, 10),
            span(COMMANDS, 12, 13),
        ];
        let expected = [
            span(COMMANDS, 0, 3),
            span(WAIT, 3, 4),
            span(FRAGMENTS, 4, 6),
            span(WAIT, 6, 7),
            span(FRAGMENTS, 7, 8),
            span(WAIT, 8, 9),
            span(COMMANDS, 9, 10),
            span(COMMANDS, 12, 13),
        ];
        assert_eq!(pieces(&spans), expected);
    }

    #[test]
    fn work_is_alone_while_others_wait() {
        let threads = [
            vec![span(COMMANDS, 0, 4), span(FRAGMENTS, 4, 9)],
            vec![span(WAIT, 0, 5), span(FRAGMENTS, 5, 12)],
        ];
        let both = FrameUse::new(&threads, ms(1), ms(11));
        assert_eq!(of(&both.busy, [COMMANDS, FRAGMENTS, WAIT]), [3, 5 + 6, 4]);
        assert_eq!(of(&both.alone, [COMMANDS, FRAGMENTS, WAIT]), [3, 1 + 2, 0]);
    }

    #[test]
    fn the_table_has_a_column_for_each_number_of_threads() {
        let column = |threads, is_predicted, end| {
            let frame =
                |end| FrameUse::new(&[vec![span(COMMANDS, 0, 2), span(FRAGMENTS, 2, end)]], ms(0), ms(end));
            let frames = [2, end, end + 1].map(frame).to_vec();
            Column { threads, is_predicted, frame: FrameUse::median(frames) }
        };
        let mut text = Vec::new();
        write(&[column(1, false, 10), column(2, true, 5)], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let cells = |name: &str| -> Vec<&str> {
            let row = text.lines().find(|line| line.starts_with(name)).expect(name);
            row[26..].split_whitespace().collect()
        };
        assert_eq!(cells("threads"), ["1", "2*"]);
        assert_eq!(cells("times as fast"), ["1.00", "2.00"]);
        assert_eq!(cells("  fragments"), ["8.000", "3.000"]);
        assert_eq!(cells("  sleeps"), ["0.000", "5.000"], "{text}");
        assert!(!text.contains("vertices"), "{text}");
    }
}
