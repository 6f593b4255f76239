//! Which `aten::` ops and which frames Python's operators and protocols leave in a trace.
//!
//! Operators, subscripts and attribute reads go through C slots: their ops lie bare in the function's span. The tables
//! hold what each may dispatch to, without the `aten::` namespace; a trailing `_` is compared separately.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};

pub type Names = &'static [&'static str];

/// Ops of a binary operator. With a number on the left Python asks the tensor on the right: `rsub`, `reciprocal`.
pub fn binary_ops(op: Operator) -> Names {
    match op {
        Operator::Add => &["add"],
        Operator::Sub => &["sub", "rsub"],
        Operator::Mult => &["mul"],
        Operator::Div => &["div", "reciprocal", "mul", "true_divide"],
        Operator::MatMult => &["matmul", "mm", "bmm", "dot", "mv"],
        Operator::Pow => &["pow", "float_power"],
        Operator::FloorDiv => &["floor_divide", "div"],
        Operator::Mod => &["remainder", "fmod"],
        Operator::BitAnd => &["bitwise_and", "__and__"],
        Operator::BitOr => &["bitwise_or", "__or__"],
        Operator::BitXor => &["bitwise_xor", "__xor__"],
        Operator::LShift => &["bitwise_left_shift", "__lshift__"],
        Operator::RShift => &["bitwise_right_shift", "__rshift__"],
    }
}

/// Ops of `target op= value` where the target is a tensor: it is changed in place. `@=` is not: there a new one is made.
pub fn in_place_ops(op: Operator) -> Names {
    match op {
        Operator::Add => &["add_"],
        Operator::Sub => &["sub_"],
        Operator::Mult => &["mul_"],
        Operator::Div => &["div_"],
        Operator::MatMult => binary_ops(op),
        Operator::Pow => &["pow_"],
        Operator::FloorDiv => &["floor_divide_"],
        Operator::Mod => &["remainder_"],
        Operator::BitAnd => &["bitwise_and_", "__iand__"],
        Operator::BitOr => &["bitwise_or_", "__ior__"],
        Operator::BitXor => &["bitwise_xor_", "__ixor__"],
        Operator::LShift => &["bitwise_left_shift_", "__ilshift__"],
        Operator::RShift => &["bitwise_right_shift_", "__irshift__"],
    }
}

/// Frames of a binary operator that Python code implements.
pub fn binary_frames(op: Operator) -> Names {
    match op {
        Operator::Add => &["__add__", "__radd__", "__iadd__"],
        Operator::Sub => &["__sub__", "__rsub__", "__isub__"],
        Operator::Mult => &["__mul__", "__rmul__", "__imul__"],
        Operator::Div => &["__truediv__", "__rtruediv__", "__rdiv__", "__itruediv__", "__idiv__"],
        Operator::MatMult => &["__matmul__", "__rmatmul__", "__imatmul__"],
        Operator::Pow => &["__pow__", "__rpow__", "__ipow__"],
        Operator::FloorDiv => &["__floordiv__", "__rfloordiv__", "__ifloordiv__"],
        Operator::Mod => &["__mod__", "__rmod__", "__imod__"],
        Operator::BitAnd => &["__and__", "__rand__", "__iand__"],
        Operator::BitOr => &["__or__", "__ror__", "__ior__"],
        Operator::BitXor => &["__xor__", "__rxor__", "__ixor__"],
        Operator::LShift => &["__lshift__", "__rlshift__", "__ilshift__"],
        Operator::RShift => &["__rshift__", "__rrshift__", "__irshift__"],
    }
}

pub fn unary_ops(op: UnaryOp) -> Names {
    match op {
        UnaryOp::USub => &["neg"],
        UnaryOp::Invert => &["bitwise_not", "logical_not"],
        UnaryOp::UAdd => &["positive"],
        UnaryOp::Not => TRUTH_OPS,
    }
}

pub const UNARY_FRAMES: Names = &["__invert__", "__neg__", "__pos__"];

/// Ops of a comparison. With a Python number on the left Python asks the tensor on the right the other way round.
pub fn compare_ops(op: CmpOp) -> Names {
    match op {
        CmpOp::Eq => &["eq"],
        CmpOp::NotEq => &["ne"],
        CmpOp::Lt => &["lt", "gt"],
        CmpOp::LtE => &["le", "ge"],
        CmpOp::Gt => &["gt", "lt"],
        CmpOp::GtE => &["ge", "le"],
        CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn => &[],
    }
}

/// Frames of a comparison; none for identity.
pub fn compare_frames(op: CmpOp) -> Names {
    match op {
        CmpOp::Is | CmpOp::IsNot => &[],
        CmpOp::In | CmpOp::NotIn => &["__contains__"],
        _ => &["__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"],
    }
}

/// `tensor in list`: compared with one element after the other.
pub const AMONG_OPS: Names = &["eq", "is_nonzero"];

/// `if tensor`: the value leaves the device.
pub const TRUTH_OPS: Names = &["is_nonzero", "item", "_local_scalar_dense"];
pub const TRUTH_FRAMES: Names = &["__bool__"];

pub const ITERATE_OPS: Names = &["unbind"];
pub const ITERATE_FRAMES: Names =
    &["__iter__", "__next__", "__len__", "__reversed__", "<genexpr>", "__aiter__", "__anext__"];
pub const NEXT_FRAMES: Names =
    &["__next__", "parameters", "named_parameters", "<genexpr>", "__iter__", "__anext__"];
