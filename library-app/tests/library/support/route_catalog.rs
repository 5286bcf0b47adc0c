//! Requests to every route of a running service, from its OpenAPI document. A new route is among them by itself.

use reqwest::Method;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::json_of;

/// Parameters that a service might take without telling.
const UNDECLARED: [&str; 6] = ["sort", "order", "filter", "fields", "include", "q"];

/// The routes of a running service.
pub(crate) struct RouteCatalog {
    document: Value,
}

/// A request to one of the routes.
#[derive(Debug, Clone)]
pub(crate) struct CatalogRequest {
    /// The method and the path as the document has it, such as `GET /books/{id}`.
    pub(crate) route: String,
    pub(crate) method: Method,
    /// The path with its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<String>,
}

impl CatalogRequest {
    /// Returns all that the request says.
    pub(crate) fn text(&self) -> String {
        let Self {
            path,
            headers,
            body,
            ..
        } = self;
        format!("{path} {headers:?} {body:?}").to_lowercase()
    }

    fn with_header(&self, name: &str, value: &str) -> Self {
        let mut request = self.clone();
        request.headers.push((name.to_owned(), value.to_owned()));
        request
    }

    fn with_query(&self, name: &str, value: &str) -> Self {
        let query = serde_urlencoded::to_string([(name, value)]).unwrap();
        let path = format!("{}?{query}", self.path);
        let request = self.clone();
        Self { path, ..request }
    }
}

impl RouteCatalog {
    pub(crate) async fn read(url: &str, token: &str) -> Self {
        let request = super::client().get(format!("{url}/openapi.json"));
        let document = json_of(request.bearer_auth(token).send().await.unwrap()).await;
        assert!(document["paths"].is_object(), "{document}");
        Self { document }
    }

    /// Returns requests to every route, with each word as the value of each parameter and of each member of a body.
    /// Other words at the same places of the list make the same requests with these words. The first two are also
    /// values of each header, and of parameters that no route declares.
    pub(crate) fn requests(&self, words: &[String]) -> Vec<CatalogRequest> {
        let mut requests = Vec::new();
        for (template, operations) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let parameters = self.parameters(operation);
                for path in paths(template, &parameters, words) {
                    let method: Method = method.to_uppercase().parse().unwrap();
                    let route = format!("{method} {template}");
                    let plain = CatalogRequest {
                        route,
                        method,
                        path,
                        headers: Vec::new(),
                        body: None,
                    };
                    let bodies = self.bodies(&plain, operation, words);
                    requests.extend(bodies.flat_map(|request| {
                        let variations = self.variations(&request, &parameters, words);
                        [request].into_iter().chain(variations)
                    }));
                }
            }
        }
        requests
    }

    /// Returns the schemas of the parameters, each with its place and its name.
    fn parameters(&self, operation: &Value) -> Vec<(String, String, Value)> {
        let listed = operation["parameters"].as_array().into_iter().flatten();
        let resolved = listed.map(|one| self.resolve(one));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        resolved
            .map(|one| (text(&one["in"]), text(&one["name"]), one["schema"].clone()))
            .collect()
    }

    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(path) => self.document.pointer(&path[1..]).unwrap(),
            None => value,
        }
    }

    /// Returns the request with each body.
    fn bodies(
        &self,
        request: &CatalogRequest,
        operation: &Value,
        words: &[String],
    ) -> impl Iterator<Item = CatalogRequest> {
        let content = &operation["requestBody"]["content"]["application/json"];
        let bodies = if content.is_null() {
            vec![None]
        } else {
            let schema = self.resolve(&content["schema"]);
            let objects = self.objects(schema, words).into_iter();
            objects.map(|object| Some(object.to_string())).collect()
        };
        let request = request.clone();
        bodies.into_iter().map(move |body| CatalogRequest {
            body,
            ..request.clone()
        })
    }

    /// Returns objects with each combination of the values of their members.
    fn objects(&self, schema: &Value, words: &[String]) -> Vec<Value> {
        let mut objects = vec![Map::new()];
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let mut values = values(self.resolve(schema), words);
            if schema["format"] != "uuid" {
                values.retain(|(value, _)| Uuid::parse_str(value).is_err());
            }
            let extended = objects.iter().flat_map(|object| {
                values.iter().map(|(value, is_text)| {
                    let number = || serde_json::from_str(value).unwrap();
                    let value = if *is_text {
                        value.as_str().into()
                    } else {
                        number()
                    };
                    let mut object = object.clone();
                    object.insert(name.clone(), value);
                    object
                })
            });
            objects = extended.collect();
        }
        objects.into_iter().map(Value::Object).collect()
    }

    /// Returns the request with each value of each other parameter.
    fn variations(
        &self,
        request: &CatalogRequest,
        parameters: &[(String, String, Value)],
        words: &[String],
    ) -> Vec<CatalogRequest> {
        let mut varied = Vec::new();
        for (place, name, schema) in parameters {
            match place.as_str() {
                "query" => {
                    let schema = self.resolve(schema);
                    let values = values(schema, words);
                    varied.extend(
                        values
                            .iter()
                            .map(|(value, _)| request.with_query(name, value)),
                    );
                }
                "header" => {
                    let words = words.iter().take(2);
                    varied.extend(words.map(|word| request.with_header(name, word)));
                }
                _ => {}
            }
        }
        if request.method == Method::GET {
            varied.push(request.with_header("Accept", "text/event-stream"));
            for name in self
                .member_names()
                .iter()
                .map(String::as_str)
                .chain(UNDECLARED)
            {
                let words = words.iter().take(2);
                varied.extend(words.map(|word| request.with_query(name, word)));
            }
            for method in [Method::HEAD, Method::OPTIONS] {
                let request = request.clone();
                varied.push(CatalogRequest { method, ..request });
            }
        }
        varied
    }

    /// Returns the names of the members of all schemas: a query might take one as a parameter.
    fn member_names(&self) -> Vec<String> {
        let schemas = self.document["components"]["schemas"].as_object().unwrap();
        let members = schemas
            .values()
            .filter_map(|schema| schema["properties"].as_object());
        let mut names: Vec<_> = members.flat_map(Map::keys).cloned().collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Returns the paths with each combination of the values of their parameters.
fn paths(template: &str, parameters: &[(String, String, Value)], words: &[String]) -> Vec<String> {
    let mut paths = vec![template.to_owned()];
    for (_, name, schema) in parameters.iter().filter(|(place, ..)| place == "path") {
        let values = values(schema, words);
        let filled = paths.iter().flat_map(|path| {
            let fill = |(value, _): &(String, bool)| {
                path.replace(&format!("{{{name}}}"), &value.replace(' ', "%20"))
            };
            values.iter().map(fill)
        });
        paths = filled.collect();
    }
    paths
}

/// Returns values that fit a schema, and whether they are texts.
fn values(schema: &Value, words: &[String]) -> Vec<(String, bool)> {
    let texts = |words: Vec<&str>| {
        words
            .into_iter()
            .map(|word| (word.to_owned(), true))
            .collect()
    };
    let of_type = |name: &str| schema["type"] == name || schema["type"][0] == name;
    if let Some(values) = schema["enum"].as_array() {
        return texts(values.iter().filter_map(Value::as_str).collect());
    }
    if of_type("boolean") {
        return vec![("true".to_owned(), false)];
    }
    if of_type("integer") || of_type("number") {
        return vec![("1".to_owned(), false)];
    }
    let all = words.iter().map(String::as_str);
    if schema["format"] == "uuid" {
        return texts(all.filter(|word| Uuid::parse_str(word).is_ok()).collect());
    }
    texts(all.collect())
}
