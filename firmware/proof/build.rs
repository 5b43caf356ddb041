//! Packs the recorded CSV vectors that the host tests use into little-endian tables, so that a program without
//! files can read them.
//!
//! A table is the number of columns (u32), then the rows: one f32 per numeric column, in the order asked for.
//! A message file is, for each row, the length (u32) and the bytes of its `hex` column.

use std::fs;
use std::path::{Path, PathBuf};

const JOINTS: usize = 7;
const ARM_JOINTS: usize = 6;

/// The names `prefix1` to `prefixN`.
fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{prefix}{number}")).collect()
}

/// Column names from plain names and numbered groups.
fn columns(parts: &[(&str, usize)]) -> Vec<String> {
    let part = |&(name, count): &(&str, usize)| {
        if count == 0 { vec![name.to_owned()] } else { numbered(name, count) }
    };
    parts.iter().flat_map(part).collect()
}

struct Packer {
    data: PathBuf,
    out: PathBuf,
}

impl Packer {
    /// The fields of the named columns, row by row.
    fn rows(&self, file: &str, names: &[String]) -> Vec<Vec<String>> {
        let path = self.data.join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("failed to read the vectors {}: {error}", path.display()));
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let places: Vec<usize> = names
            .iter()
            .map(|name| {
                header
                    .iter()
                    .position(|column| column == name)
                    .unwrap_or_else(|| panic!("{file} has no column {name}"))
            })
            .collect();
        lines
            .map(|line| {
                let fields: Vec<&str> = line.split(',').collect();
                places.iter().map(|place| fields[*place].to_owned()).collect()
            })
            .collect()
    }

    fn table(&self, name: &str, files: &[&str], parts: &[(&str, usize)]) {
        let names = columns(parts);
        let mut bytes = (names.len() as u32).to_le_bytes().to_vec();
        for row in files.iter().flat_map(|file| self.rows(file, &names)) {
            for field in row {
                let value: f32 =
                    field.parse().unwrap_or_else(|_| panic!("{name}: expected a number, found {field}"));
                bytes.extend(value.to_le_bytes());
            }
        }
        self.write(name, &bytes);
    }

    fn messages(&self, name: &str, file: &str, column: &str) {
        let mut bytes = Vec::new();
        for row in self.rows(file, &[column.to_owned()]) {
            let hex = &row[0];
            bytes.extend((hex.len() as u32 / 2).to_le_bytes());
            bytes.extend((0..hex.len() / 2).map(|k| {
                u8::from_str_radix(&hex[2 * k..2 * k + 2], 16)
                    .unwrap_or_else(|_| panic!("{file}: expected hex, found {hex}"))
            }));
        }
        self.write(name, &bytes);
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.out.join(name);
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("failed to write {}: {error}", path.display()));
    }
}

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let data = Path::new(&root).join("../../firmware-core/tests/data");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    let packer = Packer { data, out };
    // The linker is a program of this folder, with options of its own: cargo does not know.
    println!("cargo::rerun-if-changed={root}/chip");
    for option in ["XL_OPT", "XL_ATTR"] {
        println!("cargo::rerun-if-env-changed={option}");
    }

    packer.table("minjerk.bin", &["minjerk.csv"], &[("x", 0)]);
    packer.table("moves.bin", &["move_min_duration.csv"], &[("n", 0), ("start", JOINTS), ("goal", JOINTS)]);
    let run = [("q", JOINTS), ("v", JOINTS)];
    packer.table(
        "jog.bin",
        &["jog.csv"],
        &[&[("step", 0), ("dt", 0), ("n", 0), ("target", JOINTS)][..], &run].concat(),
    );
    packer.table(
        "track.bin",
        &["track.csv"],
        &[&[("step", 0), ("dt", 0), ("n", 0), ("vmax", 0), ("stop", 0), ("goal", JOINTS)][..], &run].concat(),
    );
    packer.table("signal_starts.bin", &["signal_params.csv"], &[("start", ARM_JOINTS)]);
    packer.messages("signal_params.bin", "signal_params.csv", "params_hex");
    packer.table("signal_times.bin", &["signal.csv"], &[("set", 0), ("t", 0)]);
    packer.messages("signal_validate.bin", "signal_validate.csv", "params_hex");
    packer.table("fk.bin", &["fk.csv"], &[("tcp", 0), ("q", ARM_JOINTS)]);
    packer.table("jacobian.bin", &["jacobian.csv"], &[("tcp", 0), ("q", ARM_JOINTS)]);
    let twist_inputs = [("tcp", 0), ("tool", 0), ("vmax", 0), ("dt", 0), ("want", ARM_JOINTS)];
    let twist_state = [("q", ARM_JOINTS), ("qd", ARM_JOINTS)];
    packer.table(
        "twist.bin",
        &["twist.csv", "twist2.csv"],
        &[&[("step", 0)][..], &twist_inputs, &twist_state].concat(),
    );
    packer.table(
        "twist_single.bin",
        &["twist_single.csv"],
        &[
            &twist_inputs[..],
            &twist_state,
            &[("v", ARM_JOINTS), ("tr", 9), ("tp", 3), ("sigma", 0), ("sigma_age", 0)],
        ]
        .concat(),
    );
    packer.messages("protocol.bin", "protocol.csv", "hex");
    packer.messages("crc32c.bin", "crc32c.csv", "hex");
}
