//! What makes a tensor: functions and methods of torch whose result is a single tensor.

/// Whether a function, by its full dotted path, gives one tensor.
pub(super) fn is_made_by(path: &str) -> bool {
    if let Some(name) = path.strip_prefix("torch.nn.functional.") {
        return is_functional(name);
    }
    path.strip_prefix("torch.").is_some_and(|name| MAKERS.contains(&name) || OF_TENSORS.contains(&name))
}

/// Whether a method of this name gives a tensor when it is a tensor's.
pub(super) fn is_method(name: &str) -> bool {
    OF_TENSORS.contains(&name) || ONLY_METHODS.contains(&name) || is_tensors_own(name) || name.ends_with('_')
}

/// Whether a function of torch or a method of a tensor of this name gives a tensor: each call of it launches ops.
pub fn gives_tensor(name: &str) -> bool {
    MAKERS.contains(&name) || is_functional(name) || is_method(name)
}

/// Whether `torch.nn.functional` has a function of this name that gives a tensor.
pub fn is_functional(name: &str) -> bool {
    FUNCTIONAL.contains(&name)
}

/// Whether hardly anything but a tensor has a method of this name; it gives a tensor.
pub(super) fn is_tensors_own(name: &str) -> bool {
    OWN_METHODS.contains(&name)
}

/// Whether what has such an attribute is hardly anything but a tensor (or an array, whose index leaves no event either).
pub(super) fn tells_tensor(attribute: &str) -> bool {
    is_tensors_own(attribute) || matches!(attribute, "shape" | "size" | "dim" | "dtype" | "numel" | "ndim")
}

/// Attributes of a tensor that are tensors.
pub(super) const VIEWS: [&str; 8] = ["T", "mT", "H", "mH", "data", "real", "imag", "grad"];

const MAKERS: [&str; 32] = [
    "all",
    "any",
    "isin",
    "tensor",
    "as_tensor",
    "from_numpy",
    "zeros",
    "ones",
    "empty",
    "full",
    "rand",
    "randn",
    "randint",
    "randperm",
    "arange",
    "linspace",
    "logspace",
    "eye",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "rand_like",
    "randn_like",
    "cat",
    "concat",
    "stack",
    "hstack",
    "vstack",
    "einsum",
    "normal",
    "cdist",
];

/// Functions that are methods, too.
const OF_TENSORS: [&str; 84] = [
    "abs",
    "add",
    "argmax",
    "argmin",
    "argsort",
    "atan2",
    "bernoulli",
    "bincount",
    "bmm",
    "ceil",
    "clamp",
    "clip",
    "clone",
    "conj",
    "cos",
    "cosh",
    "cross",
    "cumprod",
    "cumsum",
    "diag",
    "diagonal",
    "div",
    "dot",
    "erf",
    "exp",
    "expm1",
    "flatten",
    "flip",
    "floor",
    "fmod",
    "gather",
    "index_select",
    "isfinite",
    "isinf",
    "isnan",
    "lerp",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "maximum",
    "mean",
    "minimum",
    "mm",
    "mul",
    "multinomial",
    "mv",
    "nan_to_num",
    "neg",
    "outer",
    "permute",
    "pow",
    "prod",
    "reciprocal",
    "relu",
    "remainder",
    "repeat_interleave",
    "reshape",
    "roll",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "squeeze",
    "sub",
    "sum",
    "tanh",
    "transpose",
    "tril",
    "triu",
];

const ONLY_METHODS: [&str; 17] = [
    "all", "any", "bfloat16", "bool", "cpu", "cuda", "double", "float", "half", "int", "long", "repeat",
    "std", "t", "to", "type", "var",
];

const OWN_METHODS: [&str; 24] = [
    "clamp_",
    "contiguous",
    "detach",
    "expand",
    "expand_as",
    "index_add_",
    "index_copy_",
    "index_fill_",
    "log_softmax",
    "logsumexp",
    "masked_fill",
    "masked_fill_",
    "masked_select",
    "permute",
    "requires_grad_",
    "rsqrt",
    "scatter_",
    "scatter_add_",
    "softmax",
    "type_as",
    "unsqueeze",
    "unsqueeze_",
    "view",
    "view_as",
];

const FUNCTIONAL: [&str; 48] = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "hardswish",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pixel_shuffle",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "unfold",
];
