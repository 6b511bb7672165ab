//! Arrow's values as numbers and as texts, whatever type they are stored in.
//!
//! A decimal number is the f64 that its text reads as, so that it is the same number as in a CSV file. Dates and times
//! are their ISO text; a time with a zone is the same instant in UTC, whose name needs no table of zones.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use arrow_select::take::take;

use super::text::EXACT;

/// What a value was to become.
#[derive(Debug, PartialEq)]
pub(super) enum Unread {
    /// The array has no values of this kind.
    Kind,
    /// The time of this row is beyond the calendar.
    Time(usize),
}

/// Calls `put` with each row and its number, if it has one.
pub(super) fn numbers<E: From<Unread>>(
    array: &dyn Array,
    mut put: impl FnMut(usize, Option<f64>) -> Result<(), E>,
) -> Result<(), E> {
    macro_rules! put {
        ($type:ty, $number:expr) => {
            array
                .as_primitive::<$type>()
                .iter()
                .enumerate()
                .try_for_each(|(row, value)| put(row, value.map($number)))
        };
    }
    match *array.data_type() {
        DataType::Int8 => put!(Int8Type, f64::from),
        DataType::Int16 => put!(Int16Type, f64::from),
        DataType::Int32 => put!(Int32Type, f64::from),
        DataType::Int64 => put!(Int64Type, |value| value as f64),
        DataType::UInt8 => put!(UInt8Type, f64::from),
        DataType::UInt16 => put!(UInt16Type, f64::from),
        DataType::UInt32 => put!(UInt32Type, f64::from),
        DataType::UInt64 => put!(UInt64Type, |value| value as f64),
        DataType::Float16 => put!(Float16Type, f64::from),
        DataType::Float32 => put!(Float32Type, f64::from),
        DataType::Float64 => put!(Float64Type, |value| value),
        DataType::Decimal32(_, scale) => {
            put!(Decimal32Type, |value| decimal::<Decimal32Type>(value, value.into(), scale))
        }
        DataType::Decimal64(_, scale) => {
            put!(Decimal64Type, |value| decimal::<Decimal64Type>(value, value.into(), scale))
        }
        DataType::Decimal128(_, scale) => {
            put!(Decimal128Type, |value| decimal::<Decimal128Type>(value, value, scale))
        }
        DataType::Decimal256(_, scale) => put!(Decimal256Type, |value| {
            let short = value.to_i128().unwrap_or(i128::MAX);
            decimal::<Decimal256Type>(value, short, scale)
        }),
        _ => Err(Unread::Kind.into()),
    }
}

/// The f64 next to the decimal number `value` · 10^−`scale`. `short` is the value, if it has so many bits.
fn decimal<T: DecimalType>(value: T::Native, short: i128, scale: i8) -> f64 {
    /// The powers of ten that are f64 without rounding.
    const POWERS: u32 = 22;
    let scale_up = u32::try_from(scale).ok().filter(|&scale| scale <= POWERS);
    match scale_up {
        // The quotient of two numbers that are not rounded is rounded once.
        Some(scale) if short.unsigned_abs() <= u128::from(EXACT) => {
            short as f64 / 10_f64.powi(scale.cast_signed())
        }
        _ => T::format_decimal(value, T::MAX_PRECISION, scale).parse().unwrap_or(f64::NAN),
    }
}

