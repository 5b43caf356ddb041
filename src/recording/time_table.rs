//! Tables of numbers over time as CSV: column names, then rows. Whatever is wrong is named by file, line and column.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use csv::{ErrorKind, ReaderBuilder, StringRecord, Terminator, Trim};

/// Longest line that is read (bytes), so that a file without lines takes no memory: a row of 42 numbers has about 800.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The column of time (s).
const TIME: &str = "t";

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// What is in it.
    #[error("{}:{line}: expected {expected}, found {found}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What belongs there, with its column where it is one field.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Reads a table row by row.
#[derive(Debug)]
pub struct TimeTable<R> {
    rows: csv::Reader<Lines<R>>,
    path: PathBuf,
    names: StringRecord,
    /// Where the chosen columns are in a line, the time first.
    chosen: Vec<usize>,
    row: StringRecord,
    time_s: f64,
}

impl<R: Read> TimeTable<R> {
    /// Reads the line of names, which are compared without the spaces around them. `path` is for messages.
    ///
    /// # Errors
    /// [`ReadError`]: no column `t`, or a name that stands twice.
    pub fn new(input: R, path: &Path) -> Result<Self, ReadError> {
        // A carriage return is a space at the end of its line.
        let rows = ReaderBuilder::new()
            .trim(Trim::All)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Lines { input, line: 1, length: 0, ended: true });
        let mut table = Self {
            rows,
            path: path.to_owned(),
            names: StringRecord::new(),
            chosen: Vec::new(),
            row: StringRecord::new(),
            time_s: f64::NEG_INFINITY,
        };
        table.names = match table.rows.headers() {
            Ok(names) => names.clone(),
            Err(error) => return Err(table.refuse(error)),
        };
        let mut seen = BTreeSet::new();
        if let Some(name) = table.names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
            return Err(table.content(1, "every column once", format!("`{name}` twice")));
        }
        table.choose(&[TIME.to_owned()])?;
        Ok(table)
    }

    /// There is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|column| column == name)
    }

    /// Chooses the columns whose values [`TimeTable::read`] gives, behind the time.
    ///
    /// # Errors
    /// [`ReadError::Content`]: one is missing.
    pub fn choose(&mut self, names: &[String]) -> Result<(), ReadError> {
        self.chosen.clear();
        for name in core::iter::once(TIME).chain(names.iter().map(String::as_str)) {
            let at = self.names.iter().position(|column| column == name);
            let at = at.ok_or_else(|| self.content(1, format!("a column `{name}`"), "none"))?;
            self.chosen.push(at);
        }
        Ok(())
    }

    /// The values of the next row: the time, which rises from row to row, and the chosen columns. `false` at the end
    /// of the file. Blank lines are passed over.
    ///
    /// # Errors
    /// [`ReadError`]: a row of another length, a field that is no finite number, a time that does not rise.
    pub fn read(&mut self, values: &mut Vec<f64>) -> Result<bool, ReadError> {
        loop {
            match self.rows.read_record(&mut self.row) {
                Ok(true) if self.row.len() == 1 && self.row[0].is_empty() => {}
                Ok(true) => break,
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.refuse(error)),
            }
        }
        if self.row.len() != self.names.len() {
            let expected = format!("{} fields", self.names.len());
            return Err(self.content(self.line(), expected, self.row.len().to_string()));
        }
        values.clear();
        for &at in &self.chosen {
            let number = self.row[at].parse().ok().filter(|value: &f64| value.is_finite());
            values.push(number.ok_or_else(|| {
                let expected = format!("a finite number in column {} (`{}`)", at + 1, &self.names[at]);
                self.content(self.line(), expected, format!("`{}`", &self.row[at]))
            })?);
        }
        if values[0] <= self.time_s {
            let expected = format!("a time in column `{TIME}` above {} of the row before", self.time_s);
            return Err(self.content(self.line(), expected, values[0].to_string()));
        }
        self.time_s = values[0];
        Ok(true)
    }

    /// The line of the latest row, from 1.
    pub fn line(&self) -> u64 {
        // The reader is at the start of the line behind it.
        self.rows.position().line().saturating_sub(1).max(1)
    }

    /// An error in a line of this table.
    pub fn content(&self, line: u64, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::Content { path: self.path.clone(), line, expected: expected.into(), found: found.into() }
    }

    fn refuse(&self, error: csv::Error) -> ReadError {
        match error.into_kind() {
            ErrorKind::Io(source) => match source.downcast::<LongLine>() {
                Ok(LongLine { line }) => self.content(line, "a line of at most 64 KiB", "a longer one"),
                Err(source) => ReadError::Io { path: self.path.clone(), source },
            },
            ErrorKind::Utf8 { err, .. } => {
                let expected = format!("text in UTF-8 in column {}", err.field() + 1);
                self.content(self.line(), expected, "other bytes")
            }
            other => self.content(self.line(), "rows of numbers", format!("{other:?}")),
        }
    }
}

