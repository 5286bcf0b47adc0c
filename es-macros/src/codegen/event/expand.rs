//! Generates the code of an event.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, LitStr, Path, spanned::Spanned as _};

use super::check::{CheckedEvent, EventSubject};
use crate::codegen::{
    column, declaration,
    declaration_kind::DeclarationKind,
    fields::{self, Field},
    framework::Framework,
    json_impls, json_types, personal, template, unique,
};

/// Generates all implementations and the registration.
pub(crate) fn expand_event(
    item: &DeriveInput,
    event: &CheckedEvent,
    framework: &Framework,
) -> TokenStream {
    let json = json_impls::expand_item(item, DeclarationKind::Event, framework);
    let subject = event
        .subject
        .as_ref()
        .map(|subject| impl_subject(event, subject, framework));
    let informational = event.informational.then(|| {
        quote!(
            const INFORMATIONAL: bool = true;
        )
    });
    let unique = unique::expand_rules(&event.unique, &event.fields, framework);
    let personal = expand_personal(&event.fields);
    let details = quote!(#informational #personal #unique #subject);
    let declaration = impl_event(&event.ident, &event.event_type.text, &details, framework);
    let read_model = event
        .read_model
        .as_ref()
        .map(|table| read_model(event, table, framework));
    let conversions = event
        .from
        .iter()
        .map(|command| conversion(event, command, framework));
    let manifest = event.event_type.expand_manifest_dependency();
    let ident = &event.ident;
    quote! {
        #json

        #declaration

        #framework::__private::inventory::submit! {
            #framework::event::EventDescriptor::of::<#ident>()
        }

        #read_model

        #(#conversions)*

        #manifest
    }
}

fn impl_event(
    ident: &Ident,
    event_type: &str,
    details: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    let declaration = declaration(ident, framework);
    quote! {
        #[automatically_derived]
        impl #framework::event::Event for #ident {
            const TYPE: &'static str = #event_type;
            const DECLARATION: #framework::Declaration = #declaration;
            #details
        }

        #[automatically_derived]
        impl #framework::command::HandlerEvent for #ident {}
    }
}

/// Generates `subject` for an event with its own subject.
fn impl_subject(
    event: &CheckedEvent,
    subject: &EventSubject,
    framework: &Framework,
) -> TokenStream {
    let EventSubject { template, is_below } = subject;
    let parts = template::subject_parts(template, framework, |name| {
        let field = event.field(name);
        field.map(|field| fields::subject_part(field, framework))
    });
    let borrowed = fields::borrow_fields(template.fields().filter_map(|name| event.field(name)));
    let text = template.render(|name| fields::member_name(event.field(name), name));
    let (text, command, body) = if *is_below {
        (
            format!(".{text}"),
            quote!(command),
            quote!(command.below(&[#(#parts),*])),
        )
    } else {
        (
            text,
            quote!(_command),
            quote!(#framework::event::Subject::fill_template(&[#(#parts),*])),
        )
    };
    quote! {
        const SUBJECT: ::core::option::Option<&'static str> =
            ::core::option::Option::Some(#text);

        fn subject(
            &self,
            #command: &#framework::event::Subject,
        ) -> ::core::result::Result<
            #framework::event::Subject,
            #framework::event::InvalidSubjectValue,
        > {
            #borrowed
            #body
        }
    }
}

fn read_model(event: &CheckedEvent, table: &LitStr, framework: &Framework) -> TokenStream {
    let ident = &event.ident;
    let projection = quote!(#framework::projection);
    let columns = column::column_descriptions(&event.fields, framework);
    let to_cells = column::to_cells(&event.fields, framework);
    quote! {
        #[automatically_derived]
        impl #projection::EventRow for #ident {
            const TABLE: &'static str = #table;
            const COLUMNS: &'static [#projection::ColumnDescriptor] = #columns;

            #to_cells
        }

        #framework::__private::inventory::submit! {
            #projection::ReadModelDescriptor::of_events::<#ident>()
        }
    }
}

/// Generates the conversion from a command. A field that the command does not have, or has with
/// another type, is an error at the event's field.
fn conversion(event: &CheckedEvent, command: &Path, framework: &Framework) -> TokenStream {
    let ident = &event.ident;
    // This variable has a span of this macro: with that of the field, another macro could hide it.
    let whole = Ident::new("command", Span::call_site());
    // The compiler reports a type that is no command once, where the event names it.
    let named = Ident::new("__Command", command.span());
    let checks = event.fields.iter().map(|field| {
        let span = field.ident.span();
        let (framework, name) = (framework.with_span(span), field.name());
        let at_field = Ident::new("__Command", span);
        let has_field = quote_spanned!(span=> { #framework::command::has_field::<#named>(#name) });
        quote_spanned!(span=> <#at_field as #framework::command::HasField<#has_field>>::checked(#whole))
    });
    let values = event.fields.iter().map(|field| {
        let (ident, ty, value) = (&field.ident, &field.ty, fields::variable_of(field));
        let framework = framework.with_span(ty.span());
        quote_spanned!(ty.span()=> #ident: #framework::command::SameType::<#ty>::value(#value))
    });
    let taken = event.fields.iter().map(|field| {
        let (ident, value) = (&field.ident, fields::variable_of(field));
        quote!(let #value = command.#ident;)
    });
    let (parameter, boxed) = match event.fields.as_slice() {
        [] => (quote!(_), None),
        _ => {
            let boxed = quote! {
                type __Command = #command;
                let command = ::std::boxed::Box::new(command);
            };
            (quote!(command), Some(boxed))
        }
    };
    quote! {
        #[automatically_derived]
        impl ::core::convert::From<#command> for #ident {
            fn from(#parameter: #command) -> Self {
                #boxed
                #(let command = #checks;)*
                #(#taken)*
                Self { #(#values),* }
            }
        }
    }
}

/// Generates the list of the fields that contain personal values, with their JSON names. The type of a field may contain
/// such values too.
fn expand_personal(fields: &[Field]) -> Option<TokenStream> {
    let may_be_personal = |field: &&Field| {
        let inside = std::iter::once((&field.ty, field.attrs.as_slice()));
        personal::is_personal(&field.attrs) || !json_types::unknown_types(inside).is_empty()
    };
    let listed: Vec<_> = fields
        .iter()
        .filter(may_be_personal)
        .map(|field| (field.name(), &field.member))
        .map(|(name, member)| quote!((#name, #member)))
        .collect();
    (!listed.is_empty()).then(|| {
        quote! {
            const PERSONAL: &'static [(&'static str, &'static str)] = &[#(#listed),*];
        }
    })
}

/// Generates stub implementations for an event with mistakes, so that the compiler reports only
/// those mistakes.
pub(crate) fn generate_stub(
    ident: &Ident,
    commands: &[Path],
    framework: &Framework,
) -> TokenStream {
    let json = json_impls::generate_stub(ident, framework);
    let declaration = impl_event(ident, "", &TokenStream::new(), framework);
    quote! {
        #json

        #declaration

        #(
            #[automatically_derived]
            impl ::core::convert::From<#commands> for #ident {
                fn from(_: #commands) -> Self {
                    ::core::unreachable!()
                }
            }
        )*
    }
}
