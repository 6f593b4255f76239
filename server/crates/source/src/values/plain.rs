//! What of Python and torch gives numbers, strings and the like, by name.

/// Constants of modules: `math.pi`, `torch.float32`.
pub(super) fn is_plain_constant(path: &str) -> bool {
    path.strip_prefix("torch.").is_some_and(|name| DTYPES.contains(&name))
        || matches!(path, "math.pi" | "math.e" | "math.tau" | "math.inf" | "math.nan")
        || matches!(path, "numpy.pi" | "numpy.e" | "numpy.inf" | "sys.maxsize" | "sys.version_info")
}

/// Functions of modules whose results are numbers or strings.
pub(super) fn is_plain_function(path: &str) -> bool {
    let in_any =
        |modules: &[&str]| path.rsplit_once('.').is_some_and(|(module, _)| modules.contains(&module));
    in_any(&["math", "time", "os.path"])
        || matches!(
            path.strip_prefix("random."),
            Some(
                "random"
                    | "randint"
                    | "uniform"
                    | "randrange"
                    | "gauss"
                    | "getrandbits"
                    | "normalvariate"
                    | "expovariate"
            )
        )
        || matches!(
            path,
            "os.getenv"
                | "os.environ.get"
                | "torch.is_tensor"
                | "torch.is_grad_enabled"
                | "torch.is_autocast_enabled"
                | "torch.get_default_dtype"
                | "torch.finfo"
                | "torch.iinfo"
                | "torch.device"
                | "torch.get_num_threads"
                | "torch.cuda.is_available"
                | "torch.cuda.device_count"
                | "torch.cuda.current_device"
        )
}

/// Attributes of a tensor, module or dtype that are no tensors.
pub(super) const PLAIN_ATTRIBUTES: [&str; 14] = [
    "shape",
    "ndim",
    "dtype",
    "device",
    "layout",
    "requires_grad",
    "is_leaf",
    "is_cuda",
    "is_sparse",
    "is_quantized",
    "itemsize",
    "nbytes",
    "training",
    "__name__",
];

/// Methods of a tensor that give numbers.
pub(super) const PLAIN_METHODS: [&str; 15] = [
    "size",
    "dim",
    "ndimension",
    "numel",
    "nelement",
    "element_size",
    "stride",
    "storage_offset",
    "data_ptr",
    "item",
    "is_contiguous",
    "is_floating_point",
    "is_complex",
    "get_device",
    "startswith",
];

/// Builtins that give numbers, strings and bools, whatever they are given.
pub(super) const PLAIN_BUILTINS: [&str; 19] = [
    "len",
    "int",
    "float",
    "bool",
    "complex",
    "str",
    "repr",
    "format",
    "range",
    "isinstance",
    "issubclass",
    "hasattr",
    "callable",
    "id",
    "hash",
    "ord",
    "chr",
    "print",
    "all",
];

/// Builtins that give what they are given.
pub(super) const OF_PLAIN_BUILTINS: [&str; 10] =
    ["abs", "round", "min", "max", "sum", "pow", "divmod", "tuple", "sorted", "reversed"];

/// `torch.float32` and its like.
pub(super) const DTYPES: [&str; 24] = [
    "float16",
    "float32",
    "float64",
    "half",
    "float",
    "double",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "short",
    "int",
    "long",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
    "cfloat",
    "float8_e4m3fn",
    "float8_e5m2",
];
