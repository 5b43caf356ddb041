//! Files → scenarios: finding them, parsing them, putting the parameters in. Nothing is run here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, ValueDeserializer};

use super::check;
use super::error::{FileError, Source};
use super::format::{File, Parameters};
use super::plan::Scenario;

/// Largest scenario file (bytes).
const FILE_BYTES_MAX: u64 = 1_000_000;
/// Most runs of one file: its cases times its seeds.
const RUNS_MAX: u64 = 100_000;
/// Most cases of one file. Each is a scenario of its own in memory, seeds share theirs.
const CASES_MAX: usize = 1_000;
/// Names that a message lists.
const NAMES_MAX: usize = 10;

/// The values of one case.
type Case = BTreeMap<String, serde_json::Value>;

/// Loads every scenario of `paths`: files, and `*.toml` in folders and below. Sorted by path.
///
/// # Errors
/// Everything that is wrong with any of them.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Scenario>, Vec<FileError>> {
    let mut errors = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        if let Err(error) = collect(path, &mut files) {
            errors.push(error);
        }
    }
    files.sort();
    files.dedup();
    if files.is_empty() && errors.is_empty() {
        let list = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        errors.push(whole(Path::new(&list), "expected scenario files (*.toml), found none"));
    }
    let mut scenarios: Vec<Scenario> = Vec::new();
    for path in &files {
        match load_file(path) {
            Ok(loaded) => scenarios.extend(loaded),
            Err(found) => errors.extend(found),
        }
    }
    let mut paths_of: BTreeMap<&str, &Path> = BTreeMap::new();
    for Scenario { name, path, .. } in &scenarios {
        if let Some(other) = paths_of.insert(name, path) {
            errors.push(whole(path, format!("the name \"{name}\" is already that of {}", other.display())));
        }
    }
    if errors.is_empty() { Ok(scenarios) } else { Err(errors) }
}

fn whole(path: &Path, message: impl Into<String>) -> FileError {
    FileError { path: path.to_owned(), line: 0, column: 0, message: message.into() }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let cannot_read = |error: std::io::Error| whole(path, format!("cannot be read: {error}"));
    if !std::fs::metadata(path).map_err(cannot_read)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?.path();
        if entry.is_dir() {
            collect(&entry, files)?;
        } else if entry.extension().is_some_and(|extension| extension == "toml") {
            files.push(entry);
        }
    }
    Ok(())
}

/// Loads one file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_file(path: &Path) -> Result<Vec<Scenario>, Vec<FileError>> {
    let cannot_read = |error: std::io::Error| vec![whole(path, format!("cannot be read: {error}"))];
    let size_bytes = std::fs::metadata(path).map_err(cannot_read)?.len();
    if size_bytes > FILE_BYTES_MAX {
        let message = format!("expected at most {FILE_BYTES_MAX} bytes, found {size_bytes}");
        return Err(vec![whole(path, message)]);
    }
    let text = std::fs::read_to_string(path).map_err(cannot_read)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Parsed::new(Source { path, folder: Some(folder), text: &text })?.scenarios()
}

/// Loads a text that is no file: it may name none either. `path` stands for it in messages.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_text(path: &Path, text: &str) -> Result<Vec<Scenario>, Vec<FileError>> {
    Parsed::new(Source { path, folder: None, text })?.scenarios()
}

/// Loads one scenario of a text that may have many by its cases and seeds; of the others only names are made. Without
/// a name the text must have just one.
///
/// # Errors
/// Everything that is wrong with it, or with the name.
pub fn load_one(path: &Path, text: &str, name: Option<&str>) -> Result<Scenario, Vec<FileError>> {
    Parsed::new(Source { path, folder: None, text })?.scenario(name)
}

/// A file as far as all its cases have it in common.
#[derive(Debug)]
struct Parsed<'a> {
    source: Source<'a>,
    tree: Spanned<DeTable<'a>>,
    /// At least one, with nothing in it where the file has none.
    cases: Vec<Case>,
    seeds: Option<RangeInclusive<u64>>,
}

