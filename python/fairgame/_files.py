"""The file beside a model file that holds the fitted estimators of another library.

A model file holds our own models and rules as plain numbers. Estimators of other libraries are written beside it, by
joblib or skops, and the model file has the SHA-256 of what was written. Loading compares it before it unpacks anything.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import pathlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import joblib

from ._arguments import to_json
from ._fairgame import Classifier, printable, shown, write_whole
from ._said import FairGameWarning

FORMATS = ("joblib", "skops")


def name_beside(path: pathlib.Path, hashed: str, form: str) -> str:
    """What the file of this SHA-256 beside the model file at `path` is called."""
    name = f"{path.name}.{hashed[:8]}.{form}"
    if name.startswith(".") or set(name) & set(":\\"):
        said = "a model with estimators beside it needs a name without `:` and `\\`, and without a dot in front"
        raise ValueError(f"`{shown(path.name)}`: {said}")
    return name


def pack(path: pathlib.Path, estimators: Iterable[Any], form: str) -> tuple[bytes, dict[str, Any]]:
    """Fitted estimators as the bytes of a file beside the model file at `path`; its name, hash and format."""
    held = list(estimators)
    name_beside(path, "", form)  # A name that cannot be is refused before anything is packed.
    if form == "skops":
        content = _skops("write").dumps(held)
    else:
        buffer = io.BytesIO()
        joblib.dump(held, buffer)
        content = buffer.getvalue()
    kinds, hashed = [type(one).__name__ for one in held], hashlib.sha256(content).hexdigest()
    return content, {"file": name_beside(path, hashed, form), "sha256": hashed, "format": form, "estimators": kinds}


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


def save(classifier: Any, path: pathlib.Path, content: bytes = b"", companion: Mapping[str, Any] | None = None) -> None:
    """Writes a model file, and before it the file beside it that it names.

    The name of that file has a piece of its hash, so that an older model stays valid until it is replaced. What was
    beside the older model is removed after that.
    """
    before, beside = _companion_of(path), None
    if companion is not None:
        classifier = classifier.with_companion(to_json(companion))
        beside = path.with_name(companion["file"])
        is_new = not beside.exists()
        write_whole(beside, content, path if path.exists() else None)
    try:
        classifier.save(path)
    except BaseException:
        if beside is not None and is_new:
            beside.unlink(missing_ok=True)
        raise
    if before is not None and before != beside:
        before.unlink(missing_ok=True)


def _companion_of(path: pathlib.Path) -> pathlib.Path | None:
    """The file beside the model file at `path`, if that is there and names one that was written for it."""
    try:
        described = json.loads(Classifier.load(path).describe())["companion"]
    except (OSError, ValueError):
        return None
    if described is None or not described["file"].startswith(f"{path.name}."):
        return None
    return path.with_name(described["file"])
