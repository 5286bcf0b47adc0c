//! The descriptions of a query's parameters for the OpenAPI document.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::QueryField;

/// Collects the descriptions of a query's parameters.
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
///     const INDEXES: &'static [es_framework::query::RequiredIndex] = &[];
///     const DECLARATION: Declaration = es_framework::declaration!();
///
///     fn parse(parameters: &mut QueryParameters) -> Result<Self, QueryError> {
///         let id = parameters.take_required("id")?;
///         Ok(Self { id })
///     }
///
///     fn describe(parameters: &mut ParameterDescriptions<'_>) {
///         parameters.add_required::<Uuid>("id", "The tree.");
///     }
/// }
/// ```
#[derive(Debug)]
pub struct ParameterDescriptions<'a> {
    generator: &'a mut SchemaGenerator,
    parameters: Vec<ParameterDescription>,
}

/// The description of a query's parameter.
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
    /// The name of the parameter.
    pub name: &'static str,
    /// The doc comment of the parameter's field.
    pub description: &'static str,
    /// True if the parameter has to be present.
    pub required: bool,
    /// True if the parameter takes several values.
    pub several: bool,
    /// The JSON schema of one value.
    pub schema: Schema,
}

impl<'a> ParameterDescriptions<'a> {
    /// Creates an empty list of descriptions.
    #[must_use]
    pub const fn new(generator: &'a mut SchemaGenerator) -> Self {
        let parameters = Vec::new();
        Self {
            generator,
            parameters,
        }
    }

    /// Adds a parameter whose type says how many values it takes.
    pub fn add<T: QueryField<Value: JsonSchema>>(
        &mut self,
        name: &'static str,
        description: &'static str,
    ) {
        let several = T::COUNT.is_several();
        self.push::<T::Value>(name, description, T::COUNT.is_required(), several);
    }

    /// Adds a parameter that has to be present.
    pub fn add_required<T: JsonSchema>(&mut self, name: &'static str, description: &'static str) {
        self.push::<T>(name, description, true, false);
    }

    /// Adds a parameter that may be absent.
    pub fn add_optional<T: JsonSchema>(&mut self, name: &'static str, description: &'static str) {
        self.push::<T>(name, description, false, false);
    }

    /// Adds a parameter that takes several values.
    pub fn add_multi_valued<T: JsonSchema>(
        &mut self,
        name: &'static str,
        description: &'static str,
    ) {
        self.push::<T>(name, description, false, true);
    }

    /// Adds the description of a parameter of type `T`.
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

    /// Returns the parameters in the order of the fields.
    #[must_use]
    pub fn into_vec(self) -> Vec<ParameterDescription> {
        self.parameters
    }
}
