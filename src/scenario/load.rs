//! Files → scenarios: finding them, parsing them, putting the parameters in. Nothing is run here.

use std::collections::BTreeMap;
use std::ops::Range;
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
/// Most runs that the seeds of one file may ask for.
const SEEDS_MAX: u64 = 100_000;

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
    for (i, scenario) in scenarios.iter().enumerate() {
        if let Some(other) = scenarios[..i].iter().find(|other| other.name == scenario.name) {
            let message =
                format!("the name \"{}\" is already that of {}", scenario.name, other.path.display());
            errors.push(whole(&scenario.path, message));
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
    load_text(path, &text)
}

/// Loads the text of a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_text(path: &Path, text: &str) -> Result<Vec<Scenario>, Vec<FileError>> {
    let source = Source { path, text };
    let mut tree = DeTable::parse(text).map_err(|error| vec![source.toml_error(&error)])?;
    let parameters = take_parameters(&mut tree).map_err(|error| vec![source.toml_error(&error)])?;
    let seeds = check_seeds(&source, &parameters)?;

    let mut scenarios = Vec::new();
    let mut errors: Vec<FileError> = Vec::new();
    let no_case = [BTreeMap::new()];
    let cases = if parameters.cases.is_empty() { &no_case[..] } else { &parameters.cases };
    for case in cases {
        match load_case(&source, &tree, case) {
            Ok(scenario) => scenarios.extend(with_seeds(&scenario, case, seeds.as_ref())),
            Err(found) => {
                for error in found {
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(scenarios) } else { Err(errors) }
}

fn take_parameters(tree: &mut Spanned<DeTable<'_>>) -> Result<Parameters, toml::de::Error> {
    match tree.get_mut().remove("parameters") {
        Some(value) => Parameters::deserialize(ValueDeserializer::from(value)),
        None => Ok(Parameters::default()),
    }
}

fn check_seeds(source: &Source<'_>, parameters: &Parameters) -> Result<Option<Range<u64>>, Vec<FileError>> {
    let Some(seeds) = &parameters.seeds else { return Ok(None) };
    let [first, last] = *seeds.get_ref();
    if first > last || last - first >= SEEDS_MAX {
        let message =
            format!("expected seeds = [first, last] of at most {SEEDS_MAX} seeds, found [{first}, {last}]");
        return Err(vec![source.error(&seeds.span(), message)]);
    }
    Ok(Some(first..last + 1))
}

fn with_seeds(
    scenario: &Scenario,
    case: &BTreeMap<String, serde_json::Value>,
    seeds: Option<&Range<u64>>,
) -> Vec<Scenario> {
    let mut named = scenario.clone();
    if let Some(name) = case.get("case") {
        named.name = format!("{}[{}]", named.name, plain(name));
    }
    match seeds {
        None => vec![named],
        Some(seeds) => seeds
            .clone()
            .map(|seed| {
                let mut one = named.clone();
                one.name = format!("{}#{seed}", named.name);
                one.seed = seed;
                one.options.hardware.seed = seed;
                one
            })
            .collect(),
    }
}

fn load_case(
    source: &Source<'_>,
    tree: &Spanned<DeTable<'_>>,
    case: &BTreeMap<String, serde_json::Value>,
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
    case: &BTreeMap<String, serde_json::Value>,
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
    case: &BTreeMap<String, serde_json::Value>,
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
    let mut new = text.to_string();
    for (key, value) in case {
        new = new.replace(&format!("${{{key}}}"), &plain(value));
    }
    if new.contains("${") {
        let known: Vec<&str> = case.keys().map(String::as_str).collect();
        return Err(format!("\"{text}\" names a parameter that no case has; there is: {}", known.join(", ")));
    }
    Ok(Some(DeValue::String(new.into())))
}

/// A value as text without quotes.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
