"""Dates and times become the same categories, wherever they come from."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairgame
from fairgame import FairGameClassifier
from fairgame._table import table

TIMES = [
    "2024-02-29 08:30:00",
    "1969-12-31 23:59:59.250",
    "2024-02-29 08:30:00.000001",
    None,
    "2024-02-29 08:30:00.123456789",
    "1900-01-01 00:00:00",
]


def texts(rows):
    """Each column as texts, with None where a value is missing."""
    found = {}
    for name, kind in rows.columns:
        codes, values = rows.column(name)
        assert kind == "category"
        found[name] = [values[code] if code >= 0 else None for code in codes]
    return found


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/New_York"])
def test_pandas_polars_and_pyarrow_agree(unit, zone, tmp_path):
    times = pd.to_datetime(TIMES, format="ISO8601").as_unit(unit)
    frame = pd.DataFrame({"at": times if zone is None else times.tz_localize(zone)})
    wanted = texts(table(frame))
    assert wanted["at"][3] is None and len(set(wanted["at"])) == {"s": 4, "ms": 5, "us": 6, "ns": 6}[unit]
    arrow = pa.Table.from_pandas(frame)
    pq.write_table(arrow, tmp_path / "at.parquet", version="2.6")
    others = [arrow, frame.convert_dtypes(dtype_backend="pyarrow"), dict(frame), frame.astype(object)]
    others += [frame.astype("category"), tmp_path / "at.parquet"]
    if unit != "s":  # polars has no seconds
        others.append(pl.from_pandas(frame))
    if zone is None:
        others.append({"at": frame["at"].to_numpy()})
    for other in others:
        assert texts(table(other)) == wanted, type(other)
    # As Arrow writes them, by hand.
    if zone in (None, "UTC") and unit == "ns":
        assert wanted["at"] == [
            "2024-02-29T08:30:00",
            "1969-12-31T23:59:59.250",
            "2024-02-29T08:30:00.000001",
            None,
            "2024-02-29T08:30:00.123456789",
            "1900-01-01T00:00:00",
        ]
    if zone == "Europe/Berlin":
        assert wanted["at"][0] == "2024-02-29T07:30:00"


def test_dates_and_times_of_day():
    days = [datetime.date(2024, 2, 29), None, datetime.date(1066, 10, 14)]
    hours = [datetime.time(8, 30), datetime.time(8, 30, 0, 250000), None]
    both = {"day": days, "hour": hours}
    wanted = {"day": ["2024-02-29", None, "1066-10-14"], "hour": ["08:30:00", "08:30:00.250", None]}
    for frame in (pd.DataFrame(both), pl.DataFrame(both), pa.table(both)):
        assert texts(table(frame)) == wanted
    assert texts(table({"day": np.array(days, dtype="datetime64[D]")})) == {"day": wanted["day"]}
    # Years and months are days: the first of them.
    assert texts(table({"m": np.array(["2024-03", "NaT"], dtype="datetime64[M]")})) == {"m": ["2024-03-01", None]}
    aware = datetime.datetime(2024, 2, 29, 8, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    assert texts(table({"at": np.array([aware, None], dtype=object)})) == {"at": ["2024-02-29T06:30:00", None]}


def test_a_classifier_of_any_frame():
    rng = np.random.default_rng(0)
    month = pd.to_datetime(rng.choice(["2024-01-01", "2024-02-01", "2024-03-01"], 900)).as_unit("us")
    skill = rng.normal(size=900)
    y = skill + (month == "2024-02-01") + rng.normal(size=900) > 0.5
    frame = pd.DataFrame({"month": month, "skill": skill})
    rule = ['recall(month == "2024-02-01T00:00:00") >= 0.9']
    model = FairGameClassifier(rule, algorithm={"practical": {"turns": 500}}).fit(frame, y)
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert np.array_equal(model.predict_proba(other), model.predict_proba(frame))
    groups = pd.Series(month, name="month")
    found = fairgame.audit({"month": groups, "y": y}, skill > 0, label="y", constraints=rule)
    assert found.constraints[0]["value"] is not None


def test_lengths_of_time_are_refused():
    with pytest.raises(ValueError, match="`for` holds timedelta64"):
        table(pd.DataFrame({"for": pd.to_timedelta([1, 2], unit="h")}))
