//! Generates the implementation of `React`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{ItemImpl, Type, ext::IdentExt as _, spanned::Spanned as _};

use super::{
    attr::DeadlineAttr,
    check::{CallParameter, CheckedReaction, ReactionEffect, ReactionStep, StepCause},
    first_argument::FirstArgument,
    schedule::ScheduleAttr,
    states,
};
use crate::codegen::{framework::Framework, handler::parameter::InjectedParameter};

/// Generates the block, the implementation that calls its functions, and the registration.
pub(crate) fn expand_reaction(
    block: &ItemImpl,
    reaction: &CheckedReaction,
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::reaction);
    let CheckedReaction {
        ty,
        name,
        begin,
        attempts,
        repeats,
        conditions,
        steps,
    } = reaction;
    let begin = format_ident!("{begin}");
    let attempts = attempts
        .as_ref()
        .map(|attempts| quote!(const ATTEMPTS: u32 = #attempts;));
    let repeats = repeats.then(|| {
        quote!(
            const REPEATS: bool = true;
        )
    });
    let steps = steps.iter().map(|step| step_code(step, framework));
    let at = framework.with_span(ty.span());
    let declaration = quote_spanned!(ty.span()=> #at::declaration!());
    quote! {
        #block

        #(#conditions)*
        #[automatically_derived]
        impl #module::React for #ty {
            const NAME: &'static str = #name;
            const START: #module::StartPosition = #module::StartPosition::#begin;
            #attempts
            #repeats
            const STEPS: &'static [#module::ReactionStep] = &[#(#steps),*];
            const DECLARATION: #framework::Declaration = #declaration;

        }

        #(#conditions)*
        #framework::__private::inventory::submit! {
            #module::ReactionDescriptor::of::<#ty>()
        }
    }
}

