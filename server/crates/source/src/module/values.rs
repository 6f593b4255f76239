//! What a scope may launch, with what is known of its names.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, Parameters};
use ruff_text_size::Ranged;

use super::Module;
use super::finder::{self, Found};
use crate::emit::{self, Code};
use crate::imports::Imports;
use crate::scopes::{Scope, ScopeId, ScopeKind};
use crate::values::{self, Arguments, Evaluator, Given, Names, Through, Value};
use crate::{Automaton, Comprehensions};

impl Module {
    /// What the scope may launch, in evaluation order, whatever it is called with.
    pub fn automaton(&self, id: ScopeId, comprehensions: Comprehensions) -> Automaton {
        self.automaton_given(id, comprehensions, &Given::default())
    }

    /// The same with parameters of which something is known.
    pub fn automaton_given(&self, id: ScopeId, comprehensions: Comprehensions, given: &Given) -> Automaton {
        let build = |found: &Found<'_>, values: &Evaluator<'_>| {
            emit::build(&found.code, &self.text, &self.lines, comprehensions, &self.plain_functions, values)
        };
        self.evaluate(id, given, build).unwrap_or_default()
    }

    /// The arguments of the call in scope `id` whose bytes are `call`; `None` when no call is there.
    pub fn arguments(&self, id: ScopeId, given: &Given, call: &Range<u32>) -> Option<Arguments> {
        self.evaluate(id, given, |found, values| {
            let call = values::find_call(
                |finder| match &found.code {
                    // Statements lie in order.
                    Code::Body(body) => {
                        let at = body.partition_point(|stmt| u32::from(stmt.end()) < call.end);
                        body.iter().skip(at).take(1).for_each(|stmt| finder.visit_stmt(stmt));
                    }
                    Code::Expression(expr) | Code::Comprehension(expr) => finder.visit_expr(expr),
                },
                call,
            )?;
            Some(values::arguments(call, values))
        })
        .flatten()
    }

    /// What is known of the parameters of function `id`, of this file, when a call with `arguments` opened its frame.
    /// `of_module`: the call was one of an `nn.Module`, which passes its arguments on to `forward`.
    pub fn given(&self, id: ScopeId, arguments: &Arguments, of_module: bool) -> Given {
        let scope = self.scope(id);
        // A generator goes on under whoever resumes it.
        if scope.kind != ScopeKind::Function || scope.is_generator {
            return Given::default();
        }
        let Some(found) = self.find(id) else { return Given::default() };
        let Some(binding) = self.binding(scope, &found) else { return Given::default() };
        let in_class = scope.class.is_some();
        let takes_self = binding == Binding::Method && in_class;
        // Whether something is passed before the arguments; `None` when that is not known.
        // An attribute or a name that is assigned to may hold the function with other arguments bound to it.
        if !of_module
            && (self.attributes().contains(&*arguments.name) || self.names().is_assigned(&scope.name))
        {
            return Given::default();
        }
        let bound = if of_module {
            (takes_self && &*scope.name == "forward").then_some(true)
        } else if &*scope.name == "__init__" {
            // A class is called, or the parent's constructor.
            let makes =
                arguments.name.starts_with(char::is_uppercase) || arguments.through == Through::Object;
            (takes_self && makes).then_some(true)
        } else if *scope.name != *arguments.name {
            None
        } else {
            match (arguments.through, binding) {
                (Through::Name | Through::Module, _) => (!in_class).then_some(false),
                (Through::Object, _) => in_class.then_some(binding != Binding::Static),
                (Through::Class, Binding::Static) => Some(false),
                (Through::Class, Binding::Class) => Some(true),
                (Through::Class, Binding::Method) | (Through::Value, _) => None,
            }
        };
        let (Some(bound), Some(parameters)) = (bound, found.parameters) else { return Given::default() };
        let defines = |name: &str| self.defines(name);
        let names = [self.names()];
        values::given(arguments, parameters, bound, &Evaluator::new(self.imports(), &defines, &names, false))
    }

    /// Parameters of function `id` that may hold a tensor or not, where that decides what the function launches.
    pub fn open_parameters(&self, id: ScopeId, given: &Given) -> Vec<Box<str>> {
        let Some(found) = self.find(id) else { return Vec::new() };
        let operands = values::of_operators(&found.code);
        let in_class = self.scope(id).class.is_some();
        let parameters = found.parameters.into_iter().flat_map(Parameters::iter_non_variadic_params);
        parameters
            .enumerate()
            .filter(|&(at, parameter)| {
                !(at == 0 && in_class && matches!(&**parameter.name(), "self" | "cls"))
            })
            .map(|(_, parameter)| parameter.name().as_str())
            .filter(|name| operands.contains(name) && *given.of(name) == Value::Unknown)
            .map(Into::into)
            .collect()
    }

