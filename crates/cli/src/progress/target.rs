//! A terminal whose last columns stay free.
use crate::format;
use console::{Term, measure_text_width};
use indicatif::TermLike;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Free columns. `indicatif` fills the line to the last column; a terminal then echoes `^C` on the
/// next line, which is cleared instead of the progress line.
pub(super) const MARGIN: usize = 3;

/// The terminal that shows the progress line, and rows below it.
#[derive(Debug)]
pub(super) struct Margined {
    terminal: Term,
    /// Columns written since the last begin of a line.
    column: AtomicUsize,
}

impl Margined {
    pub(super) fn new(terminal: Term) -> Self {
        Self { terminal, column: AtomicUsize::new(0) }
    }
}

impl TermLike for Margined {
    fn width(&self) -> u16 {
        let columns = format::columns(&self.terminal).saturating_sub(MARGIN);
        u16::try_from(columns).unwrap_or(u16::MAX).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.terminal)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.terminal.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.terminal.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.terminal.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.terminal.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.column.store(0, Ordering::Relaxed);
        self.terminal.write_line(text)
    }

    // `indicatif` ends a line by filling it: the terminal is expected to go on in the next line by itself.
    fn write_str(&self, text: &str) -> io::Result<()> {
        let columns = measure_text_width(text);
        let mut before = self.column.load(Ordering::Relaxed);
        if text == "\r" {
            before = 0;
        } else if columns > 0 && before >= usize::from(TermLike::width(self)) {
            self.terminal.write_str("\n")?;
            before = 0;
        }
        self.column.store(before + columns, Ordering::Relaxed);
        self.terminal.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.column.store(0, Ordering::Relaxed);
        self.terminal.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.terminal.flush()
    }
}
