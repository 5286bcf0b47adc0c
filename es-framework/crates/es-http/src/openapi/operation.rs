//! The builder of an operation in the OpenAPI document.

use std::collections::{BTreeMap, btree_map::Entry};

use es_event::OwnerRule;
use serde_json::{Map, Value, json};

use super::{
    header, problem_schemas,
    security::{self, OperatorAccess},
};
use crate::problem::kind::{self, ProblemKind};

/// The problems of requests that exceed a limit of the server.
const LIMITS: [ProblemKind; 2] = [kind::ADDRESS_TOO_LONG, kind::HEADERS_TOO_LARGE];

/// An operation of a path.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    summary: String,
    description: String,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: BTreeMap<u16, Value>,
    problems: Vec<ProblemKind>,
    roles: &'static [&'static str],
    owner: Option<OwnerRule>,
    /// True if nobody needs a credential.
    public: bool,
    /// `Some` if the operation is for operators.
    operators: Option<OperatorAccess>,
}

/// A successful response.
#[derive(Debug)]
pub(crate) struct OpenApiResponse<'a> {
    status: u16,
    description: &'a str,
    headers: &'a [&'a str],
    /// The media types of the body and their schemas, if there is one.
    content: Map<String, Value>,
}

impl<'a> OpenApiResponse<'a> {
    pub(crate) fn new(status: u16, description: &'a str, headers: &'a [&'a str]) -> Self {
        Self {
            status,
            description,
            headers,
            content: Map::new(),
        }
    }

    pub(crate) fn with_json(self, schema: Value) -> Self {
        self.with_content("application/json", schema)
    }

    pub(crate) fn with_content(mut self, media_type: &str, schema: Value) -> Self {
        let content = json!({ "schema": schema });
        self.content.insert(media_type.to_owned(), content);
        self
    }
}

impl Operation {
    pub(crate) fn new(id: &str, summary: &str, description: &str) -> Self {
        Self {
            id: id.to_owned(),
            summary: summary.to_owned(),
            description: description.to_owned(),
            parameters: Vec::new(),
            body: None,
            answers: BTreeMap::new(),
            problems: Vec::new(),
            roles: &[],
            owner: None,
            public: false,
            operators: None,
        }
    }

    /// Restricts the operation to callers with one of these roles, and by a rule about the owner.
    pub(crate) fn with_caller_rules(
        mut self,
        roles: &'static [&'static str],
        owner: Option<OwnerRule>,
    ) -> Self {
        (self.roles, self.owner) = (roles, owner);
        let forbidden = (!roles.is_empty()).then_some(kind::FORBIDDEN);
        let field = owner.and_then(|rule| rule.field);
        let not_owner = field.map(|_| kind::NOT_OWNER);
        self.with_problems(forbidden.into_iter().chain(not_owner))
    }

    /// Requires no credential if the operation is public.
    pub(crate) fn with_public(mut self, public: bool) -> Self {
        self.public = public;
        self
    }

    /// Requires the credential of an operator.
    pub(crate) fn for_operators(mut self, access: OperatorAccess) -> Self {
        self.operators = Some(access);
        self.with_problems([kind::OPERATORS_ONLY])
    }

    /// Adds request headers of [`header::parameters`].
    pub(crate) fn with_headers(mut self, names: &[&str]) -> Self {
        let reference = |name| json!({ "$ref": format!("#/components/parameters/{name}") });
        self.parameters.extend(names.iter().map(reference));
        self
    }

    /// Adds a parameter in the path or the query.
    pub(crate) fn with_parameter(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a JSON body.
    pub(crate) fn with_body(mut self, schema: &Value, required: bool) -> Self {
        self.body = Some(json!({
            "required": required,
            "content": { "application/json": { "schema": schema } },
        }));
        self
    }

    pub(crate) fn with_answer(mut self, answer: OpenApiResponse<'_>) -> Self {
        let headers: Map<_, _> = answer
            .headers
            .iter()
            .map(|name| ((*name).to_owned(), header::header_reference(name)))
            .collect();
        let mut value = json!({ "description": answer.description });
        if !headers.is_empty() {
            value["headers"] = headers.into();
        }
        if !answer.content.is_empty() {
            value["content"] = answer.content.into();
        }
        self.answers.insert(answer.status, value);
        self
    }

    /// Adds problems that the operation can return.
    pub(crate) fn with_problems(mut self, problems: impl IntoIterator<Item = ProblemKind>) -> Self {
        for kind in problems {
            if !self.problems.contains(&kind) {
                self.problems.push(kind);
            }
        }
        self
    }

    /// Returns the operation as JSON.
    pub(crate) fn into_json(self, tag: &str) -> Value {
        let credential: &[_] = match self.operators {
            Some(_) => &[],
            None => &security::PROBLEMS,
        };
        let this = self
            .with_problems(credential.iter().copied())
            .with_problems(LIMITS);
        let security = match this.operators {
            Some(access) => security::operator_requirement(access),
            None if this.public => security::no_requirement(),
            None => security::caller_requirement(this.roles),
        };
        let mut paragraphs = vec![
            this.description.clone(),
            security::access_description(this.roles, this.public),
            this.owner.map(|rule| rule.describe()).unwrap_or_default(),
        ];
        paragraphs.retain(|text| !text.is_empty());
        let mut operation = json!({
            "operationId": this.id,
            "tags": [tag],
            "summary": this.summary,
            "security": security,
        });
        if !paragraphs.is_empty() {
            operation["description"] = paragraphs.join("\n\n").into();
        }
        if !this.parameters.is_empty() {
            operation["parameters"] = this.parameters.into();
        }
        if let Some(body) = this.body {
            operation["requestBody"] = body;
        }
        operation["responses"] = responses(this.answers, this.problems).into();
        operation
    }
}

/// Describes a parameter in the query of the address.
pub(super) fn query_parameter(name: &str, description: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "query", "description": description, "schema": schema })
}

/// Returns all responses by status.
fn responses(answers: BTreeMap<u16, Value>, problems: Vec<ProblemKind>) -> Map<String, Value> {
    let mut responses = answers;
    let mut by_status: BTreeMap<u16, Vec<ProblemKind>> = BTreeMap::new();
    for kind in problems {
        let status = kind.status.as_u16();
        by_status.entry(status).or_default().push(kind);
    }
    for (status, kinds) in by_status {
        let problem = problem_schemas::problem_response(&kinds);
        match responses.entry(status) {
            Entry::Vacant(place) => {
                place.insert(problem);
            }
            // The status already has a response with another media type.
            Entry::Occupied(mut place) => {
                let answer = place.get_mut();
                answer["content"][problem_schemas::MEDIA_TYPE] =
                    problem["content"][problem_schemas::MEDIA_TYPE].clone();
            }
        }
    }
    let by_text = |(status, answer): (u16, Value)| (status.to_string(), answer);
    responses.into_iter().map(by_text).collect()
}
