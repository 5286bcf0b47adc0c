"""Checks of Schemathesis: what fits the document is understood, and the document lists each problem.

The first takes the place of `positive_data_acceptance`, which knows nothing of rules that no schema can
tell: a copy that is lent, a key that was used for another command, a cursor that no page gave.
"""

import re

import schemathesis

MISUNDERSTOOD = ("malformed-body", "invalid-header", "invalid-parameter", "invalid-values")
BEYOND_A_SCHEMA = (
    "must be the nextCursor of the page before",
    # A text of characters without a glyph, which no pattern of a schema lists.
    "must not be blank",
    # A whole number to JSON Schema, not to JSON as it is written.
    "invalid type: floating point",
)


@schemathesis.check
def what_fits_the_document_is_understood(ctx, response, case):
    if not case.meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    problem = response.json()
    detail = problem["detail"] + "".join(one["message"] for one in problem.get("errors", []))
    # Schemathesis takes the quotation marks of a tag for its own.
    tag = response.request.headers.get("If-Match")
    is_unquoted = tag is not None and not re.fullmatch(r'\*|"[0-9]+(-[0-9a-f]{32})?"', tag)
    if is_unquoted and "If-Match" in detail:
        return
    is_told = problem["type"].endswith(MISUNDERSTOOD)
    if is_told and not any(known in detail for known in BEYOND_A_SCHEMA):
        raise AssertionError(f"it fits the document, and yet: {detail}")


@schemathesis.check
def the_document_has_an_example_of_each_problem(ctx, response, case):
    # Another check reports a status that is not in the document.
    described = case.operation.definition.raw["responses"].get(str(response.status_code))
    is_problem = response.headers.get("content-type", [""])[0].startswith("application/problem+json")
    if described is None or not is_problem:
        return
    if "$ref" in described:
        shared = case.operation.schema.raw_schema["components"]["responses"]
        described = shared[described["$ref"].rpartition("/")[2]]
    problem = response.json()
    content = described["content"]["application/problem+json"]
    examples = [example["value"] for example in content["examples"].values()]
    constant = [(example["type"], example["title"], example["status"]) for example in examples]
    if (problem["type"], problem["title"], problem["status"]) not in constant:
        raise AssertionError(f"no example of the response has the type, title and status of {problem}")