impl<'a> Parsed<'a> {
    fn new(source: Source<'a>) -> Result<Self, Vec<FileError>> {
        let wrong = |error: toml::de::Error| vec![source.toml_error(&error)];
        let mut tree = DeTable::parse(source.text).map_err(wrong)?;
        let parameters = take_parameters(&mut tree).map_err(wrong)?;
        let seeds = check_runs(&source, &parameters)?;
        let mut cases = parameters.cases;
        if cases.is_empty() {
            cases.push(Case::new());
        }
        Ok(Self { source, tree, cases, seeds })
    }

    /// Every scenario.
    fn scenarios(&self) -> Result<Vec<Scenario>, Vec<FileError>> {
        let mut scenarios = Vec::new();
        // Most of what is wrong is so in every case.
        let mut errors: BTreeSet<FileError> = BTreeSet::new();
        for case in &self.cases {
            match self.of_case(case) {
                Ok(scenario) => match &self.seeds {
                    None => scenarios.push(scenario),
                    Some(seeds) => scenarios.extend(seeds.clone().map(|seed| with_seed(&scenario, seed))),
                },
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() { Ok(scenarios) } else { Err(errors.into_iter().collect()) }
    }

    /// The scenario of a name, or the only one.
    fn scenario(&self, name: Option<&str>) -> Result<Scenario, Vec<FileError>> {
        let runs = self.runs();
        let found = match (name, runs.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), _) => runs.iter().find(|run| run.name == name),
        };
        let Some(run) = found else {
            let names: Vec<&str> = runs.iter().take(NAMES_MAX).map(|run| run.name.as_str()).collect();
            let found = name.map_or("no name".to_owned(), |name| format!("\"{name}\""));
            let message = format!(
                "expected the name of one of {} scenarios, such as {}; found {found}",
                runs.len(),
                names.join(", ")
            );
            return Err(vec![whole(self.source.path, message)]);
        };
        let scenario = self.of_case(run.case)?;
        Ok(match run.seed {
            None => scenario,
            Some(seed) => with_seed(&scenario, seed),
        })
    }

    /// Every run by its name.
    fn runs(&self) -> Vec<Run<'_>> {
        let seeds: Vec<Option<u64>> =
            self.seeds.clone().map_or(vec![None], |seeds| seeds.map(Some).collect());
        let named = |case| {
            let name = self.name(case);
            seeds
                .iter()
                .map(move |&seed| {
                    let name = seed.map_or(name.clone(), |seed| seed_name(&name, seed));
                    Run { name, case, seed }
                })
                .collect::<Vec<_>>()
        };
        self.cases.iter().flat_map(named).collect()
    }

    /// The name of a case; what is wrong with it comes out when the case is loaded.
    fn name(&self, case: &Case) -> String {
        let written =
            self.tree.get_ref().get("name").and_then(|name| name.get_ref().as_str()).unwrap_or_default();
        case_name(filled(written, case), case)
    }

    fn of_case(&self, case: &Case) -> Result<Scenario, Vec<FileError>> {
        let mut scenario = load_case(&self.source, &self.tree, case)?;
        scenario.name = case_name(scenario.name, case);
        Ok(scenario)
    }
}

/// One run of a file.
#[derive(Debug)]
struct Run<'a> {
    name: String,
    case: &'a Case,
    seed: Option<u64>,
}

fn case_name(name: String, case: &Case) -> String {
    match case.get("case") {
        Some(case) => format!("{name}[{}]", plain(case)),
        None => name,
    }
}

fn seed_name(name: &str, seed: u64) -> String {
    format!("{name}#{seed}")
}

/// The same scenario under another seed.
fn with_seed(scenario: &Scenario, seed: u64) -> Scenario {
    let mut one = scenario.clone();
    one.name = seed_name(&scenario.name, seed);
    one.seed = seed;
    one.options.hardware.seed = seed;
    one
}

