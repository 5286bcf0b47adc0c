//! Checks the function of a query handler.

use syn::{Attribute, FnArg, Ident, PatType, Path, ReturnType, Signature, Type};

use crate::codegen::{
    annotated_function::AnnotatedFunction,
    annotated_item,
    errors::Errors,
    parameters::FunctionKind,
    signature::{self, SignatureMessages},
    types,
};

/// A query handler without mistakes.
pub(crate) struct CheckedQueryHandler {
    pub(crate) ident: Ident,
    pub(crate) query: Type,
    /// The parameters after the query.
    pub(crate) parameters: Vec<QueryHandlerParameter>,
    /// The type of the answer.
    pub(crate) output: Type,
    /// The read models that the handler reads.
    pub(crate) reads: Vec<Path>,
    /// The attributes that the generated code repeats.
    pub(crate) forwarded: Vec<Attribute>,
}

/// A parameter of a query handler besides the query.
pub(crate) enum QueryHandlerParameter {
    Context,
    Caller,
    Service(Box<Type>),
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: None,
    no_unsafe: "a query handler is called by safe code: remove `unsafe`",
    no_extern: "a query handler is called from Rust: remove `extern`",
    no_generics: "a query handler answers one kind of query: name its type instead of a generic parameter",
};

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_query_handler(
    declared: &AnnotatedFunction,
    errors: &mut Errors,
) -> Option<CheckedQueryHandler> {
    let sig = &declared.item.sig;
    check_signature(sig, errors);
    let mut parameters = declared.parameters();
    let query = match parameters.next() {
        Some(first) => query(first, errors),
        None => {
            let message = format!(
                "a query handler takes its query: write `async fn {}(query: ListLoans, context: &QueryContext<'_>)`",
                sig.ident
            );
            errors.record(&sig.ident, message);
            None
        }
    };
    let parameters: Vec<_> = parameters.map(|one| parameter(one, errors)).collect();
    let output = output(sig, errors);
    Some(CheckedQueryHandler {
        ident: sig.ident.clone(),
        query: query?,
        parameters: parameters.into_iter().collect::<Option<_>>()?,
        output: output?,
        reads: Vec::new(),
        forwarded: annotated_item::forwarded(&declared.item.attrs),
    })
}

fn check_signature(sig: &Signature, errors: &mut Errors) {
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    if sig.asyncness.is_none() {
        let message = "a query handler waits for the database: write `async fn`";
        errors.record(sig.fn_token, message);
    }
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        let message = "a query handler is a function of its own: move it out of the `impl`, and take the query instead of `self`";
        errors.record(receiver, message);
    }
}

fn query(parameter: &PatType, errors: &mut Errors) -> Option<Type> {
    match &*parameter.ty {
        ty @ Type::Path(_) => Some(ty.clone()),
        other => {
            let query = match other {
                Type::Reference(reference) => types::last_word(&reference.elem),
                _ => None,
            };
            let message = format!(
                "the first parameter is the query, a struct with `#[derive(Query)]`, without `&`: write `query: {}`",
                query.as_deref().unwrap_or("ListLoans")
            );
            errors.record(other, message);
            None
        }
    }
}

fn parameter(parameter: &PatType, errors: &mut Errors) -> Option<QueryHandlerParameter> {
    for attr in &parameter.attrs {
        errors.record(attr, "this parameter has no attributes: remove this one");
    }
    let ty = match &*parameter.ty {
        Type::Reference(reference) if reference.mutability.is_none() => &reference.elem,
        other => {
            errors.record(other, FunctionKind::Query.refused());
            return None;
        }
    };
    Some(match types::last_word(ty).as_deref() {
        Some("QueryContext") => QueryHandlerParameter::Context,
        Some("Caller") => QueryHandlerParameter::Caller,
        _ => QueryHandlerParameter::Service(ty.clone()),
    })
}

/// Returns the type of the answer inside of the `Result`.
fn output(sig: &Signature, errors: &mut Errors) -> Option<Type> {
    let message =
        "a query handler answers, or says why not: write `-> Result<Page<Loan>, QueryError>`";
    let ReturnType::Type(_, ty) = &sig.output else {
        errors.record(&sig.ident, message);
        return None;
    };
    let output = types::first_argument(ty, "Result");
    if output.is_none() {
        errors.record(ty, message);
    }
    output.cloned()
}
