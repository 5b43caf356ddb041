//! The JSON Schema of scenario files, generated from the types.

use super::format::File;

/// The schema, as JSON.
///
/// # Errors
/// The JSON cannot be written.
pub fn json_schema() -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&schemars::schema_for!(File)).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_made_from_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/scenario.schema.json");
        let schema = json_schema().expect("the schema can be written");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &schema).expect("the schema file can be written");
        }
        let published = std::fs::read_to_string(path).expect("the schema file is there");
        assert!(published == schema, "the schema is old: run UPDATE_DOCS=1 cargo test the_published_schema");
    }
}
