//! The value of an expression.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{BoolOp, Expr, ExprCall, Number, Operator, UnaryOp};

use super::{Constant, Names, Value, functions, plain, tensors};
use crate::imports::Imports;

/// Expressions nested deeper than this are not looked into: every node is asked for by those around it.
const MOST_DEEP: u32 = 16;

/// Names of a scope that are being found out.
#[derive(Clone, Copy)]
pub(super) struct Pending<'a> {
    pub bound: &'a HashSet<&'a str>,
    /// Of those, what is not bound by `def`, `class` and `import` alone.
    pub assigned: &'a HashSet<Box<str>>,
    pub known: &'a HashMap<Box<str>, Value>,
}

/// Evaluates expressions of a scope with what is known of its names.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'a> {
    pub imports: &'a Imports,
    /// Whether the file has a function, method or property of a name.
    pub defines: &'a dyn Fn(&str) -> bool,
    /// The names of the scope, then of the functions around it, the module's last.
    pub names: &'a [&'a Names],
    /// Whether the code is the module's own: others see its constants only as what they are at first.
    pub in_module: bool,
    /// Names that are being found out, and what is known so far.
    pending: Option<Pending<'a>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        imports: &'a Imports,
        defines: &'a dyn Fn(&str) -> bool,
        names: &'a [&'a Names],
        in_module: bool,
    ) -> Self {
        Self { imports, defines, names, in_module, pending: None }
    }

    pub(super) fn within<'b>(self, pending: Pending<'b>) -> Evaluator<'b>
    where
        'a: 'b,
    {
        Evaluator { pending: Some(pending), ..self }
    }

    /// The value of an expression once every name is settled.
    pub fn of(&self, expr: &Expr) -> Value {
        self.value(expr).unwrap_or(Value::Unknown)
    }

    /// `None` as long as it depends on names of which nothing is known yet.
    pub(super) fn value(&self, expr: &Expr) -> Option<Value> {
        self.deep(expr, 0)
    }

    pub(super) fn deep(&self, expr: &Expr, depth: u32) -> Option<Value> {
        if depth > MOST_DEEP {
            return Some(Value::Unknown);
        }
        let value = |expr: &Expr| self.deep(expr, depth + 1);
        Some(match expr {
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(int) => int.as_i64().map_or(Value::Plain, |int| Value::Known(Constant::Int(int))),
                Number::Float(float) => Value::Known(Constant::Float(float.to_bits())),
                Number::Complex { .. } => Value::Plain,
            },
            Expr::StringLiteral(literal) => Value::Known(Constant::Text(literal.value.to_str().into())),
            Expr::BooleanLiteral(literal) => Value::bool(literal.value),
            Expr::NoneLiteral(_) => Value::NONE,
            Expr::BytesLiteral(_) | Expr::EllipsisLiteral(_) | Expr::FString(_) => Value::Plain,
            Expr::Name(name) => return self.name(&name.id),
            Expr::Tuple(tuple) => {
                let mut plain = true;
                for element in &tuple.elts {
                    plain &= value(element)?.is_plain();
                }
                if plain { Value::Plain } else { Value::Unknown }
            }
            Expr::UnaryOp(e) => unary(e.op, value(&e.operand)?),
            Expr::BinOp(e) => binary(e.op, &value(&e.left)?, &value(&e.right)?),
            Expr::Compare(e) => self.compare(e, depth)?,
            Expr::BoolOp(e) => {
                let (mut result, last) = (None, e.values.len().saturating_sub(1));
                for (at, operand) in e.values.iter().enumerate() {
                    let operand = value(operand)?;
                    let goes_on = operand.truth().map(|truth| truth == (e.op == BoolOp::And));
                    if at == last || goes_on != Some(true) {
                        result = Some(join(result, operand));
                    }
                    if goes_on == Some(false) {
                        break;
                    }
                }
                result.unwrap_or(Value::Unknown)
            }
            Expr::If(e) => match value(&e.test)?.truth() {
                Some(true) => value(&e.body)?,
                Some(false) => value(&e.orelse)?,
                None => value(&e.body)?.or(&value(&e.orelse)?),
            },
            Expr::Named(e) => value(&e.value)?,
            Expr::Call(e) => self.call(e, depth)?,
            Expr::Attribute(e) => {
                let name = e.attr.as_str();
                let of_tensor =
                    plain::PLAIN_ATTRIBUTES.contains(&name) && !(self.defines)(name) && !is_self(&e.value);
                if of_tensor || self.is_plain_path(expr) {
                    return Some(Value::Plain);
                }
                if self.resolve(expr).is_some_and(|path| path == "numpy.newaxis") {
                    return Some(Value::NONE);
                }
                match value(&e.value)? {
                    Value::Plain => Value::Plain,
                    // Its gradient may be `None`.
                    Value::Tensor if tensors::VIEWS.contains(&name) && name != "grad" => Value::Tensor,
                    _ => Value::Unknown,
                }
            }
            Expr::Subscript(e) => {
                let index = value(&e.slice)?;
                match value(&e.value)? {
                    Value::Plain | Value::Known(Constant::Text(_))
                        if index.is_plain() || e.slice.is_slice_expr() =>
                    {
                        Value::Plain
                    }
                    Value::Tensor => Value::Tensor,
                    _ => Value::Unknown,
                }
            }
            Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::DictComp(_)
            | Expr::SetComp(_) => Value::Container,
            _ => Value::Unknown,
        })
    }

    fn name(&self, name: &str) -> Option<Value> {
        let mut outside = false;
        if let Some(pending) = self.pending {
            if pending.bound.contains(name) {
                return pending.known.get(name).cloned();
            }
            outside = true;
        }
        for (at, names) in self.names.iter().enumerate() {
            if let Some(value) = names.get(name) {
                // Another file may set a constant of the module; that it is no tensor stays.
                let is_module = at + 1 == self.names.len();
                let changes = is_module && (at > 0 || outside || !self.in_module);
                return Some(match value {
                    Value::Known(_) if changes => Value::Plain,
                    value => value.clone(),
                });
            }
        }
        Some(Value::Unknown)
    }

    /// Whether an expression is a tensor, or made of a name of this scope that is used like one.
    pub fn looks_like_tensor(&self, expr: &Expr) -> bool {
        self.looks(expr, 0)
    }

    fn looks(&self, expr: &Expr, depth: u32) -> bool {
        match self.of(expr) {
            Value::Tensor => return true,
            Value::Unknown if depth < MOST_DEEP => {}
            _ => return false,
        }
        let looks = |expr: &Expr| self.looks(expr, depth + 1);
        match expr {
            Expr::Name(name) => self.names.first().is_some_and(|names| names.is_used_as_tensor(&name.id)),
            Expr::BinOp(e) => looks(&e.left) || looks(&e.right),
            Expr::UnaryOp(e) => looks(&e.operand),
            Expr::Subscript(e) => looks(&e.value),
            Expr::Attribute(e) => tensors::VIEWS.contains(&e.attr.as_str()) && looks(&e.value),
            Expr::Call(e) => e.func.as_attribute_expr().is_some_and(|method| {
                let name = method.attr.as_str();
                tensors::is_method(name) && !(self.defines)(name) && looks(&method.value)
            }),
            _ => false,
        }
    }

    /// The functions that a name may hold, by their own names; `None` where it may hold others.
    pub(super) fn held(&self, name: &str) -> Option<Vec<Box<str>>> {
        match self.names.iter().find(|names| names.get(name).is_some()) {
            Some(names) => names.functions(name).map(<[_]>::to_vec),
            // Python's own.
            None => Some(vec![name.into()]),
        }
    }

    /// The functions that an expression may hold, by their own names, where it is a variable or a part of one.
    pub fn called(&self, callee: &Expr) -> Box<[Box<str>]> {
        match callee {
            Expr::Attribute(_) => Box::default(),
            _ => functions::references(callee, &|name| self.held(name)).unwrap_or_default().into(),
        }
    }

    /// The dotted path that a name or attribute path was imported from, where nothing of its name hides the import.
    pub fn resolve(&self, expr: &Expr) -> Option<String> {
        let hidden = root(expr).is_some_and(|name| {
            self.is_assigned(name) || self.pending.is_some_and(|pending| pending.assigned.contains(name))
        });
        if hidden { None } else { self.imports.resolve(expr) }
    }

    /// Whether a name may hold something else than what a `def`, `class` or `import` made.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.names.iter().any(|names| names.is_assigned(name))
    }

    /// Whether a plain name is Python's own.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        // `import *` may bind any name.
        ["*", name].iter().all(|name| {
            !self.pending.is_some_and(|pending| pending.bound.contains(name))
                && self.names.iter().all(|names| names.get(name).is_none())
        })
    }

    /// Constants of modules: `math.pi`, `torch.float32`.
    fn is_plain_path(&self, expr: &Expr) -> bool {
        self.resolve(expr).is_some_and(|path| plain::is_plain_constant(&path))
    }

    fn call(&self, e: &ExprCall, depth: u32) -> Option<Value> {
        let value = |expr: &Expr| self.deep(expr, depth + 1);
        let all_plain = || -> Option<bool> {
            let mut plain = true;
            for argument in e.arguments.args.iter().chain(e.arguments.keywords.iter().map(|k| &k.value)) {
                plain &= value(argument)?.is_plain();
            }
            Some(plain)
        };
        let plain = match &*e.func {
            Expr::Name(name) if self.is_builtin(&name.id) => {
                if matches!(name.id.as_str(), "list" | "dict" | "set") {
                    return Some(Value::Container);
                }
                plain::PLAIN_BUILTINS.contains(&name.id.as_str())
                    || (plain::OF_PLAIN_BUILTINS.contains(&name.id.as_str()) && all_plain()?)
            }
            func => {
                if let Some(path) = self.resolve(func) {
                    if tensors::is_made_by(&path) {
                        return Some(Value::Tensor);
                    }
                    if plain::is_plain_function(&path) {
                        return Some(Value::Plain);
                    }
                }
                let Expr::Attribute(method) = func else { return Some(Value::Unknown) };
                let name = method.attr.as_str();
                let own = !(self.defines)(name) && !is_self(&method.value);
                if plain::PLAIN_METHODS.contains(&name) && own {
                    return Some(Value::Plain);
                }
                match value(&method.value)? {
                    Value::Tensor if tensors::is_method(name) => return Some(Value::Tensor),
                    Value::Plain | Value::Known(Constant::Text(_)) => true,
                    _ => false,
                }
            }
        };
        Some(if plain { Value::Plain } else { Value::Unknown })
    }
}

