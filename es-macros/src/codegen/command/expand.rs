//! Generates the code of a command.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{DeriveInput, ext::IdentExt as _, spanned::Spanned as _};

use super::check::CheckedCommand;
use crate::codegen::{
    declaration,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field, borrow_fields, variable_of},
    framework::Framework,
    json_impls,
    template::{self, Template},
    validate::{self, JsonPlace, ValueWithRules},
};

/// Generates all implementations and the registration.
pub(crate) fn expand_command(
    item: &DeriveInput,
    command: &CheckedCommand,
    framework: &Framework,
) -> TokenStream {
    let json = json_impls::expand_item(item, DeclarationKind::Command, framework);
    let validation = validation(command, framework);
    let clone = impl_clone(command);
    let declaration = impl_command(command, framework);
    let ident = &command.ident;
    quote! {
        #json

        #validation

        #clone

        #declaration

        #framework::__private::inventory::submit! {
            #framework::command::CommandDescriptor::of::<#ident>()
        }
    }
}

fn validation(command: &CheckedCommand, framework: &Framework) -> TokenStream {
    let fields = command.fields.iter().map(|field| ValueWithRules {
        place: JsonPlace::of_member(field.field.member.clone(), &field.field.attrs),
        value: variable_of(&field.field).into_token_stream(),
        ty: &field.field.ty,
        attrs: &field.field.attrs,
        rules: &field.rules,
    });
    let checks = validate::validation_statements(&fields.collect::<Vec<_>>(), framework);
    let violations = match checks.as_slice() {
        [] => format_ident!("_violations"),
        _ => format_ident!("violations"),
    };
    let borrowed = (!checks.is_empty())
        .then(|| borrow_fields(command.fields.iter().map(|field| &field.field)));
    let ident = &command.ident;
    quote! {
        #[automatically_derived]
        impl #framework::validate::Validate for #ident {
            fn validate(&self, #violations: &mut #framework::validate::Violations) {
                #borrowed
                #(#checks)*
            }
        }
    }
}

/// `Clone`, which each attempt after a conflict needs. The compiler reports a field
/// that is not `Clone` at the type of the field.
fn impl_clone(command: &CheckedCommand) -> TokenStream {
    let ident = &command.ident;
    let borrowed = borrow_fields(command.fields.iter().map(|field| &field.field));
    let fields = command.fields.iter().map(|field| {
        let (name, value) = (&field.field.ident, variable_of(&field.field));
        quote_spanned!(field.field.ty.span()=> #name: ::core::clone::Clone::clone(#value))
    });
    quote! {
        #[automatically_derived]
        impl ::core::clone::Clone for #ident {
            fn clone(&self) -> Self {
                #borrowed
                Self { #(#fields),* }
            }
        }
    }
}

fn impl_command(command: &CheckedCommand, framework: &Framework) -> TokenStream {
    let CheckedCommand {
        ident,
        summary,
        path,
        condition,
        ..
    } = command;
    let (name, summary) = (ident.unraw().to_string(), summary.expand(framework));
    let subject = command.subject.render(|field| command.member_name(field));
    let caller = command.caller.generate_items(framework);
    let backdate_roles = &command.backdate_roles;
    let backdate_roles = (!backdate_roles.is_empty()).then(|| {
        quote!(
            const BACKDATE_ROLES: &'static [&'static str] = &[#(#backdate_roles),*];
        )
    });
    let condition = format_ident!("{condition}");
    let fields = command.fields.iter().map(|field| field.field.name());
    let declaration = declaration(ident, framework);
    let borrowed = borrow_subject_fields(command, [&command.subject]);
    let filled = filled_template(command, &command.subject, framework);
    let required = required_subjects(command, framework);
    quote! {
        #[automatically_derived]
        impl #framework::command::Command for #ident {
            const NAME: &'static str = #name;
            const SUMMARY: &'static str = #summary;
            const SUBJECT: &'static str = #subject;
            const PATH: &'static str = #path;
            const CONDITION: #framework::command::SubjectCondition =
                #framework::command::SubjectCondition::#condition;
            #caller
            #backdate_roles
            const FIELDS: &'static [&'static str] = &[#(#fields),*];
            const DECLARATION: #framework::Declaration = #declaration;

            fn subject(
                &self,
            ) -> ::core::result::Result<
                #framework::event::Subject,
                #framework::event::InvalidSubjectValue,
            > {
                #borrowed
                #filled
            }

            #required
        }
    }
}

/// Generates the items about the other subjects that must have an event.
fn required_subjects(command: &CheckedCommand, framework: &Framework) -> Option<TokenStream> {
    let required = &command.required;
    let texts = required
        .iter()
        .map(|subject| subject.render(|field| command.member_name(field)));
    let borrowed = borrow_subject_fields(command, required);
    let filled = required
        .iter()
        .map(|subject| filled_template(command, subject, framework));
    (!required.is_empty()).then(|| {
        quote! {
            const REQUIRED_SUBJECTS: &'static [&'static str] = &[#(#texts),*];

            fn required_subjects(
                &self,
            ) -> ::core::result::Result<
                ::std::vec::Vec<#framework::event::Subject>,
                #framework::event::InvalidSubjectValue,
            > {
                #borrowed
                ::core::result::Result::Ok(::std::vec::Vec::from([#(#filled?),*]))
            }
        }
    })
}

/// Borrows the fields that the templates name, each once.
fn borrow_subject_fields<'a>(
    command: &CheckedCommand,
    templates: impl IntoIterator<Item = &'a Template>,
) -> TokenStream {
    let names: Vec<_> = templates.into_iter().flat_map(Template::fields).collect();
    let fields = command.fields.iter().map(|field| &field.field);
    borrow_fields(fields.filter(|field| names.contains(&field.name().as_str())))
}

fn filled_template(
    command: &CheckedCommand,
    subject: &Template,
    framework: &Framework,
) -> TokenStream {
    let parts = template::subject_parts(subject, framework, |name| {
        let field = command.field(name);
        field.map(|field| fields::subject_part(field, framework))
    });
    quote!(#framework::event::Subject::fill_template(&[#(#parts),*]))
}

/// Generates stub implementations for a command with mistakes, so that the compiler reports only
/// those mistakes.
pub(crate) fn generate_stub(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let ident = &item.ident;
    let json = json_impls::generate_stub(ident, framework);
    // An event takes fields from the command.
    let fields = fields::parse_fields(item, DeclarationKind::Command, &mut Errors::default());
    let fields = fields.unwrap_or_default();
    let fields = fields.iter().map(Field::name);
    let declaration = declaration(ident, framework);
    quote! {
        #json

        #[automatically_derived]
        impl ::core::clone::Clone for #ident {
            fn clone(&self) -> Self {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #framework::validate::Validate for #ident {
            fn validate(&self, _violations: &mut #framework::validate::Violations) {}
        }

        #[automatically_derived]
        impl #framework::command::Command for #ident {
            const NAME: &'static str = "";
            const SUMMARY: &'static str = "";
            const SUBJECT: &'static str = "";
            const PATH: &'static str = "";
            const CONDITION: #framework::command::SubjectCondition =
                #framework::command::SubjectCondition::None;
            const FIELDS: &'static [&'static str] = &[#(#fields),*];
            const DECLARATION: #framework::Declaration = #declaration;

            fn subject(
                &self,
            ) -> ::core::result::Result<
                #framework::event::Subject,
                #framework::event::InvalidSubjectValue,
            > {
                ::core::unreachable!()
            }
        }
    }
}
