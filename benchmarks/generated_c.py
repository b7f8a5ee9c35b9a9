"""Functions of CasADi as compiled C: one state as CasADi writes it, and vectors of states.

The vector code has the same instructions, each for as many states as there are lanes; a batch is
spread over all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
import ctypes
from functools import partial
import os
from pathlib import Path
import shutil
import subprocess
import tempfile

import casadi as ca
import numpy as np

FLAGS = ('-O3', '-march=native', '-fno-math-errno', '-fno-trapping-math', '-shared', '-fPIC')
LANES = 8
FREE = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_ASSIGN}
"""Instructions that calculate nothing."""

HEAD = f"""
#include <math.h>
typedef double V __attribute__((vector_size({8 * LANES})));
static inline V lanes_sqrt(V a) {{ V r; for (int l = 0; l < {LANES}; ++l) r[l] = sqrt(a[l]);
  return r; }}
static inline V lanes_min(V a, V b) {{ V r;
  for (int l = 0; l < {LANES}; ++l) r[l] = a[l] < b[l] ? a[l] : b[l]; return r; }}
static inline V lanes_max(V a, V b) {{ V r;
  for (int l = 0; l < {LANES}; ++l) r[l] = a[l] > b[l] ? a[l] : b[l]; return r; }}
static inline V spread(double x) {{ V r; for (int l = 0; l < {LANES}; ++l) r[l] = x; return r; }}
static inline V gather(const double* p, long stride) {{ V r;
  for (int l = 0; l < {LANES}; ++l) r[l] = p[l * stride]; return r; }}
static inline void scatter(V a, double* p, long stride) {{
  for (int l = 0; l < {LANES}; ++l) p[l * stride] = a[l]; }}
void nothing(const double* m, const double* u, double* out) {{ }}
"""
WRITTEN = {
    ca.OP_ADD: '{0} + {1}', ca.OP_SUB: '{0} - {1}', ca.OP_MUL: '{0} * {1}',
    ca.OP_DIV: '{0} / {1}', ca.OP_NEG: '-{0}', ca.OP_SQ: '{0} * {0}', ca.OP_TWICE: '{0} + {0}',
    ca.OP_INV: '1.0 / {0}', ca.OP_ASSIGN: '{0}', ca.OP_SQRT: 'lanes_sqrt({0})',
    ca.OP_FMIN: 'lanes_min({0}, {1})', ca.OP_FMAX: 'lanes_max({0}, {1})',
}  # fmt: skip


def compiler() -> str | None:
    """Return the C compiler, if there is one."""
    return shutil.which(os.environ.get('CC', 'cc'))


class Library:
    """Functions of a motion (24,) and efforts (n,) to one vector each, compiled."""

    def __init__(self, functions: Mapping[str, ca.Function]) -> None:
        self.functions = dict(functions)
        self.operations = {
            name: sum(f.instruction_id(k) not in FREE for k in range(f.n_instructions()))
            for name, f in functions.items()
        }
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        generator = ca.CodeGenerator('peer.c', {'with_header': False})
        for function in functions.values():
            generator.add(function)
        generator.generate(f'{folder}/')
        source = folder / 'peer.c'
        parts = [source.read_text(), HEAD]
        for name, function in functions.items():
            parts += [_once(name, function), _lanes(name, function)]
        source.write_text('\n'.join(parts))
        library = folder / 'peer.so'
        subprocess.run([compiler() or 'cc', *FLAGS, '-o', library, source, '-lm'], check=True)
        self._library = ctypes.CDLL(str(library))
        self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def prepare(self, name: str, m: np.ndarray, u: np.ndarray) -> tuple[Callable, np.ndarray]:
        """Return a call with its arguments ready, and the array (rows,) that it fills."""
        out = np.zeros(self._rows(name) if name in self.functions else 1)
        kept = [np.ascontiguousarray(a, float) for a in (m, u)]
        words = [ctypes.c_void_p(a.ctypes.data) for a in (*kept, out)]
        function = getattr(self._library, name if name == 'nothing' else f'{name}_once')
        function.restype = None
        call = partial(function, *words)
        self._kept = [*getattr(self, '_kept', []), kept]
        return call, out

    def _rows(self, name: str) -> int:
        return int(self.functions[name].size1_out(0))

    def many(self, name: str, m: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Evaluate N states, at least as many as there are lanes, on all cores."""
        m, u = np.ascontiguousarray(m), np.ascontiguousarray(u)
        out = np.empty((len(m), self._rows(name)))
        function = getattr(self._library, f'{name}_lanes')
        words = [ctypes.c_void_p(a.ctypes.data) for a in (m, u, out)]
        cores = min(self._pool._max_workers, max(1, len(m) // 256))
        edges = np.linspace(0, len(m), cores + 1).astype(int).tolist()

        def work(first: int, last: int) -> None:
            function(ctypes.c_long(first), ctypes.c_long(last), *words)

        list(self._pool.map(work, edges[:-1], edges[1:]))
        return out


def _once(name: str, function: ca.Function) -> str:
    work = function.sz_w() + 1
    return (
        f'void {name}_once(const double* m, const double* u, double* out) {{ double w[{work}];\n'
        f'  const double* arg[8] = {{m, u}}; double* res[4] = {{out}};\n'
        f'  {name}(arg, res, 0, w, 0); }}'
    )


def _lanes(name: str, function: ca.Function) -> str:
    """The function's instructions with a vector for every number; the last group overlaps."""
    sizes = [function.size1_in(k) for k in range(2)]
    rows = function.size1_out(0)
    lines = [
        f'void {name}_lanes(long first, long last, const double* m, const double* u, '
        'double* out) {',
        f'for (long k = first; k < last; k += {LANES}) {{',
        f'  if (k > last - {LANES}) k = last - {LANES};',
        f'  const double *m_k = m + {sizes[0]} * k, *u_k = u + {sizes[1]} * k;',
        f'  double* out_k = out + {rows} * k;',
        f'  V {", ".join(f"w{k}" for k in range(function.sz_w()))};',
    ]
    for k in range(function.n_instructions()):
        kind = function.instruction_id(k)
        read, written = function.instruction_input(k), function.instruction_output(k)
        if kind == ca.OP_INPUT:
            which = ('m_k', 'u_k')[read[0]]
            lines.append(f'  w{written[0]} = gather({which} + {read[1]}, {sizes[read[0]]});')
        elif kind == ca.OP_OUTPUT:
            lines.append(f'  scatter(w{read[0]}, out_k + {written[1]}, {rows});')
        elif kind == ca.OP_CONST:
            lines.append(f'  w{written[0]} = spread({function.instruction_constant(k)!r});')
        else:
            text = WRITTEN[kind].format(*(f'w{r}' for r in read))
            lines.append(f'  w{written[0]} = {text};')
    return '\n'.join([*lines, '} }'])