/// The lines of a file, the last one ended as well. Lines of more than [`LINE_BYTES_MAX`] are an error.
#[derive(Debug)]
struct Lines<R> {
    input: R,
    /// The line that is being read, from 1, and its bytes so far.
    line: u64,
    length: usize,
    /// It has its end.
    ended: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("line {line} has more than {LINE_BYTES_MAX} bytes")]
struct LongLine {
    line: u64,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n = self.input.read(buffer)?;
        if let ([first, ..], 0, false) = (&mut *buffer, n, self.ended) {
            *first = b'\n';
            n = 1;
        }
        for byte in &buffer[..n] {
            self.ended = *byte == b'\n';
            if self.ended {
                self.line += 1;
                self.length = 0;
            } else {
                self.length += 1;
            }
            if self.length > LINE_BYTES_MAX {
                return Err(io::Error::other(LongLine { line: self.line }));
            }
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &[u8]) -> Result<TimeTable<&[u8]>, ReadError> {
        TimeTable::new(text, Path::new("r.csv"))
    }

    /// What is wrong with a table, columns `t` and `a` read to the end.
    fn error(text: &[u8]) -> String {
        let read = || {
            let mut table = table(text)?;
            table.choose(&["a".to_owned()])?;
            let mut values = Vec::new();
            while table.read(&mut values)? {}
            Ok::<(), ReadError>(())
        };
        read().expect_err("a broken table").to_string()
    }

    #[test]
    fn chosen_columns_come_behind_the_time_whatever_their_order_marks_quotes_and_ends_of_line() {
        let mut table =
            table("\u{feff}\"a\", t ,b\r\n1,0,x\r\n\r\n 2 ,\"0.5\",y\r\n".as_bytes()).expect("a table");
        assert!(table.has("a") && !table.has("c"));
        table.choose(&["a".to_owned()]).expect("a column");
        let mut values = Vec::new();
        assert!(table.read(&mut values).expect("a row"));
        assert_eq!((values.as_slice(), table.line()), ([0.0, 1.0].as_slice(), 2));
        assert!(table.read(&mut values).expect("a row"));
        assert_eq!(values, [0.5, 2.0]);
        assert!(!table.read(&mut values).expect("the end"));
    }

    #[test]
    fn what_is_wrong_is_named_by_file_line_and_column() {
        let cases: [(&[u8], &str); 12] = [
            (b"", "r.csv:1: expected a column `t`, found none"),
            (b"t,b\n0,1\n", "r.csv:1: expected a column `a`, found none"),
            (b"t,a,a\n", "r.csv:1: expected every column once, found `a` twice"),
            (b"t,a\n0,1\n1,1x\n", "r.csv:3: expected a finite number in column 2 (`a`), found `1x`"),
            (b"t,a\n\n\n0,inf\n", "r.csv:4: expected a finite number in column 2 (`a`), found `inf`"),
            (b"t,a\r\n0,1\r\n1,\r\n", "r.csv:3: expected a finite number in column 2 (`a`), found ``"),
            (b"t,a\n0,1\n1,x", "r.csv:3: expected a finite number in column 2 (`a`), found `x`"),
            (b"t,a\n0\n", "r.csv:2: expected 2 fields, found 1"),
            (b"t,a\n0,1\n1,1,1\n", "r.csv:3: expected 2 fields, found 3"),
            (b"t,a\n0,1\n1,\xff\n", "r.csv:3: expected text in UTF-8 in column 2, found other bytes"),
            (b"t,a\n0,1\n0,1\n", "r.csv:3: expected a time in column `t` above 0 of the row before, found 0"),
            (
                b"t,a\n1,1\n0.5,1\n",
                "r.csv:3: expected a time in column `t` above 1 of the row before, found 0.5",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text), expected);
        }
    }

    #[test]
    fn a_file_without_lines_is_refused_before_it_takes_memory() {
        let endless = io::repeat(0);
        let error = TimeTable::new(endless, Path::new("zero")).expect_err("no lines").to_string();
        assert_eq!(error, "zero:1: expected a line of at most 64 KiB, found a longer one");
        let mut long = b"t,a\n0,1\n1,".to_vec();
        long.resize(100_000, b' ');
        assert_eq!(self::error(&long), "r.csv:3: expected a line of at most 64 KiB, found a longer one");
    }
}