fn take_parameters(tree: &mut Spanned<DeTable<'_>>) -> Result<Parameters, toml::de::Error> {
    match tree.get_mut().remove("parameters") {
        Some(value) => Parameters::deserialize(ValueDeserializer::from(value)),
        None => Ok(Parameters::default()),
    }
}

/// The seeds of a file, if it does not ask for too many runs.
fn check_runs(
    source: &Source<'_>,
    parameters: &Parameters,
) -> Result<Option<RangeInclusive<u64>>, Vec<FileError>> {
    let cases = parameters.cases.len();
    if cases > CASES_MAX {
        return Err(vec![whole(source.path, format!("expected at most {CASES_MAX} cases, found {cases}"))]);
    }
    let Some(seeds) = &parameters.seeds else { return Ok(None) };
    let [first, last] = *seeds.get_ref();
    let per_case_max = RUNS_MAX / (cases.max(1) as u64);
    if first > last || last - first >= per_case_max {
        let message = format!(
            "expected seeds = [first, last] of at most {per_case_max} seeds for each of {} cases, found [{first}, {last}]",
            cases.max(1)
        );
        return Err(vec![source.error(&seeds.span(), message)]);
    }
    Ok(Some(first..=last))
}

fn load_case(
    source: &Source<'_>,
    tree: &Spanned<DeTable<'_>>,
    case: &Case,
) -> Result<Scenario, Vec<FileError>> {
    // JSON writes numbers, texts and lists of numbers as TOML does.
    let written: BTreeMap<&str, String> =
        case.iter().map(|(key, value)| (key.as_str(), value.to_string())).collect();
    let mut tree = tree.clone();
    let span = tree.span();
    let mut errors = Vec::new();
    for (_, value) in tree.get_mut().iter_mut() {
        substitute(source, value, case, &written, &mut errors);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let deserializer = toml::de::Deserializer::from(Spanned::new(span, tree.into_inner()));
    let file = File::deserialize(deserializer).map_err(|error| vec![source.toml_error(&error)])?;
    check::scenario(source, file)
}

/// Puts the values of a case in the place of `"${key}"`.
fn substitute<'a>(
    source: &Source<'_>,
    value: &mut Spanned<DeValue<'a>>,
    case: &Case,
    written: &'a BTreeMap<&str, String>,
    errors: &mut Vec<FileError>,
) {
    let span = value.span();
    match value.get_mut() {
        DeValue::Array(list) => {
            list.iter_mut().for_each(|item| substitute(source, item, case, written, errors));
        }
        DeValue::Table(table) => {
            table.iter_mut().for_each(|(_, item)| substitute(source, item, case, written, errors));
        }
        DeValue::String(text) => match replaced(text, case, written) {
            Ok(Some(new)) => *value.get_mut() = new,
            Ok(None) => {}
            Err(message) => errors.push(source.error(&span, message)),
        },
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

fn replaced<'a>(
    text: &DeString<'a>,
    case: &Case,
    written: &'a BTreeMap<&str, String>,
) -> Result<Option<DeValue<'a>>, String> {
    if !text.contains("${") {
        return Ok(None);
    }
    if let Some(key) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'))
        && let Some(toml) = written.get(key)
    {
        let value =
            DeValue::parse(toml).map_err(|error| format!("the value of {key}: {}", error.message()))?;
        return Ok(Some(value.into_inner()));
    }
    let new = filled(text, case);
    if new.contains("${") {
        let known: Vec<&str> = case.keys().map(String::as_str).collect();
        return Err(format!("\"{text}\" names a parameter that no case has; there is: {}", known.join(", ")));
    }
    Ok(Some(DeValue::String(new.into())))
}

/// A text with the values of a case in the place of their `${key}`.
fn filled(text: &str, case: &Case) -> String {
    case.iter()
        .fold(text.to_owned(), |text, (key, value)| text.replace(&format!("${{{key}}}"), &plain(value)))
}

/// A value as text without quotes.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