fn step_code(step: &ReactionStep, framework: &Framework) -> TokenStream {
    let module = quote!(#framework::reaction);
    let ReactionStep {
        conditions,
        function,
        cause,
        leads_to,
    } = step;
    let name = function.unraw().to_string();
    let event = match cause {
        StepCause::Event { event, .. } => quote!(<#event as #framework::event::Event>::TYPE),
        StepCause::Schedule { .. } => quote!(#module::SCHEDULE_STARTED),
    };
    let when = match cause {
        StepCause::Event { deadline: None, .. } => quote!(#module::ReactionTiming::Immediate),
        StepCause::Event {
            deadline: Some(deadline),
            event,
            ..
        } => expand_timing(deadline, event, framework),
        StepCause::Schedule { schedule, .. } => expand_schedule(schedule, framework),
    };
    let commands = match leads_to {
        ReactionEffect::Commands { output, .. } => {
            quote!(<#output as #module::IntoCommands>::commands)
        }
        ReactionEffect::Call { .. } => quote!(::std::vec::Vec::new),
    };
    let (action, parameters) = match leads_to {
        ReactionEffect::Commands { output, states } if states.is_empty() => {
            (expand_send(step, output, framework), quote!(&[]))
        }
        ReactionEffect::Commands { output, states } => (
            states::expand_decide(step, output, states, framework),
            states::describe_states(states, framework),
        ),
        ReactionEffect::Call {
            output,
            parameters: call_parameters,
        } => (
            expand_call(step, output, call_parameters, framework),
            describe_parameters(step, call_parameters, framework),
        ),
    };
    quote! {
        #(#conditions)*
        #module::ReactionStep {
            name: #name,
            event: #event,
            when: #when,
            action: #action,
            parameters: #parameters,
            commands: #commands,
        }
    }
}

fn expand_timing(
    DeadlineAttr { at, offset, unless }: &DeadlineAttr,
    event: &Type,
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::reaction);
    // The compiler reports a field of another type at its name.
    let there = framework.with_span(at.span());
    let field = format_ident!("field", span = at.span());
    let mut time = quote_spanned!(at.span()=> #there::reaction::DeadlineField::time(#field));
    if *offset != 0 {
        time = quote!(#module::shift_time(#time, #offset));
    }
    quote! {
        #module::ReactionTiming::Deadline(#module::Deadline {
            at: |event| {
                let happened = #module::decode_event::<#event>(event)?;
                let #field = &happened.#at;
                ::core::result::Result::Ok(#time)
            },
            unless: &[#(<#unless as #framework::event::Event>::TYPE),*],
        })
    }
}

fn expand_schedule(
    ScheduleAttr { cron, zone, missed }: &ScheduleAttr,
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::reaction);
    let missed = format_ident!("{missed}");
    quote! {
        #module::ReactionTiming::Schedule(#module::Schedule {
            cron: #cron,
            zone: #zone,
            missed: #module::MissedTimes::#missed,
        })
    }
}

/// Generates the action of a step that sends commands.
fn expand_send(step: &ReactionStep, output: &Type, framework: &Framework) -> TokenStream {
    let module = quote!(#framework::reaction);
    let function = &step.function;
    let FirstArgument {
        argument,
        statement,
        event,
        is_time,
    } = FirstArgument::of_step(step, framework);
    let context = if is_time { quote!(context) } else { quote!(_) };
    // The code names the output type, so the compiler points at a type that is not a command.
    quote! {
        #module::ReactionAction::Send(|#event, #context, commands| {
            #statement
            <#output as #module::IntoCommands>::add_to(Self::#function(#argument), commands)
        })
    }
}

/// Generates the action of a step that calls another system. It awaits its states before the call.
fn expand_call(
    step: &ReactionStep,
    output: &Type,
    parameters: &[CallParameter],
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::reaction);
    let function = &step.function;
    let names: Vec<Ident> = (0..parameters.len())
        .map(|index| format_ident!("parameter_{index}"))
        .collect();
    let named = || names.iter().zip(parameters);
    let values = named().map(|(name, parameter)| match parameter {
        CallParameter::Key => quote!(let #name = context.key();),
        CallParameter::Recorded => quote! {
            let #name = ::core::clone::Clone::clone(event.recorded());
        },
        CallParameter::Injected(injected) => {
            let value = injected_value(step, injected, framework);
            quote!(let #name = #value;)
        }
    });
    let awaited: Vec<_> = named()
        .filter(|(_, parameter)| is_awaited(step, parameter))
        .map(|(name, _)| name)
        .collect();
    let FirstArgument {
        argument,
        statement,
        event,
        is_time,
    } = FirstArgument::of_step(step, framework);
    let is_recorded = |one: &CallParameter| matches!(one, CallParameter::Recorded);
    let event = if parameters.iter().any(is_recorded) {
        quote!(event)
    } else {
        event
    };
    let borrowed = named().map(|(name, parameter)| match parameter {
        CallParameter::Injected(injected) => states::borrow(name, injected),
        CallParameter::Key | CallParameter::Recorded => quote!(&#name),
    });
    let arguments = argument.into_iter().chain(borrowed);
    let uses_context = |one: &CallParameter| !matches!(one, CallParameter::Recorded);
    let context = if is_time || parameters.iter().any(uses_context) {
        quote!(context)
    } else {
        quote!(_)
    };
    let call = quote!(async move { Self::#function(#(#arguments),*).await });
    // With this span, the compiler reports an unsuitable output at the output type.
    let there = framework.with_span(output.span());
    let mut pending = quote_spanned!(output.span()=> #there::reaction::box_call(#call));
    if !awaited.is_empty() {
        pending = quote! {
            ::std::boxed::Box::pin(async move {
                #(let #awaited = #awaited.await?;)*
                #pending.await
            })
        };
    }
    quote! {
        #module::ReactionAction::Call(|#event, #context| {
            #statement
            #(#values)*
            ::core::result::Result::Ok(#pending)
        })
    }
}

/// Returns true for a value that is or may be a state. That of a schedule has a subject.
fn is_awaited(step: &ReactionStep, parameter: &CallParameter) -> bool {
    match parameter {
        CallParameter::Key | CallParameter::Recorded => false,
        CallParameter::Injected(injected) => {
            injected.is_surely_state() || matches!(step.cause, StepCause::Event { .. })
        }
    }
}

/// Generates the value of a parameter that is a state, a service or settings.
fn injected_value(
    step: &ReactionStep,
    injected: &InjectedParameter,
    framework: &Framework,
) -> TokenStream {
    if injected.is_surely_state() {
        return states::rebuild(injected, framework);
    }
    let ty = &injected.ty;
    let name = ty.to_token_stream().to_string();
    match step.cause {
        StepCause::Schedule { .. } => quote!(context.service::<#ty>(#name)?),
        StepCause::Event { .. } => {
            let subject = states::subject(injected, framework);
            quote!(context.inject::<#ty>(#name, #subject))
        }
    }
}

/// Generates the descriptions of the parameters of a call.
fn describe_parameters(
    step: &ReactionStep,
    parameters: &[CallParameter],
    framework: &Framework,
) -> TokenStream {
    let injected = parameters.iter().filter_map(|parameter| match parameter {
        CallParameter::Key | CallParameter::Recorded => None,
        CallParameter::Injected(injected) => Some(injected),
    });
    let described = injected.clone().map(|injected| {
        if injected.is_surely_state() {
            return states::describe_state(injected, framework);
        }
        let InjectedParameter { name, ty, .. } = &**injected;
        // The compiler reports a type that cannot be injected at the parameter.
        let path = framework.with_span(ty.span());
        quote_spanned!(ty.span()=> #path::command::Parameter::injected::<#ty>(#name))
    });
    let is_scheduled = matches!(step.cause, StepCause::Schedule { .. });
    match injected.clone().next() {
        None => quote!(&[]),
        Some(first) => {
            let span = first.ty.span();
            let there = framework.with_span(span);
            quote_spanned!(span=> #there::reaction::check_call(&[#(#described),*], #is_scheduled))
        }
    }
}
