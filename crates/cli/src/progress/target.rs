//! A terminal whose last columns stay free.
use crate::format;
use console::Term;
use indicatif::TermLike;
use std::io;

/// Free columns. `indicatif` fills the line to the last column; a terminal then echoes `^C` on the
/// next line, which is cleared instead of the progress line.
pub(super) const MARGIN: usize = 3;

/// The terminal that shows the progress line.
#[derive(Debug)]
pub(super) struct Margined(pub(super) Term);

impl TermLike for Margined {
    fn width(&self) -> u16 {
        let columns = format::columns(&self.0).saturating_sub(MARGIN);
        u16::try_from(columns).unwrap_or(u16::MAX).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
