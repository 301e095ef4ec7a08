"""Writes web/src/read/documents.ts from documents.py: `python -m pozor.viewer.typescript [--check] [PATH]`.

TypedDict → interface, Literal → union, comment → JSDoc. Anything else in documents.py is an error.
"""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

from pozor.errors import OptionError

SOURCE = Path(__file__).with_name("documents.py")
TARGET = Path(__file__).parents[3] / "web" / "src" / "read" / "documents.ts"
HEADER = "// Generated from pozor/viewer/documents.py by python -m pozor.viewer.typescript.\n"
_NAMES = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}


def generate(source: str) -> str:
    """The TypeScript of a documents.py.

    Example:
        >>> print(generate("class A(TypedDict):\\n    x: list[float | None]\\n").split("\\n\\n")[1].rstrip())
        export interface A {
          x: (number | null)[];
        }

    Raises:
        OptionError: `source` holds a type or a statement that has no TypeScript here.
    """
    tree = ast.parse(source)
    comments = _comments(source)
    parts = [HEADER]
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            parts.append(_interface(statement, comments))
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            parts.append(f"export type {statement.targets[0].id} = {_type(statement.value)};\n")
        elif not isinstance(statement, ast.ImportFrom) and not _is_text(statement):
            raise _cannot(statement)
    return "\n".join(parts)


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ").rstrip() for t in tokens if t.type == tokenize.COMMENT}


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _interface(shape: ast.ClassDef, comments: dict[int, str]) -> str:
    lines = [f"export interface {shape.name} {{"]
    for field in shape.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if field.lineno in comments:
                lines.append(f"  {_doc(comments[field.lineno])}")
            lines.append(f"  {field.target.id}: {_type(field.annotation)};")
        elif not _is_text(field):
            raise _cannot(field)
    text = ast.get_docstring(shape)
    return "\n".join([*([_doc(text)] if text else []), *lines, "}", ""])


def _doc(text: str) -> str:
    text = re.sub(r"\bNone\b", "null", " ".join(text.split()))
    return f"/** {text.replace('*/', '* /')} */"


def _type(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return _NAMES.get(name, name)
        case ast.Constant(value=None):
            return "null"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{_type(left)} | {_type(right)}"
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            item = _type(inner)
            return f"({item})[]" if " | " in item else f"{item}[]"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=values)):
            return " | ".join(_literal(v) for v in values)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=value):
            return _literal(value)
    raise _cannot(node)


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f'"{node.value}"'
    raise _cannot(node)


def _cannot(node: ast.AST) -> OptionError:
    return OptionError(
        f"documents.py may hold TypedDicts of str, int, float, bool, list, Literal and None; "
        f"got {ast.unparse(node)!r}."
    )


def main(arguments: list[str]) -> int:
    """Write the file, or with --check say whether it is up to date; the exit code."""
    check = "--check" in arguments
    paths = [Path(a) for a in arguments if a != "--check"]
    target = paths[0] if paths else TARGET
    text = generate(SOURCE.read_text(encoding="utf-8"))
    if check:
        fresh = target.is_file() and target.read_text(encoding="utf-8") == text
        if not fresh:
            print(f"{target} is out of date; run python -m pozor.viewer.typescript.", file=sys.stderr)
        return 0 if fresh else 1
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
