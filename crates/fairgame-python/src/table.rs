//! Rows from Python and back: columns of numpy, or Arrow's record batches.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;
use fairgame::table::{
    Category, Column, Feed, Missing, PLENTY, ReadOptions, Runs, Source, Table, Values, read,
};
use fairgame::{Error, ErrorKind};
use numpy::ndarray::s;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use crate::{failed, json_failed};

/// Named columns of one length.
///
/// Plenty of rows stay where Python has them, and are read run by run: a copy could take more memory than a training does.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Table")]
pub(crate) struct PyTable {
    rows: usize,
    /// Side by side.
    parts: Vec<Part>,
}

/// Some columns of a table.
#[derive(Clone)]
enum Part {
    Table(Arc<Table>),
    /// A column of numpy.
    Numbers(Arc<(String, Py<PyArray1<f64>>)>),
    Batches(Arc<Batches>),
}

/// Record batches of Arrow, and where each ends.
struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    ends: Vec<usize>,
}

impl Batches {
    fn run(&self, rows: Range<usize>) -> fairgame::Result<Table> {
        let mut cut = Vec::new();
        let mut at = self.ends.partition_point(|&end| end <= rows.start);
        let mut first = rows.start;
        while first < rows.end && at < self.batches.len() {
            let (batch, end) = (&self.batches[at], self.ends[at]);
            let count = rows.end.min(end) - first;
            cut.push(Ok(batch.slice(first - (end - batch.num_rows()), count)));
            (first, at) = (first + count, at + 1);
        }
        let reader = RecordBatchIterator::new(cut, self.schema.clone());
        let source = Source::batches_from("the table", reader, rows.start);
        read([source], &ReadOptions::default())
    }

    /// One of the columns alone.
    fn column(&self, at: usize) -> fairgame::Result<Batches> {
        let damaged = |error| Error::new(ErrorKind::Format, format!("is damaged: {error}"));
        let schema = Arc::new(self.schema.project(&[at]).map_err(damaged)?);
        let batches = self.batches.iter().map(|batch| batch.project(&[at]));
        let batches = batches.collect::<Result<_, _>>().map_err(damaged)?;
        Ok(Batches { schema, batches, ends: self.ends.clone() })
    }

    /// Some rows, in this order.
    fn take(&self, rows: &[usize]) -> fairgame::Result<Table> {
        let one = |&row: &usize| {
            let at = self.ends.partition_point(|&end| end <= row);
            let batch = &self.batches[at];
            Ok(batch.slice(row - (self.ends[at] - batch.num_rows()), 1))
        };
        let reader =
            RecordBatchIterator::new(rows.iter().map(one).collect::<Vec<_>>(), self.schema.clone());
        read([Source::batches("the table", reader)], &ReadOptions::default())
    }
}

impl Part {
    fn rows(&self, py: Python<'_>) -> usize {
        match self {
            Part::Table(table) => table.rows(),
            Part::Numbers(column) => column.1.bind(py).len(),
            Part::Batches(batches) => batches.ends.last().copied().unwrap_or(0),
        }
    }

    fn run(&self, rows: Range<usize>) -> fairgame::Result<Vec<Column>> {
        let table = match self {
            Part::Table(table) => table.take(&rows.collect::<Vec<_>>()),
            Part::Batches(batches) => batches.run(rows)?,
            Part::Numbers(column) => {
                let (name, array) = &**column;
                let values = Python::attach(|py| -> PyResult<Vec<f64>> {
                    let array = array.bind(py).try_readonly()?;
                    Ok(array.as_array().slice(s![rows]).iter().copied().collect())
                });
                let changed =
                    |error: PyErr| Error::new(ErrorKind::Value, error.to_string()).at(name);
                return Ok(vec![Column::new(name, Values::Number(values.map_err(changed)?))]);
            }
        };
        Ok(table.columns().to_vec())
    }

    fn take(&self, rows: &[usize]) -> fairgame::Result<Vec<Column>> {
        Ok(match self {
            Part::Table(table) => table.take(rows).columns().to_vec(),
            Part::Batches(batches) => batches.take(rows)?.columns().to_vec(),
            Part::Numbers(column) => {
                let (name, array) = &**column;
                let values = Python::attach(|py| -> PyResult<Vec<f64>> {
                    let array = array.bind(py).try_readonly()?;
                    let array = array.as_array();
                    Ok(rows.iter().map(|&row| array[row]).collect())
                });
                let changed =
                    |error: PyErr| Error::new(ErrorKind::Value, error.to_string()).at(name);
                vec![Column::new(name, Values::Number(values.map_err(changed)?))]
            }
        })
    }
}

impl Runs for &PyTable {
    fn rows(&self) -> usize {
        self.rows
    }

