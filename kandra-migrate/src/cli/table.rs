//! Aligned columns.

use super::paint::{Paint, Painter};

/// One field of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    text: String,
    paint: Paint,
    is_right: bool,
}

impl Cell {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Aligned to the right, as numbers are.
    pub(super) fn number(number: i64) -> Self {
        Self { text: number.to_string(), is_right: true, ..Self::default() }
    }

    pub(super) fn right(mut self) -> Self {
        self.is_right = true;
        self
    }

    pub(super) fn painted(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }
}

/// The rows, as lines: each column as wide as its widest field, no space at the end of a line.
pub(super) fn render(rows: &[Vec<Cell>], painter: Painter) -> String {
    const BETWEEN: &str = "  ";
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut lines = String::new();
    for row in rows {
        let mut line = String::new();
        let mut gap = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let padding = " ".repeat(width - cell.text.chars().count());
            let (before, after) = if cell.is_right { (padding.as_str(), "") } else { ("", padding.as_str()) };
            if cell.text.is_empty() {
                gap.push_str(&padding);
            } else {
                line.push_str(&std::mem::take(&mut gap));
                line.push_str(before);
                line.push_str(&painter.paint(cell.paint, &cell.text));
                gap.push_str(after);
            }
            gap.push_str(BETWEEN);
        }
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_with_text() {
        let rows = [
            vec![Cell::new("VERSION").right(), Cell::new("NAME"), Cell::new("BY")],
            vec![Cell::number(1), Cell::new("größe"), Cell::new("me").painted(Paint::Dim)],
            vec![Cell::number(12), Cell::new("b"), Cell::default()],
        ];
        let plain = render(&rows, Painter { has_colour: false });
        assert_eq!(plain, "VERSION  NAME   BY\n      1  größe  me\n     12  b\n");
        let coloured = render(&rows, Painter { has_colour: true });
        assert_eq!(coloured, "VERSION  NAME   BY\n      1  größe  \x1b[2mme\x1b[0m\n     12  b\n");
    }
}
