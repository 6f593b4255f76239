"""Every construct that the automaton models, once."""
import functools
from contextlib import nullcontext as ctx

import torch
from torch.profiler import profile as p


@functools.wraps(print)
def wrapped(a, b=torch.ones(1), *args, c: int = 1, **kwargs) -> int:
    global G
    x: int = a
    y: int
    (x, [y, *z]) = a, b
    x[0], x.y = y, z
    x += 1
    x.y *= 2
    x[1:2, ..., None, a] -= 3
    del x[0], x.y
    if (n := a * 2) and not b or 1 < x <= y != z:
        pass
    elif a in b:
        return a
    else:
        raise ValueError(a) from b
    for i, j in zip(a, b):
        if i:
            break
        elif j:
            continue
    else:
        x = -x
    while x is not None:
        with ctx(a) as q, ctx(b):
            break
    try:
        assert a == b, f"{a!r:>{b}} {x * 2}"
    except (TypeError, ValueError) as e:
        x = ~x
    except RuntimeError:
        return
    else:
        x = x @ x
    finally:
        x = x ** 2
    match a:
        case 1 | 2:
            x = 1
        case {"k": v, **rest} if v > 0:
            x = v
        case [first, *others]:
            x = first
        case Point(x=0) as point:
            x = point
        case _:
            x = 0
    l = [a * k for row in a for k in row if k > 0]
    s = {k for k in l}
    d = {k: v for k, v in zip(l, s)}
    g = (k for k in l)
    h = lambda t, u=x + 1: t * u
    return sum(k * 2 for k in g) if a else h(*l, **d)


class C(torch.nn.Module, metaclass=type):
    attr = 1

    @property
    def prop(self):
        yield self.attr
        yield from self.prop

    async def co(self):
        async with self as s:
            async for i in s:
                await i
        return [k async for k in s]


type Alias = int
with p(with_stack=True) as prof:
    wrapped(1)
def norm(x, w, eps): v = x * x; v = v.mean(-1, keepdim=True); return x * torch.rsqrt(v + eps) * w
