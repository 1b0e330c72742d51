//! The API as an `OpenAPI` document, from the flags of the commands.
//!
//! In: the commands. Out: a path for each answer with its parameters, their meaning, values and
//! defaults. Only offered parameters are listed, so the document and the portal cannot differ.

use serde_json::{Map, Value, json};

use super::ask::{Asks, Parameter, Takes, answers};
use super::lakes::Lakes;

/// Keys of every answer: its origin, and its table.
const KEYS: [&str; 6] = ["program", "command", "source", "inputs", "settings", "table"];

/// The document.
pub(super) fn document(asks: &Asks, lakes: &Lakes) -> Value {
    let names: Vec<&str> = lakes.all().iter().map(|at| at.name.as_str()).collect();
    let mut paths = Map::new();
    for name in answers() {
        let mut parameters = vec![lake_parameter(name, &names)];
        parameters.extend(asks.parameters(name).iter().map(described));
        let about = asks.about(name);
        paths.insert(
            format!("/api/{name}"),
            json!({ "get": {
                "operationId": name,
                "summary": about,
                "description": format!("The same answer as `jobfate {name} --format json`."),
                "parameters": parameters,
                "responses": responses(),
            }}),
        );
    }
    for (path, about, kind) in [
        ("/healthz", "Whether the portal serves", "text/plain"),
        ("/metrics", "Counts for Prometheus", "text/plain"),
        ("/api/openapi.json", "This document", "application/json"),
    ] {
        let ok = json!({ "200": { "description": about, "content": { kind: {} } } });
        paths.insert(path.to_owned(), json!({ "get": { "summary": about, "responses": ok } }));
    }
    let keys: Map<String, Value> = KEYS.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "jobfate", "version": env!("CARGO_PKG_VERSION"),
            "description": "Answers from lakes of cluster traces. Errors name the parameter that is \
                wrong. If the portal has a token, send `Authorization: Bearer TOKEN`." },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": {
                "Answer": { "type": "object", "required": KEYS, "properties": keys },
                "Error": { "type": "object", "required": ["error", "parameter"], "properties": {
                    "error": { "type": "string" }, "parameter": { "type": ["string", "null"] } } },
            },
        },
        "security": [{}, { "token": [] }],
    })
}

fn responses() -> Value {
    let of = |about: &str, schema: &str| {
        let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
        json!({ "description": about, "content": { "application/json": { "schema": schema } } })
    };
    json!({
        "200": of("The answer", "Answer"),
        "400": of("A parameter is wrong", "Error"),
        "401": of("A token is needed", "Error"),
        "422": of("The lake cannot answer this", "Error"),
        "500": of("The question failed", "Error"),
        "503": of("A limit of time, memory or length was reached, or all workers are busy", "Error"),
    })
}

fn lake_parameter(command: &str, names: &[&str]) -> Value {
    let one = json!({ "type": "string", "enum": names, "default": names.first() });
    let schema = if command == "fairness" { json!({ "type": "array", "items": one }) } else { one };
    json!({ "name": "lake", "in": "query", "description": "The lake; by default the first",
        "schema": schema })
}

fn described(parameter: &Parameter) -> Value {
    let mut one = match &parameter.takes {
        Takes::YesOrNo => json!({ "type": "string", "enum": ["yes", "no"], "default": "no" }),
        Takes::Word(words) => {
            let words: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
            json!({ "type": "string", "enum": words })
        }
        Takes::Text(unit) => json!({ "type": "string", "title": unit }),
    };
    if let Some(default) = &parameter.default {
        one["default"] = json!(default);
    }
    let schema = if parameter.is_list { json!({ "type": "array", "items": one }) } else { one };
    let about = match &parameter.more {
        Some(more) => format!("{}. {more}", parameter.help),
        None => parameter.help.clone(),
    };
    json!({ "name": parameter.name, "in": "query", "description": about, "schema": schema })
}