    /// What a function's decorators make of it; `None` when they may pass other arguments on.
    fn binding(&self, scope: &Scope, found: &Found<'_>) -> Option<Binding> {
        let mut binding = Binding::Method;
        for decorator in found.decorators {
            let decorator = match &decorator.expression {
                Expr::Call(call) => &*call.func,
                other => other,
            };
            match decorator.as_name_expr().map(|name| name.id.as_str()) {
                Some("staticmethod") if scope.class.is_some() => binding = Binding::Static,
                Some("classmethod") if scope.class.is_some() => binding = Binding::Class,
                _ if self.imports().resolve(decorator).is_some_and(|path| is_passed_on(&path)) => {}
                _ => return None,
            }
        }
        Some(binding)
    }

    /// Runs `with` on a scope's syntax and what is known of its names.
    fn evaluate<T>(
        &self,
        id: ScopeId,
        given: &Given,
        with: impl FnOnce(&Found<'_>, &Evaluator<'_>) -> T,
    ) -> Option<T> {
        let defines = |name: &str| self.defines(name);
        let known = self.names_around(id, given)?;
        let names: Vec<&Names> = known.iter().map(|names| &**names).chain([self.names()]).collect();
        let in_module = id == ScopeId(0);
        Some(with(&self.find(id)?, &Evaluator::new(self.imports(), &defines, &names, in_module)))
    }

    /// The names of a scope and of the functions around it, the innermost first; the module's are not among them. A class
    /// body's names are not seen in its methods.
    fn names_around(&self, id: ScopeId, given: &Given) -> Option<Vec<Arc<Names>>> {
        let mut around: Vec<ScopeId> =
            std::iter::successors(self.scope(id).parent, |&at| self.scope(at).parent)
                .filter(|&at| self.scope(at).kind != ScopeKind::Class)
                .collect();
        around.insert(0, id);
        around.retain(|&scope| scope != ScopeId(0));
        let mut known: VecDeque<Arc<Names>> = VecDeque::with_capacity(around.len());
        let any = Given::default();
        for scope in around.into_iter().rev() {
            let given = if scope == id { given } else { &any };
            let names = self.names_of(scope, given, &known)?;
            known.push_front(names);
        }
        Some(known.into())
    }

    /// The names of a scope, given those of the functions around it; found once for each way to call it.
    fn names_of(&self, id: ScopeId, given: &Given, around: &VecDeque<Arc<Names>>) -> Option<Arc<Names>> {
        let key = (id, given.clone());
        let known = || self.scope_names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known().get(&key) {
            return Some(Arc::clone(names));
        }
        let found = self.find(id)?;
        let defines = |name: &str| self.defines(name);
        let outside: Vec<&Names> = around.iter().map(|names| &**names).chain([self.names()]).collect();
        let outside = Evaluator::new(self.imports(), &defines, &outside, false);
        let names = Arc::new(Names::of(&found.code, found.parameters, given, outside));
        known().insert(key, Arc::clone(&names));
        Some(names)
    }

    #[cfg(test)]
    pub(crate) fn with_body<T>(
        &self,
        id: ScopeId,
        given: &Given,
        with: impl FnOnce(&[ruff_python_ast::Stmt], &Evaluator<'_>) -> T,
    ) -> Option<T> {
        self.evaluate(id, given, |found, values| match found.code {
            Code::Body(body) => Some(with(body, values)),
            Code::Expression(_) | Code::Comprehension(_) => None,
        })
        .flatten()
    }

    fn imports(&self) -> &Imports {
        self.imports.get_or_init(|| Imports::of(self.suite()))
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let defines = |name: &str| self.defines(name);
            let outside = Evaluator::new(self.imports(), &defines, &[], true);
            Names::of(&Code::Body(self.suite()), None, &Given::default(), outside)
        })
    }

    /// Whether the file has a function, method, property or attribute of this name that is its own.
    fn defines(&self, name: &str) -> bool {
        self.function_names.contains(name) || self.attributes().contains(name)
    }

    /// Names of attributes that are assigned to, of whatever object.
    fn attributes(&self) -> &HashSet<Box<str>> {
        self.attributes.get_or_init(|| finder::assigned_attributes(self.suite()))
    }
}

/// How a function comes by its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// In a class: the object.
    Method,
    Class,
    Static,
}

/// Decorators of torch that call what they decorate with the arguments they are given.
fn is_passed_on(path: &str) -> bool {
    matches!(
        path,
        "torch.no_grad"
            | "torch.enable_grad"
            | "torch.inference_mode"
            | "torch.autograd.no_grad"
            | "torch.autograd.enable_grad"
            | "torch.autograd.profiler.record_function"
            | "torch.profiler.record_function"
    )
}