/// Whether it is the object itself, whose attributes may be anything.
fn is_self(expr: &Expr) -> bool {
    expr.as_name_expr().is_some_and(|name| matches!(name.id.as_str(), "self" | "cls"))
}

/// The name that an attribute path begins with.
fn root(mut expr: &Expr) -> Option<&str> {
    while let Expr::Attribute(attribute) = expr {
        expr = &attribute.value;
    }
    expr.as_name_expr().map(|name| name.id.as_str())
}

pub(super) fn join(so_far: Option<Value>, value: Value) -> Value {
    match so_far {
        Some(so_far) => so_far.or(&value),
        None => value,
    }
}

/// An operator's value: of plain values only a plain one.
pub(super) fn binary(op: Operator, left: &Value, right: &Value) -> Value {
    // `"…" % x` is a string whatever `x` is.
    if op == Operator::Mod && matches!(left, Value::Known(Constant::Text(_))) {
        return Value::Plain;
    }
    if let (Value::Known(Constant::Int(left)), Value::Known(Constant::Int(right))) = (left, right) {
        let folded = match op {
            Operator::Add => left.checked_add(*right),
            Operator::Sub => left.checked_sub(*right),
            Operator::Mult => left.checked_mul(*right),
            _ => None,
        };
        return folded.map_or(Value::Plain, |value| Value::Known(Constant::Int(value)));
    }
    match (left, right) {
        (left, right) if left.is_plain() && right.is_plain() => Value::Plain,
        (Value::Tensor, other) | (other, Value::Tensor) if other.is_plain() || *other == Value::Tensor => {
            Value::Tensor
        }
        (Value::Container, other) | (other, Value::Container)
            if other.is_plain() || *other == Value::Container =>
        {
            Value::Container
        }
        _ => Value::Unknown,
    }
}

fn unary(op: UnaryOp, operand: Value) -> Value {
    match (op, operand) {
        // `not x` is a bool whatever `x` is.
        (UnaryOp::Not, operand) => operand.truth().map_or(Value::Plain, |truth| Value::bool(!truth)),
        (UnaryOp::USub, Value::Known(Constant::Int(value))) => {
            value.checked_neg().map_or(Value::Plain, |value| Value::Known(Constant::Int(value)))
        }
        (UnaryOp::USub, Value::Known(Constant::Float(bits))) => {
            Value::Known(Constant::Float((-f64::from_bits(bits)).to_bits()))
        }
        (_, operand) if operand.is_plain() => Value::Plain,
        (_, Value::Tensor) => Value::Tensor,
        _ => Value::Unknown,
    }
}
