//! Parses the arguments of `#[query_handler(…)]`.

use proc_macro2::TokenStream;
use syn::{Expr, Meta, Path};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

const EXAMPLE: &str = "reads = [Loan, Book]";

/// Returns the read models that the handler reads.
pub(crate) fn parse_arguments(arguments: TokenStream, errors: &mut Errors) -> Vec<Path> {
    let mut keys = SeenKeys::new("query_handler", &["reads"]);
    let mut reads = Vec::new();
    for meta in attribute::parse_list(arguments, errors).0 {
        if keys.recognize(&meta, errors).is_some() {
            reads = read_models(&meta, errors);
        }
    }
    reads
}

fn read_models(meta: &Meta, errors: &mut Errors) -> Vec<Path> {
    let Some((_, elements)) = attribute::parse_one_or_several(meta, EXAMPLE, errors) else {
        return Vec::new();
    };
    let mut models = Vec::new();
    for element in elements {
        match element {
            Expr::Path(path) => models.push(path.path.clone()),
            other => {
                let message = format!(
                    "the handler reads structs with `#[derive(ReadModel)]`: write `{EXAMPLE}`"
                );
                errors.record(other, message);
            }
        }
    }
    models
}