/// Calls `put` with each row and its text, if it has one.
pub(super) fn texts<E: From<Unread>>(
    array: &dyn Array,
    mut put: impl FnMut(usize, Option<&str>) -> Result<(), E>,
) -> Result<(), E> {
    let mut text = String::new();
    macro_rules! put {
        ($values:expr) => {
            $values.iter().enumerate().try_for_each(|(row, value)| put(row, value))
        };
    }
    macro_rules! print {
        ($type:ty, |$row:ident, $value:ident| $print:expr) => {{
            for ($row, value) in array.as_primitive::<$type>().iter().enumerate() {
                let Some($value) = value else {
                    put($row, None)?;
                    continue;
                };
                text.clear();
                // Writing to a text cannot fail.
                let _ = write!(text, "{}", $print);
                put($row, Some(&text))?;
            }
            Ok(())
        }};
        ($type:ty, decimal $precision:expr, $scale:expr) => {
            print!($type, |row, value| <$type>::format_decimal(value, $precision, $scale))
        };
        ($type:ty, time $read:ident) => {{
            let values = array.as_primitive::<$type>();
            print!($type, |row, _value| {
                let time = values.$read(row).ok_or(Unread::Time(row))?;
                format_args!("{time:?}").to_string()
            })
        }};
    }
    match *array.data_type() {
        DataType::Utf8 => put!(array.as_string::<i32>()),
        DataType::LargeUtf8 => put!(array.as_string::<i64>()),
        DataType::Utf8View => put!(array.as_string_view()),
        DataType::Boolean => {
            let name = |truth: bool| if truth { "true" } else { "false" };
            let mut truths = array.as_boolean().iter().enumerate();
            truths.try_for_each(|(row, truth)| put(row, truth.map(name)))
        }
        DataType::Int8 => print!(Int8Type, |row, value| value),
        DataType::Int16 => print!(Int16Type, |row, value| value),
        DataType::Int32 => print!(Int32Type, |row, value| value),
        DataType::Int64 => print!(Int64Type, |row, value| value),
        DataType::UInt8 => print!(UInt8Type, |row, value| value),
        DataType::UInt16 => print!(UInt16Type, |row, value| value),
        DataType::UInt32 => print!(UInt32Type, |row, value| value),
        DataType::UInt64 => print!(UInt64Type, |row, value| value),
        DataType::Float16 => {
            print!(Float16Type, |row, value| whole(&format!("{:?}", f32::from(value))))
        }
        DataType::Float32 => print!(Float32Type, |row, value| whole(&format!("{:?}", value))),
        DataType::Float64 => print!(Float64Type, |row, value| whole(&format!("{:?}", value))),
        DataType::Decimal32(digits, scale) => print!(Decimal32Type, decimal digits, scale),
        DataType::Decimal64(digits, scale) => print!(Decimal64Type, decimal digits, scale),
        DataType::Decimal128(digits, scale) => print!(Decimal128Type, decimal digits, scale),
        DataType::Decimal256(digits, scale) => print!(Decimal256Type, decimal digits, scale),
        DataType::Date32 => print!(Date32Type, time value_as_date),
        DataType::Date64 => print!(Date64Type, time value_as_datetime),
        DataType::Time32(TimeUnit::Second) => print!(Time32SecondType, time value_as_time),
        DataType::Time32(_) => print!(Time32MillisecondType, time value_as_time),
        DataType::Time64(TimeUnit::Microsecond) => {
            print!(Time64MicrosecondType, time value_as_time)
        }
        DataType::Time64(_) => print!(Time64NanosecondType, time value_as_time),
        DataType::Timestamp(TimeUnit::Second, _) => {
            print!(TimestampSecondType, time value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            print!(TimestampMillisecondType, time value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            print!(TimestampMicrosecondType, time value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            print!(TimestampNanosecondType, time value_as_datetime)
        }
        _ => Err(Unread::Kind.into()),
    }
}

/// A whole number without a fraction: it reads as in CSV, whatever type it was stored in.
fn whole(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

/// The text of one row, or an empty one.
pub(super) fn text(array: &dyn Array, row: usize) -> String {
    let mut found = String::new();
    let _ = texts::<Unread>(&array.slice(row, 1), |_, text| {
        found.push_str(text.unwrap_or_default());
        Ok(())
    });
    found
}

/// The values of a dictionary, row by row.
pub(super) fn without_dictionary(array: &dyn Array) -> Result<ArrayRef, ArrowError> {
    let array = array.as_any_dictionary();
    take(array.values(), array.keys(), None)
}
