//! The lab's CSV form of a recording: columns `t`, `q_plan_1…`, `q_cmd_1…`, `q_1…`, `dq_1…`, `load_1…`,
//! `acc_x…acc_z`, `gyro_x…gyro_z`, in °, °/s, %, g; six columns a joint quantity, seven for runs with J7.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::protocol::telemetry::Sample;

use super::row::Row;
use super::time_table::{ReadError, TimeTable};

const JOINT_COLUMNS: [&str; 5] = ["q_plan", "q_cmd", "q", "dq", "load"];
const IMU_COLUMNS: [&str; 6] = ["acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"];

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
        let mut comma = "";
        for value in row_values(row, self.n) {
            write!(self.out, "{comma}{value}")?;
            comma = ",";
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

/// Reads a recording row by row.
#[derive(Debug)]
pub struct Reader<R> {
    table: TimeTable<R>,
    n: usize,
    values: Vec<f64>,
}

impl<R: Read> Reader<R> {
    /// Reads the header. `path` is for messages.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn new(input: R, path: &Path) -> Result<Self, ReadError> {
        let mut table = TimeTable::new(input, path)?;
        let n = if table.has("q_7") { JOINTS } else { ARM_JOINTS };
        table.choose(&column_names(n)[1..])?;
        Ok(Self { table, n, values: Vec::new() })
    }

    /// Joints of the recording, 6 or 7.
    pub fn joints(&self) -> usize {
        self.n
    }

    /// The next row, `None` at the end of the file.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(&mut self) -> Result<Option<Row>, ReadError> {
        Ok(self.table.read(&mut self.values)?.then(|| self.row()))
    }

    fn row(&self) -> Row {
        let (n, values) = (self.n, &self.values);
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
}

/// Reads a whole recording.
///
/// # Errors
/// [`ReadError`]; one without rows is none.
pub fn read_file(path: &Path) -> Result<(usize, Vec<Row>), ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let mut reader = Reader::new(file, path)?;
    let mut rows = Vec::new();
    while let Some(row) = reader.read()? {
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(reader.table.content(2, "a row per control cycle", "none"));
    }
    Ok((reader.joints(), rows))
}

/// Reads a recording as the telemetry it was made of.
///
/// # Errors
/// [`ReadError`]; also values that no telemetry can carry.
pub fn read_samples(path: &Path) -> Result<(usize, Vec<Sample>), ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let mut reader = Reader::new(file, path)?;
    let (n, mut samples) = (reader.joints(), Vec::new());
    while let Some(row) = reader.read()? {
        let sample = row.to_sample(n);
        let back = row_values(&Row::from_sample(&sample), n);
        for ((name, value), carried) in column_names(n).iter().zip(row_values(&row, n)).zip(back) {
            // A step is 0.09°, a unit of load 0.1 %, of rate 0.06 °/s.
            if (value - carried).abs() > 0.1 {
                let expected = format!("a value of column `{name}` that telemetry can carry");
                return Err(reader.table.content(reader.table.line(), expected, value.to_string()));
            }
        }
        samples.push(sample);
    }
    if samples.is_empty() {
        return Err(reader.table.content(2, "a row per control cycle", "none"));
    }
    Ok((n, samples))
}

/// A row's values in the order of the columns.
fn row_values(row: &Row, n: usize) -> Vec<f64> {
    let joints = [row.reference_deg, row.cmd_deg, row.position_deg, row.speed_dps, row.load_percent];
    let mut values = vec![row.t_s];
    values.extend(joints.iter().flat_map(|joints| &joints[..n]));
    values.extend(row.acc_g.iter().chain(&row.gyro_dps));
    values
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
    fn a_broken_field_and_a_missing_column_are_named() {
        let mut text = String::from_utf8(recording(6, &[sample_row(1.0), sample_row(2.0)])).expect("ASCII");
        text = text.replacen("\n0.004,", "\n0.004,x", 1);
        let mut reader = Reader::new(text.as_bytes(), Path::new("r.csv")).expect("header");
        reader.read().expect("the first row is whole");
        let message = reader.read().expect_err("the second is not").to_string();
        assert_eq!(message, "r.csv:3: expected a finite number in column 2 (`q_plan_1`), found `x2`");
        let message = Reader::new("t,q_1\n".as_bytes(), Path::new("r.csv")).expect_err("columns").to_string();
        assert_eq!(message, "r.csv:1: expected a column `q_plan_1`, found none");
    }

    #[test]
    fn a_recording_whose_values_no_telemetry_can_carry_is_refused_by_line_and_column() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let read = |rows: &[Row]| {
            std::fs::write(file.path(), recording(7, rows)).expect("room");
            read_samples(file.path()).map_err(|error| error.to_string())
        };
        let (n, samples) = read(&[sample_row(1.0), sample_row(2.0)]).expect("a recording");
        assert_eq!((n, samples.len(), samples[1].t_us), (7, 2, 4_000));
        for (column, change) in [
            ("t", (|row| row.t_s = 5_000.0) as fn(&mut Row)),
            ("q_plan_1", |row| row.reference_deg[0] = 1e300),
            ("q_7", |row| row.position_deg[6] = -200.0),
            ("dq_2", |row| row.speed_dps[1] = 5_000.0),
            ("load_6", |row| row.load_percent[5] = 103.0),
            ("acc_z", |row| row.acc_g[2] = 9.0),
            ("gyro_x", |row| row.gyro_dps[0] = -3_000.0),
        ] {
            let mut row = sample_row(2.0);
            change(&mut row);
            let error = read(&[sample_row(1.0), row]).expect_err("too much");
            let expected = format!(":3: expected a value of column `{column}` that telemetry can carry");
            assert!(error.contains(&expected), "{error}");
        }
    }
}
