//! The lab's CSV form of a recording: columns `t`, `q_plan_1…`, `q_cmd_1…`, `q_1…`, `dq_1…`, `load_1…`,
//! `acc_x…acc_z`, `gyro_x…gyro_z`, in °, °/s, %, g; six columns a joint quantity, seven for runs with J7.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use firmware_core::joints::{ARM_JOINTS, JOINTS};

use super::row::Row;

const JOINT_COLUMNS: [&str; 5] = ["q_plan", "q_cmd", "q", "dq", "load"];
const IMU_COLUMNS: [&str; 6] = ["acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"];
/// Longest line that is read (bytes): a row of 42 numbers has about 800.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Names of the columns of a run of `n` joints, in order.
pub fn column_names(n: usize) -> Vec<String> {
    let mut names = vec!["t".to_owned()];
    for quantity in JOINT_COLUMNS {
        names.extend((1..=n).map(|joint| format!("{quantity}_{joint}")));
    }
    names.extend(IMU_COLUMNS.map(str::to_owned));
    names
}

/// Writes a recording row by row.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    n: usize,
}

impl<W: Write> Writer<W> {
    /// Begins a recording of `n` joints (6 or 7) with its header line.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(mut out: W, n: usize) -> std::io::Result<Self> {
        writeln!(out, "{}", column_names(n).join(","))?;
        Ok(Self { out, n })
    }

    /// Appends one row. Numbers have as many digits as bring back the same value.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&mut self, row: &Row) -> std::io::Result<()> {
        write!(self.out, "{}", row.t_s)?;
        for values in [row.reference_deg, row.cmd_deg, row.position_deg, row.speed_dps, row.load_percent] {
            for value in &values[..self.n] {
                write!(self.out, ",{value}")?;
            }
        }
        for value in row.acc_g.iter().chain(&row.gyro_dps) {
            write!(self.out, ",{value}")?;
        }
        writeln!(self.out)
    }

    /// Ends the recording and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> std::io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The header lacks columns.
    #[error(
        "{}:1: column `{column}` is missing; expected a recording with the columns t, q_plan_1…, q_cmd_1…, q_1…, \
         dq_1…, load_1…, acc_x…gyro_z",
        path.display()
    )]
    ColumnMissing {
        /// The file.
        path: PathBuf,
        /// The first column that is missing.
        column: String,
    },
    /// A field is not a finite number, or a row is too short or too long.
    #[error("{}:{line}:{column}: expected {expected}, found {found}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// There is a header and nothing else.
    #[error("{}: no rows; expected one row per control cycle", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a recording row by row.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    /// For each column of the file, the place of its value in a row; `None` for columns that are not ours.
    places: Vec<Option<usize>>,
    n: usize,
    line: usize,
    text: String,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header. `path` is for messages.
    ///
    /// # Errors
    /// [`ReadError::Io`], [`ReadError::ColumnMissing`].
    pub fn new(input: R, path: &Path) -> Result<Self, ReadError> {
        let mut reader =
            Self { input, path: path.to_owned(), places: Vec::new(), n: 0, line: 0, text: String::new() };
        reader.next_line()?;
        let header: Vec<String> = reader.text.trim().split(',').map(|name| name.trim().to_owned()).collect();
        let has_j7 = header.iter().any(|name| name == "q_7");
        reader.n = if has_j7 { JOINTS } else { ARM_JOINTS };
        let wanted = column_names(reader.n);
        if let Some(column) = wanted.iter().find(|name| !header.contains(name)) {
            return Err(ReadError::ColumnMissing { path: path.to_owned(), column: column.clone() });
        }
        reader.places = header.iter().map(|name| wanted.iter().position(|wanted| wanted == name)).collect();
        Ok(reader)
    }

    /// Joints of the recording, 6 or 7.
    pub fn joints(&self) -> usize {
        self.n
    }

    /// The next row, `None` at the end of the file. Blank lines are passed over.
    ///
    /// # Errors
    /// [`ReadError::Io`], [`ReadError::Row`].
    pub fn read(&mut self) -> Result<Option<Row>, ReadError> {
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            if !self.text.trim().is_empty() {
                return self.parse_row().map(Some);
            }
        }
    }

    fn next_line(&mut self) -> Result<bool, ReadError> {
        // The line before gives its memory to this one.
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        self.line += 1;
        let mut limited = std::io::Read::take(&mut self.input, LINE_BYTES_MAX as u64);
        let length = limited
            .read_until(b'\n', &mut bytes)
            .map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
        self.text = String::from_utf8(bytes).map_err(|error| {
            let right = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            self.broken(String::from_utf8_lossy(right).chars().count() + 1, "text in UTF-8", "other bytes")
        })?;
        if length == LINE_BYTES_MAX {
            return Err(self.broken(1, "a line of at most 64 KiB", "a longer one"));
        }
        Ok(length > 0)
    }

    fn parse_row(&self) -> Result<Row, ReadError> {
        let mut values = [0.0; 1 + 5 * JOINTS + 6];
        let line = self.text.trim_end_matches(['\n', '\r']);
        let mut column = 1;
        let mut places = self.places.iter();
        for field in line.split(',') {
            let Some(place) = places.next() else {
                return Err(self.broken(column, &format!("{} fields", self.places.len()), "more"));
            };
            if let Some(place) = place {
                values[*place] = match field.trim().parse::<f64>() {
                    Ok(value) if value.is_finite() => value,
                    Ok(_) | Err(_) => {
                        return Err(self.broken(column, "a finite number", &format!("`{field}`")));
                    }
                };
            }
            column += field.chars().count() + 1;
        }
        let missing = places.count();
        if missing > 0 {
            let found = format!("{}", self.places.len() - missing);
            return Err(self.broken(column, &format!("{} fields", self.places.len()), &found));
        }
        Ok(self.row(&values))
    }

    fn row(&self, values: &[f64]) -> Row {
        let n = self.n;
        let joints = |quantity: usize| {
            core::array::from_fn(|joint| if joint < n { values[1 + quantity * n + joint] } else { 0.0 })
        };
        let imu = |at: usize| core::array::from_fn(|axis| values[1 + 5 * n + at + axis]);
        Row {
            t_s: values[0],
            reference_deg: joints(0),
            cmd_deg: joints(1),
            position_deg: joints(2),
            speed_dps: joints(3),
            load_percent: joints(4),
            acc_g: imu(0),
            gyro_dps: imu(3),
        }
    }

    fn broken(&self, column: usize, expected: &str, found: &str) -> ReadError {
        ReadError::Row {
            path: self.path.clone(),
            line: self.line,
            column,
            expected: expected.to_owned(),
            found: found.to_owned(),
        }
    }
}

