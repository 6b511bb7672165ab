"""The file beside a model file that holds the fitted estimators of another library.

A model file holds our own models and rules as plain numbers. Estimators of other libraries are written beside it, by
joblib or skops, and the model file has the SHA-256 of what was written. Loading compares it before it unpacks anything.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import pathlib
import stat
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import joblib

from ._fairgame import printable, shown
from ._said import FairGameWarning

FORMATS = ("joblib", "skops")


def name_beside(path: pathlib.Path, form: str) -> str:
    """What the file beside the model file at `path` is called."""
    name = f"{path.name}.{form}"
    if name.startswith(".") or set(name) & set(":\\"):
        said = "a model with estimators beside it needs a name without `:` and `\\`, and without a dot in front"
        raise ValueError(f"`{shown(path.name)}`: {said}")
    return name


def pack(path: pathlib.Path, estimators: Iterable[Any], form: str) -> tuple[bytes, dict[str, Any]]:
    """Fitted estimators as the bytes of a file beside the model file at `path`; its name, hash and format."""
    name, held = name_beside(path, form), list(estimators)
    if form == "skops":
        content = _skops("write").dumps(held)
    else:
        buffer = io.BytesIO()
        joblib.dump(held, buffer)
        content = buffer.getvalue()
    kinds, hashed = [type(one).__name__ for one in held], hashlib.sha256(content).hexdigest()
    return content, {"file": name, "sha256": hashed, "format": form, "estimators": kinds}


def read(path: pathlib.Path, companion: Mapping[str, Any], trusted: Iterable[str] | None) -> list[Any]:
    """The estimators that the model file at `path` names as its companion."""
    form = companion["format"]
    if form == "torch":
        raise ValueError("the model decides by modules of torch: read it by fairgame.torch.load(path, module)")
    if form not in FORMATS:
        raise ValueError(f"the estimators of the model file are of the format {shown(form)!r}, which is not known here")
    if trusted is not None and form != "skops":
        raise ValueError(f"trusted names types of a skops file, and the estimators of this model are in a {form} file")
    return _unpack(content(path, companion), printable(str(path.with_name(companion["file"]))), form, trusted)


def content(path: pathlib.Path, companion: Mapping[str, Any]) -> bytes:
    """The bytes of the file that the model file at `path` names as its companion, after their hash is compared."""
    beside, kinds = path.with_name(companion["file"]), ", ".join(sorted(set(companion["estimators"])))
    name = printable(str(beside))
    try:
        found = beside.read_bytes()
    except FileNotFoundError:
        raise ValueError(
            f"the model needs its estimators ({shown(kinds)}), and the file `{name}` is missing: keep both files together"
        ) from None
    if hashlib.sha256(found).hexdigest() != companion["sha256"].lower():
        raise ValueError(
            f"`{name}` is not the file that was saved with this model: its SHA-256 is another one. It was not unpacked"
        )
    return found


def _unpack(content: bytes, name: str, form: str, trusted: Iterable[str] | None) -> list[Any]:
    """The estimators in these bytes, whose hash has been compared."""
    if form == "joblib":
        text = f"`{name}` is a pickle, and unpickling runs the code in it: load only files of people you trust"
        warnings.warn(text, FairGameWarning, stacklevel=5)
        return list(joblib.load(io.BytesIO(content)))
    skops, known = _skops("read"), list(trusted or ())
    if unknown := sorted(set(skops.get_untrusted_types(data=content)) - set(known)):
        raise ValueError(
            f"`{name}` holds types that skops does not know to be safe: {', '.join(map(shown, unknown))}\n"
            "  help: look at what they are; if you trust them, name them: load(path, trusted=[…])"
        )
    return list(skops.loads(content, trusted=known))


def _skops(what: str) -> Any:
    try:
        return importlib.import_module("skops.io")
    except ModuleNotFoundError:
        raise ValueError(f"to {what} estimators with skops, install it: pip install skops") from None


def replace(path: pathlib.Path, content: bytes) -> None:
    """Writes a file under another name first, so that nobody reads half of it. It keeps its permissions."""
    part = path.with_name(f".{path.name}.{os.getpid()}.partial")
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb") as file:
            if path.exists():
                os.chmod(part, stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
