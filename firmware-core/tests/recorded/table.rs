//! Reads the recorded vectors.

use std::collections::BTreeMap;

/// One row of a file, by column name.
pub(crate) struct Row<'a> {
    columns: &'a BTreeMap<&'a str, usize>,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    pub(crate) fn text(&self, column: &str) -> &str {
        self.fields[self.columns[column]]
    }

    pub(crate) fn f32(&self, column: &str) -> f32 {
        self.text(column).parse().unwrap_or_else(|error| panic!("{column}: {error}"))
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, column: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        self.text(column).parse().expect(column)
    }

    /// Columns `prefix1` to `prefixN`.
    pub(crate) fn numbered<const N: usize>(&self, prefix: &str) -> [f32; N] {
        core::array::from_fn(|k| self.f32(&format!("{prefix}{}", k + 1)))
    }
}

/// Calls `each` for every row of a file and returns how many there were.
pub(crate) fn for_rows(csv: &str, mut each: impl FnMut(&Row<'_>)) -> usize {
    let mut lines = csv.lines();
    let columns = lines.next().expect("a header").split(',').enumerate().map(|(k, name)| (name, k)).collect();
    let mut count = 0;
    for line in lines {
        each(&Row { columns: &columns, fields: line.split(',').collect() });
        count += 1;
    }
    count
}

pub(crate) fn assert_near(found: f32, expected: f32, tolerance: f32, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: found {found}, expected {expected} ± {tolerance}"
    );
}