    fn run(&self, rows: Range<usize>) -> fairgame::Result<Table> {
        let columns = self.parts.iter().map(|part| part.run(rows.clone()));
        Table::new(columns.collect::<fairgame::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

impl From<Table> for PyTable {
    fn from(table: Table) -> Self {
        PyTable { rows: table.rows(), parts: vec![Part::Table(Arc::new(table))] }
    }
}

impl PyTable {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// All rows as one table, which is made anew where it is not held as one.
    pub(crate) fn table(&self) -> fairgame::Result<Cow<'_, Table>> {
        match self.parts.as_slice() {
            [Part::Table(table)] => Ok(Cow::Borrowed(table)),
            _ => self.run(0..self.rows).map(Cow::Owned),
        }
    }

    /// The rows, to be read in runs.
    pub(crate) fn feed(&self, name: &str) -> Feed<'_> {
        match self.parts.as_slice() {
            [Part::Table(table)] => Feed::of(name, Cow::Borrowed(table)),
            _ => Feed::runs(name, self),
        }
    }

    /// The columns so far as one part, if there are any.
    fn closed(own: &mut Vec<Column>) -> fairgame::Result<Option<Part>> {
        let columns = std::mem::take(own);
        if columns.is_empty() {
            return Ok(None);
        }
        Ok(Some(Part::Table(Arc::new(Table::new(columns)?))))
    }

    /// Parts side by side.
    fn joined(py: Python<'_>, parts: Vec<Part>) -> fairgame::Result<PyTable> {
        let tables: Option<Vec<&Arc<Table>>> = parts
            .iter()
            .map(|part| match part {
                Part::Table(table) => Some(table),
                _ => None,
            })
            .collect();
        let plenty = parts.first().is_some_and(|part| part.rows(py) >= PLENTY);
        if let (Some(tables), false) = (tables, plenty) {
            let columns = tables.iter().flat_map(|table| table.columns()).cloned();
            return Table::new(columns.collect()).map(PyTable::from);
        }
        let rows = parts[0].rows(py);
        if let Some(other) = parts.iter().find(|part| part.rows(py) != rows) {
            let found = other.rows(py);
            let message = format!("columns have {rows} rows, and others beside them {found}");
            return Err(Error::new(ErrorKind::Column, message));
        }
        let table = PyTable { rows, parts };
        // Refuses names that come twice.
        table.head().map(|_| table)
    }

    /// The names and kinds of the columns, and at most a row.
    fn head(&self) -> fairgame::Result<Table> {
        self.run(0..self.rows.min(1))
    }

    /// The column of that name alone.
    fn part_of(&self, name: &str) -> fairgame::Result<Column> {
        for part in &self.parts {
            let found = match part {
                Part::Table(table) => table.column(name).ok().cloned(),
                Part::Numbers(column) if column.0 == name => part.run(0..self.rows)?.pop(),
                Part::Numbers(_) => None,
                Part::Batches(batches) => match batches.schema.index_of(name) {
                    Ok(at) => {
                        let table = batches.column(at)?.run(0..self.rows)?;
                        table.columns().first().cloned()
                    }
                    Err(_) => None,
                },
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        // As a table says it.
        self.head()?.column(name).cloned()
    }
}

/// The same array, or a copy of one whose numbers do not lie where numbers of their size do, as in a packed record.
fn aligned(given: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let Ok(array) = given.cast::<PyArray1<f64>>() else { return Ok(given) };
    let even = array.strides().iter().all(|stride| stride % size_of::<f64>() as isize == 0);
    if even && array.getattr("flags")?.getattr("aligned")?.extract()? {
        return Ok(given);
    }
    given.call_method0("copy")
}

/// What a column of numpy holds.
#[derive(FromPyObject)]
enum Given<'py> {
    /// Codes, −1 where missing, and the texts that they stand for.
    Category((PyReadonlyArray1<'py, i32>, Vec<String>)),
    /// NaN where missing.
    Number(PyReadonlyArray1<'py, f64>),
    /// 1, 0, and −1 where missing.
    Boolean(PyReadonlyArray1<'py, i8>),
}

impl Given<'_> {
    fn values(&self) -> PyResult<Values> {
        Ok(match self {
            Given::Number(numbers) => Values::Number(match numbers.as_slice() {
                Ok(numbers) => numbers.to_vec(),
                Err(_) => numbers.as_array().iter().copied().collect(),
            }),
            Given::Boolean(truths) => {
                let truth = |&truth: &i8| (truth >= 0).then_some(truth > 0);
                Values::Boolean(truths.as_array().iter().map(truth).collect())
            }
            Given::Category((codes, texts)) => {
                let text = |&code: &i32| match usize::try_from(code) {
                    Err(_) => Ok(None),
                    Ok(code) => texts.get(code).map(|text| Some(text.as_str())).ok_or_else(|| {
                        PyValueError::new_err(format!("there is no category {code}"))
                    }),
                };
                let texts = codes.as_array().iter().map(text).collect::<PyResult<Vec<_>>>()?;
                Values::Category(Category::from_texts(texts))
            }
        })
    }
}

#[pymethods]
impl PyTable {
    /// A table of columns of numpy: each a name, and float64, int8 or (int32 codes, texts). They are taken one after the
    /// other, so that of a generator one is held at a time. A million float64 or more are not copied: they must not change
    /// while the table is in use.
    #[staticmethod]
    fn from_columns(columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (mut parts, mut own) = (Vec::new(), Vec::new());
        for one in columns.try_iter()? {
            let (name, given): (String, Bound<'_, PyAny>) = one?.extract()?;
            let given: Given<'_> = aligned(given)?.extract()?;
            match given {
                Given::Number(numbers) if numbers.as_array().len() >= PLENTY => {
                    parts.extend(PyTable::closed(&mut own).map_err(failed)?);
                    let array = numbers.as_any().clone().cast_into::<PyArray1<f64>>()?;
                    parts.push(Part::Numbers(Arc::new((name, array.unbind()))));
                }
                given => own.push(Column::new(name, given.values()?)),
            }
        }
        parts.extend(PyTable::closed(&mut own).map_err(failed)?);
        Python::attach(|py| PyTable::joined(py, parts)).map_err(failed)
    }

    /// A table of anything that hands out Arrow's record batches. Plenty of rows are not copied.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, batches: PyRecordBatchReader) -> PyResult<Self> {
        let reader = batches.into_reader()?;
        let made = py.detach(|| -> fairgame::Result<PyTable> {
            let schema = reader.schema();
            let batches = reader.collect::<Result<Vec<_>, _>>();
            let damaged = |error| Error::new(ErrorKind::Format, format!("is damaged: {error}"));
            let batches = batches.map_err(|error| damaged(error).at("the table"))?;
            let mut rows = 0;
            let ends = batches.iter().map(|batch| {
                rows += batch.num_rows();
                rows
            });
            let ends = ends.collect();
            let batches = Batches { schema, batches, ends };
            match rows < PLENTY {
                true => batches.run(0..rows).map(PyTable::from),
                false => Ok(PyTable { rows, parts: vec![Part::Batches(Arc::new(batches))] }),
            }
        });
        made.map_err(failed)
    }

    /// A table of files, or of a dataset that is shipped, such as `@adult`; so many bytes may a text and a row have. `missing` says
    /// in JSON, as a policy does, what stands for a missing value.
    #[staticmethod]
    #[pyo3(signature = (names, max_field=None, max_record=None, missing=None))]
    fn read(
        py: Python<'_>,
        names: Vec<String>,
        max_field: Option<usize>,
        max_record: Option<usize>,
        missing: Option<&str>,
    ) -> PyResult<Self> {
        let missing = missing.map(serde_json::from_str::<Missing>).transpose();
        let missing = missing.map_err(json_failed)?;
        let table = py.detach(|| {
            let sources = names.iter().map(|name| Source::parse(name));
            let plain = ReadOptions::default();
            let max_field = max_field.unwrap_or(plain.max_field);
            let max_record = max_record.unwrap_or(plain.max_record);
            let missing = missing.unwrap_or_default();
            let options = ReadOptions { max_field, max_record, missing, ..plain };
            read(sources.collect::<fairgame::Result<Vec<_>>>()?, &options)
        });
        table.map(PyTable::from).map_err(failed)
    }

    /// The columns of both, side by side.
    fn beside(&self, py: Python<'_>, other: &PyTable) -> PyResult<Self> {
        let parts = self.parts.iter().chain(&other.parts).cloned().collect();
        PyTable::joined(py, parts).map_err(failed)
    }

    /// Some of the rows, by their numbers.
    fn take(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let rows: Vec<usize> = rows.as_array().iter().map(|&row| row as usize).collect();
        match rows.iter().find(|row| **row >= self.rows) {
            Some(row) => Err(PyValueError::new_err(format!("there is no row {row}"))),
            None => {
                let columns = self.parts.iter().map(|part| part.take(&rows));
                let columns = columns.collect::<fairgame::Result<Vec<_>>>().map_err(failed)?;
                let table = Table::new(columns.into_iter().flatten().collect());
                table.map(PyTable::from).map_err(failed)
            }
        }
    }

    /// The kind of a column, and its values: of numbers float64, of truths int8, −1 where missing, of categories
    /// int32 codes, −1 where missing, with their texts.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(Py<PyAny>, Vec<String>)> {
        let column = self.part_of(name).map_err(failed)?;
        Ok(match &column.values {
            Values::Number(numbers) => {
                (numbers.clone().into_pyarray(py).into_any().unbind(), Vec::new())
            }
            Values::Boolean(truths) => {
                let truths: Vec<i8> =
                    truths.iter().map(|truth| truth.map_or(-1, i8::from)).collect();
                (truths.into_pyarray(py).into_any().unbind(), Vec::new())
            }
            Values::Category(Category { codes, dictionary }) => {
                // What is missing is the largest code, and so −1.
                let codes: Vec<i32> = codes.iter().map(|&code| code.cast_signed()).collect();
                let texts = dictionary.texts().map(str::to_owned).collect();
                (codes.into_pyarray(py).into_any().unbind(), texts)
            }
        })
    }

    #[getter(rows)]
    fn count(&self) -> usize {
        self.rows
    }

    /// The names of the columns, with their kinds.
    #[getter]
    fn columns(&self) -> PyResult<Vec<(String, String)>> {
        let column = |column: &Column| (column.name.clone(), column.values.kind().to_string());
        let head = self.head().map_err(failed)?;
        Ok(head.columns().iter().map(column).collect())
    }
}