pub const NESTED_ITERATE_OPS: Names = &["unbind", "item"];

pub const ATTRIBUTE_FRAMES: Names = &["__getattr__", "__getattribute__", "__get__"];
pub const SET_ATTRIBUTE_FRAMES: Names = &["__setattr__", "__set__"];

/// Ops of a tensor attribute that is computed.
pub fn attribute_ops(name: &str) -> Names {
    match name {
        "T" => &["numpy_T", "t", "permute"],
        "mT" => &["mT", "transpose"],
        "H" => &["matrix_H", "adjoint", "transpose", "t"],
        "mH" => &["mH", "transpose"],
        "data" => &["detach", "alias"],
        "real" => &["real", "alias", "detach"],
        "imag" => &["imag"],
        "grad" => &["alias", "detach"],
        _ => &[],
    }
}

/// Ops of assigning to a tensor's attribute.
pub fn set_attribute_ops(name: &str) -> Names {
    match name {
        "data" => &["_has_compatible_shallow_copy_type"],
        _ => &[],
    }
}

/// Ops of `"%.3f" % x`: the value leaves the device. An f-string and `format` open a frame of their own.
pub const FORMAT_OPS: Names = &["item", "_local_scalar_dense"];

/// Ops of a builtin constructor that reads a tensor, called by its plain name.
pub fn constructor_ops(name: &str) -> Names {
    match name {
        "float" | "int" | "complex" => &["item", "_local_scalar_dense"],
        "bool" => &["is_nonzero", "item"],
        "list" | "tuple" | "set" | "frozenset" | "dict" | "zip" | "enumerate" | "map" | "filter"
        | "reversed" => ITERATE_OPS,
        "range" => INDEX_VALUE,
        _ => &[],
    }
}

/// Frames that a builtin type opens, which has none of its own: methods of what it is given.
pub fn type_frames(name: &str) -> Names {
    match name {
        "str" => &["__str__", "__repr__", "__format__"],
        "int" => &["__int__", "__index__", "__trunc__"],
        "float" => &["__float__", "__index__"],
        "complex" => &["__complex__", "__float__"],
        "bool" => &["__bool__", "__len__"],
        "bytes" => &["__bytes__", "__iter__", "__len__"],
        "range" | "slice" => &["__index__"],
        "list" | "tuple" | "zip" | "enumerate" | "map" | "filter" | "reversed" => ITERATE_FRAMES,
        "set" | "frozenset" | "dict" => {
            &["__iter__", "__next__", "__len__", "<genexpr>", "__hash__", "__eq__"]
        }
        _ => &[],
    }
}

/// Ops of `torch.Tensor(…)` and its like, which leave no frame of their own.
pub fn tensor_type_ops(name: &str) -> Names {
    match name {
        "Tensor" | "FloatTensor" | "DoubleTensor" | "HalfTensor" | "BFloat16Tensor" | "ByteTensor"
        | "CharTensor" | "ShortTensor" | "IntTensor" | "LongTensor" | "BoolTensor" => {
            &["lift_fresh", "to", "empty", "detach_", "copy_", "alias", "set_", "resize_"]
        }
        _ => &[],
    }
}

/// Builtin types whose call leaves no frame: assuming that nothing was recorded is cheap.
pub fn leaves_no_frame(name: &str) -> bool {
    matches!(
        name,
        "range"
            | "zip"
            | "int"
            | "tuple"
            | "list"
            | "dict"
            | "set"
            | "enumerate"
            | "map"
            | "filter"
            | "reversed"
            | "super"
            | "type"
            | "slice"
            | "str"
            | "property"
            | "float"
            | "bool"
            | "frozenset"
            | "object"
            | "bytes"
            | "partial"
    )
}

/// Builtins that open no frame of another name, beside those that call what they are given.
pub fn is_builtin(name: &str) -> bool {
    leaves_no_frame(name)
        || matches!(
            name,
            "abs"
                | "all"
                | "any"
                | "callable"
                | "format"
                | "getattr"
                | "hasattr"
                | "hash"
                | "id"
                | "isinstance"
                | "issubclass"
                | "iter"
                | "len"
                | "max"
                | "min"
                | "next"
                | "open"
                | "print"
                | "repr"
                | "round"
                | "setattr"
                | "sorted"
                | "sum"
        )
}

pub const SELECT: Names = &["select"];
/// A tensor of one element as an index or bound is read first.
pub const INDEX_VALUE: Names = &["item", "nonzero"];
pub const SLICE: Names = &["slice"];
pub const NEW_AXIS: Names = &["unsqueeze"];
/// Ops that make a tensor of an index: of a list, a NumPy array, or one of another device.
pub const MAKE_INDEX: Names = &["empty", "lift_fresh", "to", "detach_"];
/// The same of `True` or `False`, which is an axis of its own.
pub const MAKE_BOOL_INDEX: Names = &["unsqueeze", "empty", "fill_"];
/// Reads by tensor index.
pub const INDEX: Names = &["index"];
/// Ends a read by plain index.
pub const VIEW: Names = &["alias"];
/// Ops that make of the value what is written.
pub const MAKE_VALUE: Names = &["lift_fresh", "detach_", "to", "expand", "view", "alias", "empty"];
/// Ends a write by plain index.
pub const STORE: Names = &["copy_", "fill_"];
/// Ends a write by tensor index.
pub const STORE_BY_INDEX: Names =
    &["index_put_", "_index_put_impl_", "index_fill_", "masked_fill_", "copy_", "fill_"];
