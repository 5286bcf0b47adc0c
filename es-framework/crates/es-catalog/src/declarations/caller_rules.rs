//! The rules about callers, as the model of an application has them.

use crate::model::ModelRule;
use es_event::OwnerRule;
use es_read::projection::ColumnVisibility;

/// Describes the rules of a command or a query about its callers, besides the roles.
pub(crate) fn rules_about_callers(public: bool, owner: Option<&OwnerRule>) -> Vec<ModelRule> {
    let everybody = public.then(|| ModelRule {
        label: "public".to_owned(),
        sentence: "Everybody may send it, without a credential.".to_owned(),
    });
    let owner = owner.map(rule_about_owner);
    everybody.into_iter().chain(owner).collect()
}

/// Describes the rule of a command or a query about its owner.
fn rule_about_owner(rule: &OwnerRule) -> ModelRule {
    let owner = match rule.field {
        Some(field) => format!("owner {field}"),
        None => "owner".to_owned(),
    };
    let except = rule
        .excepted_roles
        .iter()
        .map(|role| format!(", or {role}"));
    ModelRule {
        label: format!("{owner}{}", except.collect::<String>()),
        sentence: rule.describe(),
    }
}

/// Describes who sees a column of a read model.
pub(crate) fn rule_about_column(rule: &ColumnVisibility) -> ModelRule {
    let member = rule.column.member;
    let roles = rule.roles.iter().map(|role| (*role).to_owned());
    let owner = rule.owner.map(|owner| format!("owner {}", owner.member));
    let viewers: Vec<_> = roles.chain(owner).collect();
    ModelRule {
        label: format!("{member} for {}", viewers.join(" or ")),
        sentence: format!("Only {} see `{member}`.", rule.viewers()),
    }
}
