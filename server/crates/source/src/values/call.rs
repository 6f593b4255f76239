//! What a call passes to the function whose frame it opened.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Parameters, Stmt};
use ruff_text_size::Ranged;

use super::{Evaluator, Value};

/// What is known of a function's parameters; names that are not in it are unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Given(Vec<(Box<str>, Value)>);

impl Given {
    pub(crate) fn of(&self, parameter: &str) -> &Value {
        self.0.iter().find(|(name, _)| &**name == parameter).map_or(&Value::Unknown, |(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with one more parameter known.
    #[must_use]
    pub fn with(&self, parameter: &str, value: Value) -> Self {
        let mut given = self.0.clone();
        given.retain(|(name, _)| &**name != parameter);
        given.push((parameter.into(), value));
        given.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(given)
    }
}

/// The arguments of a call, evaluated where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The name that is called: `f` of `f(x)`, `forward` of `self.forward(x)`.
    pub name: Box<str>,
    /// How the function is come by.
    pub through: Through,
    /// The dotted path that it was imported from.
    pub imported: Option<Box<str>>,
    /// Up to the first `*arguments`.
    positional: Vec<Value>,
    keywords: Vec<(Box<str>, Value)>,
    /// `*arguments` or `**keywords` pass what is not seen.
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Through {
    /// A name that a `def`, `class` or `import` made.
    Name,
    /// An attribute of an imported module.
    Module,
    /// An attribute of an object, which becomes the first argument of a method.
    Object,
    /// An attribute of a class or of what looks like one: whether it is the first argument is not known.
    Class,
    /// A name that is assigned to, or anything else that is called: an instance, or any function.
    Value,
}

impl Arguments {
    /// Whether the function is surely the one of that name in a file: defined in the file of the call, or imported from
    /// the module whose name the file has. A module that passes on what it imported may have bound arguments to it.
    pub fn is_from(&self, file: &str, same: bool) -> bool {
        if matches!(self.through, Through::Object | Through::Value) {
            return true;
        }
        let Some(path) = &self.imported else { return same };
        let stem = file.rsplit('/').next().and_then(|base| base.strip_suffix(".py"));
        stem.is_some() && path.rsplit('.').nth(1) == stem
    }
}

/// The call whose bytes are `range`, in `code`.
pub(crate) fn find<'a>(visit: impl FnOnce(&mut Finder<'a>), range: &Range<u32>) -> Option<&'a ExprCall> {
    let mut finder = Finder { range: range.clone(), call: None };
    visit(&mut finder);
    finder.call
}

pub(crate) struct Finder<'a> {
    range: Range<u32>,
    call: Option<&'a ExprCall>,
}

impl Finder<'_> {
    fn holds(&self, node: &impl Ranged) -> bool {
        u32::from(node.start()) <= self.range.start && self.range.end <= u32::from(node.end())
    }
}

impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.call.is_none() && self.holds(stmt) {
            crate::deep(|| visitor::walk_stmt(self, stmt));
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.call.is_some() || !self.holds(expr) {
            return;
        }
        match expr {
            Expr::Call(call) if self.range == (call.start().into()..call.end().into()) => {
                self.call = Some(call);
            }
            _ => crate::deep(|| visitor::walk_expr(self, expr)),
        }
    }
}

/// The arguments of `call`.
pub(crate) fn arguments(call: &ExprCall, with: &Evaluator<'_>) -> Arguments {
    let positional = call.arguments.args.iter().take_while(|argument| !argument.is_starred_expr());
    let keywords = call.arguments.keywords.iter();
    let (name, through) = match &*call.func {
        Expr::Name(name) => {
            (name.id.as_str(), if with.is_assigned(&name.id) { Through::Value } else { Through::Name })
        }
        Expr::Attribute(method) => {
            // `self.parent.run(self, x)` passes the object by hand.
            let first = call.arguments.args.first().and_then(|first| first.as_name_expr());
            let of_class = is_class(&method.value) || first.is_some_and(|name| name.id == "self");
            let through = if of_class {
                Through::Class
            } else if with.resolve(&method.value).is_some() {
                Through::Module
            } else {
                Through::Object
            };
            (method.attr.as_str(), through)
        }
        _ => ("", Through::Value),
    };
    Arguments {
        name: name.into(),
        through,
        imported: with.resolve(&call.func).map(Into::into),
        positional: positional.map(|argument| with.of(argument)).collect(),
        keywords: keywords
            .clone()
            .filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str().into(), with.of(&keyword.value))))
            .collect(),
        open: call.arguments.args.iter().any(Expr::is_starred_expr)
            || keywords.clone().any(|k| k.arg.is_none()),
    }
}

/// Whether it is a class or looks like one: `Norm`, `layers.Norm`, `type(x)`, `x.__class__`.
fn is_class(expr: &Expr) -> bool {
    if let Expr::Call(call) = expr {
        return call.func.as_name_expr().is_some_and(|name| name.id == "type");
    }
    last_name(expr).is_some_and(|name| name.starts_with(char::is_uppercase) || name == "__class__")
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr),
        _ => None,
    }
}

/// What `parameters` hold after such a call. `bound`: the object it is called on, or a new one, is passed first. Defaults
/// are evaluated `outside` the function.
pub(crate) fn given(
    arguments: &Arguments,
    parameters: &Parameters,
    bound: bool,
    outside: &Evaluator<'_>,
) -> Given {
    let mut given = Vec::new();
    let mut positional = arguments.positional.iter();
    let places = parameters.posonlyargs.iter().chain(&parameters.args).map(|parameter| (parameter, true));
    let all = places.chain(parameters.kwonlyargs.iter().map(|parameter| (parameter, false)));
    for (at, (parameter, by_place)) in all.enumerate() {
        if bound && at == 0 && by_place {
            continue;
        }
        let name = parameter.name().as_str();
        let placed = if by_place { positional.next() } else { None };
        let keyword =
            arguments.keywords.iter().find(|(keyword, _)| &**keyword == name).map(|(_, value)| value);
        let value = match placed.or(keyword) {
            Some(value) => value.clone(),
            None if arguments.open => Value::Unknown,
            None => parameter.default.as_deref().map_or(Value::Unknown, |default| outside.of(default)),
        };
        if value != Value::Unknown {
            given.push((name.into(), value));
        }
    }
    given.sort_by(|(a, _): &(Box<str>, Value), (b, _)| a.cmp(b));
    Given(given)
}
