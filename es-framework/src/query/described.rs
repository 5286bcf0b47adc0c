//! The parameters of a query as those who ask it read about them.

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Gathers what a query's parameters are.
///
/// ```
/// use es_framework::{
///     Declaration, prelude::*,
///     query::{ParameterDescriptions, QueryParameters, Query, QueryError},
/// };
///
/// struct FindTree {
///     id: Uuid,
/// }
///
/// impl Query for FindTree {
///     const NAME: &'static str = "FindTree";
///     const SUMMARY: &'static str = "Shows one tree.";
///     const PATH: &'static str = "/trees/{id}";
///     const PAGED: bool = false;
///     const TABLES: &'static [&'static str] = &["trees"];
///     const FILTERS: &'static [es_framework::query::ColumnIndex] = &[];
///     const DECLARATION: Declaration = es_framework::declaration!();
///
///     fn parse(parameters: &mut QueryParameters) -> Result<Self, QueryError> {
///         let id = parameters.required("id")?;
///         Ok(Self { id })
///     }
///
///     fn describe(parameters: &mut ParameterDescriptions<'_>) {
///         parameters.required::<Uuid>("id", "The tree.");
///     }
/// }
/// ```
#[derive(Debug)]
pub struct ParameterDescriptions<'a> {
    generator: &'a mut SchemaGenerator,
    parameters: Vec<ParameterDescription>,
}

/// What is to be known of a parameter.
///
/// ```
/// use es_framework::query::ParameterDescription;
///
/// let (name, description) = ("status", "Whether the copy can be borrowed.");
/// let schema = schemars::json_schema!({ "enum": ["available", "lent"] });
/// let status = ParameterDescription { name, description, required: false, several: true, schema };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterDescription {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether it has to be there.
    pub required: bool,
    /// Whether it may be there several times.
    pub several: bool,
    /// The JSON schema of one value.
    pub schema: Schema,
}

impl<'a> ParameterDescriptions<'a> {
    /// No parameters yet.
    #[must_use]
    pub const fn new(generator: &'a mut SchemaGenerator) -> Self {
        let parameters = Vec::new();
        Self {
            generator,
            parameters,
        }
    }

    /// A parameter that has to be there.
    pub fn required<T: JsonSchema>(&mut self, name: &'static str, description: &'static str) {
        self.push::<T>(name, description, true, false);
    }

    /// A parameter that may be there.
    pub fn optional<T: JsonSchema>(&mut self, name: &'static str, description: &'static str) {
        self.push::<T>(name, description, false, false);
    }

    /// A parameter that may be there several times.
    pub fn several<T: JsonSchema>(&mut self, name: &'static str, description: &'static str) {
        self.push::<T>(name, description, false, true);
    }

    fn push<T: JsonSchema>(
        &mut self,
        name: &'static str,
        description: &'static str,
        required: bool,
        several: bool,
    ) {
        let schema = self.generator.subschema_for::<T>();
        self.parameters.push(ParameterDescription {
            name,
            description,
            required,
            several,
            schema,
        });
    }

    /// The parameters, in the order of the fields.
    #[must_use]
    pub fn into_vec(self) -> Vec<ParameterDescription> {
        self.parameters
    }
}
