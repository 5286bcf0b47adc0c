//! Checks a parsed command and derives its subject, path and condition.

use syn::{DeriveInput, Ident, LitStr, Meta};

use super::attr::{self, CommandAttr};
use crate::codegen::{
    attribute,
    caller_rules::{self, CheckedCallerRules},
    declaration_kind::DeclarationKind,
    doc_comment::{self, DocText},
    errors::Errors,
    fields::{self, Field},
    naming, serde_attr,
    template::{self, Template},
    validate::{self, Rule},
};

/// A command without mistakes.
pub(crate) struct CheckedCommand {
    pub(crate) ident: Ident,
    pub(crate) summary: DocText,
    pub(crate) subject: Template,
    pub(crate) path: String,
    pub(crate) caller: CheckedCallerRules,
    /// The roles that say when something happened before.
    pub(crate) backdate_roles: Vec<String>,
    /// The variant of `SubjectCondition`.
    pub(crate) condition: &'static str,
    /// The other subjects that must have an event.
    pub(crate) required: Vec<Template>,
    pub(crate) fields: Vec<CommandField>,
}

/// A field with its validation rules.
pub(crate) struct CommandField {
    pub(crate) field: Field,
    pub(crate) rules: Vec<Rule>,
}

impl CheckedCommand {
    /// Returns the field with this name. The check has ensured that it exists.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        let mut fields = self.fields.iter().map(|field| &field.field);
        fields.find(|field| field.name() == name)
    }

    /// Returns the JSON name of the field with this name.
    pub(crate) fn member_name(&self, name: &str) -> String {
        fields::member_name(self.field(name), name)
    }
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_command(item: &DeriveInput, errors: &mut Errors) -> Option<CheckedCommand> {
    let message = "`#[event(…)]` belongs to `#[derive(Event)]`: write `#[command(…)]` on a command";
    attribute::refuse(&item.attrs, "event", message, errors);
    let message = "`#[validate(…)]` stands above the field whose value it is about";
    attribute::refuse(&item.attrs, "validate", message, errors);
    serde_attr::check_struct(&item.attrs, DeclarationKind::Command, errors);
    let (ident, attr) = (&item.ident, attr::parse_attributes(&item.attrs, errors));
    let fields = parse_fields(item, errors);
    let condition = attr.condition.as_ref().map_or(Some("None"), |word| {
        attribute::choose(word, &CONDITIONS, ("condition", "condition"), errors)
    });
    let subject = subject(ident, &attr, fields.as_deref(), errors);
    let required = required_subjects(&attr, fields.as_deref(), errors);
    let path = match &attr.internal {
        None => path(ident, &attr, subject.as_ref(), fields.as_deref(), errors).map(Some),
        Some(internal) => no_path(internal, &attr, errors),
    };
    let plain_fields = fields.as_deref().map(plain).unwrap_or_default();
    let caller =
        caller_rules::check_caller_rules(&attr.caller, "the command", &plain_fields, errors);
    let backdate_roles = caller_rules::check_names(&attr.backdate_roles, errors);
    let summary = doc_comment::summary_or_name(ident, attr.summary.as_ref(), &item.attrs);
    let mut command = CheckedCommand {
        ident: ident.clone(),
        summary,
        subject: subject?,
        path: String::new(),
        caller,
        backdate_roles,
        condition: condition?,
        required,
        fields: fields?,
    };
    command.path = path?.map_or_else(String::new, |path| {
        path.render(|field| command.member_name(field))
    });
    Some(command)
}

fn parse_fields(item: &DeriveInput, errors: &mut Errors) -> Option<Vec<CommandField>> {
    let fields = fields::parse_fields(item, DeclarationKind::Command, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["command", "event", "es"], errors);
    let with_rules = |field: Field| CommandField {
        rules: validate::parse_rules(&field.attrs, errors),
        field,
    };
    Some(fields?.into_iter().map(with_rules).collect())
}

/// An internal command has no path and no role, because no client sends it.
fn no_path(internal: &Meta, attr: &CommandAttr, errors: &mut Errors) -> Option<Option<Template>> {
    if attr.path.is_some() {
        let message = "an internal command is posted nowhere: remove `internal` or `path`";
        errors.record(internal, message);
    }
    if attr.caller.public.is_some() {
        let message = "nobody posts an internal command, so it is not public: remove `internal` or `role = public`";
        errors.record(internal, message);
    } else if attr.caller.role.is_some() || attr.caller.owner_key.is_some() {
        let message =
            "nobody posts an internal command, so nobody needs a role: remove `internal` or `role`";
        errors.record(internal, message);
    }
    if let Some(role) = attr.backdate_roles.first() {
        let message = "nobody posts an internal command, and a reaction sends it now: remove `internal` or `backdate_role`";
        errors.record(role, message);
    }
    Some(None)
}

