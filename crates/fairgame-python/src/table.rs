//! Rows from Python and back: columns of numpy, or Arrow's record batches.

use fairgame::table::{Category, Column, ReadOptions, Source, Table, Values, read};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use crate::failed;

/// Named columns of one length.
#[pyclass(frozen, module = "fairgame._fairgame", name = "Table")]
pub(crate) struct PyTable(pub(crate) Table);

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
    /// other, so that of a generator one is held at a time.
    #[staticmethod]
    fn from_columns(columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        let column = |one: PyResult<Bound<'_, PyAny>>| {
            let (name, given): (String, Given<'_>) = one?.extract()?;
            Ok(Column::new(name, given.values()?))
        };
        let columns = columns.try_iter()?.map(column).collect::<PyResult<Vec<_>>>()?;
        Table::new(columns).map(PyTable).map_err(failed)
    }

    /// A table of anything that hands out Arrow's record batches.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, batches: PyRecordBatchReader) -> PyResult<Self> {
        let source = Source::batches("the table", batches.into_reader()?);
        py.detach(|| read([source], &ReadOptions::default())).map(PyTable).map_err(failed)
    }

    /// A table of files, or of a dataset that is shipped, such as `@adult`; so many bytes may a text and a row have.
    #[staticmethod]
    #[pyo3(signature = (names, max_field=None, max_record=None))]
    fn read(
        py: Python<'_>,
        names: Vec<String>,
        max_field: Option<usize>,
        max_record: Option<usize>,
    ) -> PyResult<Self> {
        let table = py.detach(|| {
            let sources = names.iter().map(|name| Source::parse(name));
            let plain = ReadOptions::default();
            let max_field = max_field.unwrap_or(plain.max_field);
            let max_record = max_record.unwrap_or(plain.max_record);
            let options = ReadOptions { max_field, max_record, ..plain };
            read(sources.collect::<fairgame::Result<Vec<_>>>()?, &options)
        });
        table.map(PyTable).map_err(failed)
    }

    /// The columns of both, side by side.
    fn beside(&self, other: &PyTable) -> PyResult<Self> {
        let columns = self.0.columns().iter().chain(other.0.columns()).cloned().collect();
        Table::new(columns).map(PyTable).map_err(failed)
    }

    /// Some of the rows, by their numbers.
    fn take(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let rows: Vec<usize> = rows.as_array().iter().map(|&row| row as usize).collect();
        match rows.iter().find(|row| **row >= self.0.rows()) {
            Some(row) => Err(PyValueError::new_err(format!("there is no row {row}"))),
            None => Ok(PyTable(self.0.take(&rows))),
        }
    }

    /// The kind of a column, and its values: of numbers float64, of truths int8, −1 where missing, of categories
    /// int32 codes, −1 where missing, with their texts.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(Py<PyAny>, Vec<String>)> {
        let column = self.0.column(name).map_err(failed)?;
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

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The names of the columns, with their kinds.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let column = |column: &Column| (column.name.clone(), column.values.kind().to_string());
        self.0.columns().iter().map(column).collect()
    }
}
