r"""Records the line of every Python call beside the traces of torch.profiler, for ATen Lens.

Up to torch 2.13 a trace names the functions that called an op, but not the lines. The profiler knows them all the same:

    from aten_lens_recorder import exact_lines

    with profile(..., with_stack=True, on_trace_ready=exact_lines(tensorboard_trace_handler("./log"))):

Any handler that calls `prof.export_chrome_trace(path)` can be wrapped. Whoever calls it by hand calls
`exact_lines.export(prof, path)` instead.

`NAME.lines.json.gz` is written next to `NAME.json` or `NAME.json.gz`. It holds an object:

    version         1
    torch, python   versions, as text
    strings         every text once; the columns below count in it from 0
    starts          of each call: nanoseconds since the epoch; the first as it is, then the differences
    names           of each call: what the trace calls it
    files, lines    of each call: the file and the line (from 1) that it was called from
    sha256          of the sources, as they were when this was written: file as in `files` or `names`, hash in hex

A hash is of the text and not of the bytes, so that an editor's text can be compared with it: decoded as Python does it
(by the byte order mark or the declared coding, else as UTF-8), without the mark, every line ending a `\n`, and that in
UTF-8. A file that cannot be read, or may be any of several, has none.

Nothing here can end a run: what goes wrong is one line on stderr.
"""

import gzip
import hashlib
import json
import os
import platform
import sys
import tokenize

VERSION = 1
_said = set()


def exact_lines(on_trace_ready):
    """Wraps an `on_trace_ready` handler: beside every trace that it exports, the call lines are written."""
    if on_trace_ready is None:
        # As torch has it: nothing happens when a trace is ready, and so nothing is exported.
        return None

    def handler(prof):
        paths = []
        _guarded(_note_exports, prof, paths)
        try:
            return on_trace_ready(prof)
        finally:
            _guarded(_forget_exports, prof)
            if paths:
                _guarded(_record, prof, paths)

    return handler


def _export(prof, path):
    """Exports the trace to `path` and writes the call lines beside it."""
    result = prof.export_chrome_trace(path)
    _guarded(_record, prof, [path])
    return result


exact_lines.export = _export


def _note_exports(prof, paths):
    """Has `prof` note where it exports traces to, until `_forget_exports`."""
    export = prof.export_chrome_trace

    def noting(path, *args, **kwargs):
        result = export(path, *args, **kwargs)
        # Made absolute at once: a handler may change the directory.
        _guarded(lambda: paths.append(os.path.abspath(os.fspath(path))))
        return result

    noting.before = vars(prof).get("export_chrome_trace")
    prof.export_chrome_trace = noting


def _forget_exports(prof):
    before = prof.export_chrome_trace.before
    if before is None:
        del prof.export_chrome_trace
    else:
        prof.export_chrome_trace = before


def _guarded(action, *args):
    try:
        action(*args)
    except Exception as error:
        _say(f"the lines of calls were not recorded: {type(error).__name__}: {error}")


def _say(message):
    """One line on stderr, the first time."""
    if message not in _said and sys.stderr is not None:
        _said.add(message)
        try:
            sys.stderr.write(f"aten_lens_recorder: {' '.join(message.split())}\n")
        except (OSError, ValueError):
            pass  # A closed stderr: there is nobody to tell.


def _record(prof, paths):
    if not getattr(prof, "with_stack", True):
        _say("no lines to record: profile(...) needs with_stack=True")
        return
    text = json.dumps(_columns(_calls(prof)), separators=(",", ":"))
    packed = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=4)
    for path in paths:
        target = _beside(os.fspath(path))
        # Renamed when whole: whoever watches the folder never sees a half of it.
        with open(f"{target}.tmp", "wb") as file:
            file.write(packed)
        os.replace(f"{target}.tmp", target)


def _beside(path):
    for ending in (".gz", ".json"):
        if path.endswith(ending):
            path = path[: -len(ending)]
    return f"{path}.lines.json.gz"


def _calls(prof):
    """(start in ns, name, file and line of the call) of every Python call, by start."""
    calls, is_call = [], {}
    nodes = list(prof.profiler.kineto_results.experimental_event_tree())
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        kind = int(node.tag)
        if kind not in is_call:  # The name of a kind is slow to ask for, and there are many nodes.
            is_call[kind] = node.tag.name in ("PyCall", "PyCCall")
        if is_call[kind]:
            try:
                caller = node.extra_fields.caller
                if caller.line_number > 0:
                    calls.append((node.start_time_ns, node.name, caller.file_name, caller.line_number))
            except UnicodeDecodeError:
                pass  # torch 2.2 has names that it has already freed: that call goes without a line.
    return sorted(calls)


def _columns(calls):
    strings, starts, last = {}, [], 0
    number = lambda text: strings.setdefault(text, len(strings))
    for start, _, _, _ in calls:
        starts.append(start - last)
        last = start
    columns = {
        "version": VERSION,
        "torch": str(getattr(sys.modules.get("torch"), "__version__", "")),
        "python": platform.python_version(),
        "starts": starts,
        "names": [number(name) for _, name, _, _ in calls],
        "files": [number(file) for _, _, file, _ in calls],
        "lines": [line for _, _, _, line in calls],
        "sha256": _hashes({file for _, _, file, _ in calls} | {_file_of(text) for text in strings}),
    }
    columns["strings"] = list(strings)
    return columns


def _file_of(name):
    """The file in `path.py(12): function`."""
    return name.rpartition("): ")[0].rpartition("(")[0]


def _hashes(files):
    folders, loaded, hashes = _folders(), _loaded(), {}
    for file in sorted(files):
        path = _path(file, folders, loaded) if file.endswith(".py") else None
        if path is not None:
            try:
                # Decodes and ends lines as Python does when it runs the file.
                with tokenize.open(path) as source:
                    hashes[file] = hashlib.sha256(source.read().encode("utf-8")).hexdigest()
            except (OSError, SyntaxError, LookupError, ValueError):
                pass  # No text that a hash could be of; the lines are worth as much without it.
    return hashes


def _folders():
    return ["", *(folder for folder in sys.path if isinstance(folder, str))]


def _loaded():
    """The files of all modules; asked of their dictionaries, since a module may make something of being asked."""
    files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
    return {os.path.realpath(file) for file in files if isinstance(file, str)}


def _path(file, folders, loaded):
    """Where a file lies that the profiler names: it has cut off a folder of sys.path. `None` if it may be several."""
    found = {os.path.realpath(os.path.join(folder, file)) for folder in folders}
    found = {path for path in found if os.path.isfile(path)}
    if len(found) > 1:
        found &= loaded
    return found.pop() if len(found) == 1 else None