/// Reads a whole recording.
///
/// # Errors
/// [`ReadError`], with file, line and column.
pub fn read_file(path: &Path) -> Result<(usize, Vec<Row>), ReadError> {
    let file = std::fs::File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let mut reader = Reader::new(std::io::BufReader::new(file), path)?;
    let mut rows = Vec::new();
    while let Some(row) = reader.read()? {
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    Ok((reader.joints(), rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(n: usize, rows: &[Row]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), n).expect("memory");
        for row in rows {
            writer.write(row).expect("memory");
        }
        writer.finish().expect("memory")
    }

    fn sample_row(seed: f64) -> Row {
        Row {
            t_s: seed * 0.002,
            reference_deg: core::array::from_fn(|j| seed + j as f64 * 0.087_890_625),
            load_percent: [-0.1 * seed; JOINTS],
            gyro_dps: [1.0 / 16.4, -seed, 0.0],
            ..Row::default()
        }
    }

    #[test]
    fn what_was_written_is_read_back_exactly() {
        let rows: Vec<Row> = (0..5).map(|k| sample_row(f64::from(k))).collect();
        let bytes = recording(7, &rows);
        let mut reader = Reader::new(bytes.as_slice(), Path::new("r.csv")).expect("header");
        assert_eq!(reader.joints(), 7);
        for row in &rows {
            assert_eq!(reader.read().expect("row").as_ref(), Some(row));
        }
        assert!(reader.read().expect("end").is_none());
    }

    #[test]
    fn six_joints_have_37_columns_with_the_lab_names() {
        let text = String::from_utf8(recording(6, &[])).expect("ASCII");
        let names: Vec<&str> = text.trim().split(',').collect();
        assert_eq!(names.len(), 37);
        assert_eq!(
            (names[0], names[1], names[7], names[13], names[19], names[25]),
            ("t", "q_plan_1", "q_cmd_1", "q_1", "dq_1", "load_1")
        );
        assert_eq!(names[31..], ["acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_named_by_file_line_and_column() {
        let mut bytes = recording(6, &[sample_row(1.0)]);
        bytes.extend(b"0.004,1,\xff2,3\n");
        let mut reader = Reader::new(bytes.as_slice(), Path::new("r.csv")).expect("header");
        reader.read().expect("the first row is whole");
        let error = reader.read().expect_err("no text").to_string();
        assert!(error.starts_with("r.csv:3:9: ") && error.contains("UTF-8"), "{error}");
    }

    #[test]
    fn a_broken_field_is_named_by_file_line_and_column() {
        let mut text = String::from_utf8(recording(6, &[sample_row(1.0), sample_row(2.0)])).expect("ASCII");
        text = text.replacen("\n0.004,", "\n0.004,x", 1);
        let mut reader = Reader::new(text.as_bytes(), Path::new("r.csv")).expect("header");
        reader.read().expect("the first row is whole");
        let message = reader.read().expect_err("the second is not").to_string();
        assert_eq!(message, "r.csv:3:7: expected a finite number, found `x2`");
    }

    #[test]
    fn a_short_row_a_missing_column_and_an_infinite_number_are_refused() {
        let text = String::from_utf8(recording(6, &[])).expect("ASCII") + "1,2,3\n";
        let mut reader = Reader::new(text.as_bytes(), Path::new("r.csv")).expect("header");
        assert_eq!(reader.read().expect_err("short").to_string(), "r.csv:2:7: expected 37 fields, found 3");
        let message = Reader::new("t,q_1\n".as_bytes(), Path::new("r.csv")).expect_err("columns").to_string();
        assert!(message.starts_with("r.csv:1: column `q_plan_1` is missing"), "{message}");
        let text =
            String::from_utf8(recording(6, &[sample_row(1.0)])).expect("ASCII").replace("0.002,", "inf,");
        let mut reader = Reader::new(text.as_bytes(), Path::new("r.csv")).expect("header");
        assert_eq!(
            reader.read().expect_err("infinite").to_string(),
            "r.csv:2:1: expected a finite number, found `inf`"
        );
    }
}
