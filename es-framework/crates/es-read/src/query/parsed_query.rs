//! A query with its parsed parameters, without its Rust type. The route parses it first and runs it when the read
//! models have reached the requested position.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::{PageParameters, QueryContext, QueryError, QueryHandler, QueryParameters};
use crate::projection::{Database, viewer};
use es_event::{Caller, Services, encode_finite};

/// Runs a query whose parameters are parsed, and returns its output as JSON.
pub type ParsedQuery = Box<
    dyn for<'a> FnOnce(
            &'a Database,
            &'a Services,
        ) -> BoxFuture<'a, Result<Box<RawValue>, QueryError>>
        + Send,
>;

/// Parses all parameters of a query, and checks the rule about its owner.
pub(super) fn parse<Q: QueryHandler>(
    mut parameters: QueryParameters,
    caller: &Caller,
) -> Result<ParsedQuery, QueryError> {
    let query = Q::parse(&mut parameters)?;
    let ruled = caller.under_rule(Q::OWNER);
    query.check_owner(&ruled)?;
    let paging = if Q::PAGED {
        PageParameters::take_from_parameters(&mut parameters, Q::SORT_CHOICES)?
    } else {
        PageParameters::default()
    };
    parameters.check_all_taken()?;
    Ok(Box::new(move |database, services| {
        Box::pin(async move {
            let now = services.clock().now();
            let context = QueryContext::new(database, paging, now)
                .with_caller(ruled)
                .with_services(services.clone());
            let output = query.handle(&context).await?;
            // The schema of a number does not allow the `null` that JSON writes for NaN.
            let json = viewer::write_for(context.caller(), || encode_finite(&output));
            json.map_err(|error| {
                let error = <serde_json::Error as serde::ser::Error>::custom(error);
                QueryError::Json(error)
            })
        })
    }))
}