const CONDITIONS: [(&str, &str); 3] = [
    ("none", "None"),
    ("pristine", "Pristine"),
    ("exists", "Exists"),
];

fn subject(
    ident: &Ident,
    attr: &CommandAttr,
    fields: Option<&[CommandField]>,
    errors: &mut Errors,
) -> Option<Template> {
    let Some(text) = &attr.subject else {
        if !attr.has_subject {
            errors.record(
                ident,
                "say what the command is about: write `#[command(subject = \"/books/{id}\")]` above the struct",
            );
        }
        return None;
    };
    let template =
        Template::parse_or_record(&text.value(), template::TemplateKind::Subject, text, errors)?;
    // Without fields, another error is already recorded.
    if let Some(fields) = fields {
        fields::check_subject(&template, text, "command", &plain(fields), errors);
    }
    Some(template)
}

/// Returns the other subjects that must have an event, as far as they are valid.
fn required_subjects(
    attr: &CommandAttr,
    fields: Option<&[CommandField]>,
    errors: &mut Errors,
) -> Vec<Template> {
    let own = attr.subject.as_ref().map(LitStr::value);
    let mut required = Vec::new();
    for (index, text) in attr.exists.iter().enumerate() {
        let mut earlier = attr.exists.iter().take(index);
        if earlier.any(|other| other.value() == text.value()) {
            errors.record(text, "this subject is given twice: remove one of them");
            continue;
        }
        if own.as_ref() == Some(&text.value()) {
            let message = "this is the command's own subject: write `condition = exists`";
            errors.record(text, message);
        }
        let kind = template::TemplateKind::Subject;
        let Some(template) = Template::parse_or_record(&text.value(), kind, text, errors) else {
            continue;
        };
        fields::check_subject(
            &template,
            text,
            "command",
            &fields.map(plain).unwrap_or_default(),
            errors,
        );
        required.push(template);
    }
    required
}

fn plain(fields: &[CommandField]) -> Vec<&Field> {
    fields.iter().map(|field| &field.field).collect()
}

fn path(
    ident: &Ident,
    attr: &CommandAttr,
    subject: Option<&Template>,
    fields: Option<&[CommandField]>,
    errors: &mut Errors,
) -> Option<Template> {
    let Some(text) = &attr.path else {
        return path_of_subject(ident, attr.subject.as_ref()?, subject?, errors);
    };
    let template =
        Template::parse_or_record(&text.value(), template::TemplateKind::Path, text, errors)?;
    // Without fields, another error is already recorded.
    if let Some(fields) = fields.map(plain) {
        for field in fields::fields_of_template(&template, text, "command", &fields, errors) {
            check_path_parameter(field, errors);
        }
    }
    Some(template)
}

/// Returns the first part of the subject and the command's verb: `/books/purchase`.
fn path_of_subject(
    ident: &Ident,
    text: &LitStr,
    subject: &Template,
    errors: &mut Errors,
) -> Option<Template> {
    let head = subject.head();
    let verb = naming::verb_of(ident);
    if head.is_empty() {
        let message = format!(
            "this subject has no fixed text at its start to make a path of: add `path = \"/…/{verb}\"`"
        );
        errors.record(text, message);
        return None;
    }
    let path = Template::parse(&format!("{head}/{verb}"), template::TemplateKind::Path);
    if path.is_err() {
        let message = format!(
            "`{verb}` cannot end a path: name the command in ASCII letters, or add `path = \"{head}/…\"`"
        );
        errors.record(ident, message);
    }
    path.ok()
}

/// Records an error for a field that is taken from the URL's path, if its type is an `Option`, a `bool` or a
/// number.
fn check_path_parameter(field: &Field, errors: &mut Errors) {
    const NO_TEXTS: [&str; 16] = [
        "Option", "bool", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize",
    ];
    let Some(type_name) = field.type_name() else {
        return;
    };
    if NO_TEXTS.contains(&type_name.as_str()) {
        let message = format!(
            "`{}` is filled from the path, which holds texts: make it a `String`, a `Uuid` or another type that JSON writes as a text, not `{type_name}`",
            field.name()
        );
        errors.record(&field.ty, message);
    }
}
