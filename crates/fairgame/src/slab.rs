//! Memory for rows: on the heap up to a budget, and beyond it in a temporary file that is mapped.
//!
//! A [`Slab`] is a slice of plain numbers, wherever it is, so that no reader can tell the difference: results are the
//! same to the bit for every budget. A file has no name, so nothing is left behind when the process ends and nobody
//! can remove it in between. Its room on the disk is reserved before it is mapped: a disk without room is then an error,
//! where a file with holes would end the process at a later write.
//!
//! Pages of a mapped file that are written again and again cost a page fault each time the system has saved them. So
//! what comes in a random order is written by [`Shelf::write`] and [`Shelf::each_part`], which do not go through the map.

#![allow(unsafe_code, reason = "a mapped file is a slice of numbers")]

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::MmapMut;

use crate::{Error, ErrorKind, Result, Threads, memory};

/// Numbers that all bits are a value of.
///
/// # Safety
/// Every pattern of bits is a value, there is no padding, and the alignment is at most that of a page.
pub(crate) unsafe trait Plain:
    Copy + Default + PartialEq + Send + Sync + 'static
{
}

// SAFETY: integers and floats have neither invalid patterns nor padding, and neither have arrays of them.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for [i32; 2] {}

/// Where slabs are made: a budget of memory, and the folder of files beyond it. A clone shares the budget.
#[derive(Clone, Default)]
pub struct Store(Option<Arc<Budget>>);

struct Budget {
    /// The bytes that are left.
    left: Mutex<u64>,
    /// The bytes in files now, and the most there were.
    in_files: AtomicU64,
    most_in_files: AtomicU64,
    folder: PathBuf,
    /// Whether somebody named the budget.
    named: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => write!(f, "Store(no limit)"),
            Some(budget) => write!(f, "Store({} bytes left)", budget.left()),
        }
    }
}

impl Budget {
    fn left(&self) -> u64 {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes so many bytes, if they are left.
    fn take(&self, bytes: u64) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = *left >= bytes;
        *left -= if fits { bytes } else { 0 };
        fits
    }

    fn give_back(&self, bytes: u64) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) += bytes;
    }
}

impl Store {
    /// A store of so many bytes of memory; what is beyond them goes to files in the folder of temporary files.
    pub fn new(bytes: u64) -> Self {
        Store::of(bytes, std::env::temp_dir(), true)
    }

    fn of(bytes: u64, folder: PathBuf, named: bool) -> Self {
        Store(Some(Arc::new(Budget {
            left: Mutex::new(bytes),
            in_files: AtomicU64::new(0),
            most_in_files: AtomicU64::new(0),
            folder,
            named,
        })))
    }

    /// A store of half of the memory that is free; without a limit where the system does not say.
    pub fn half_of_free() -> Self {
        let half = |free| Store::of(free / 2, std::env::temp_dir(), false);
        memory::free().map_or_else(Store::default, half)
    }

    /// Whether it has a budget that somebody named.
    pub(crate) fn is_named(&self) -> bool {
        self.0.as_ref().is_some_and(|budget| budget.named)
    }

    /// The bytes of memory that are left; none without a limit.
    pub(crate) fn budget(&self) -> Option<u64> {
        self.0.as_ref().map(|budget| budget.left())
    }

    /// The most bytes that were in files at a time.
    pub fn most_in_files(&self) -> u64 {
        self.0.as_ref().map_or(0, |budget| budget.most_in_files.load(Ordering::Relaxed))
    }

    /// So many zeros.
    ///
    /// # Errors
    /// If there is room neither in memory nor on disk.
    pub(crate) fn zeros<T: Plain>(&self, count: usize) -> Result<Slab<T>> {
        let bytes = count as u64 * size_of::<T>() as u64;
        let budget = self.0.as_ref();
        match budget {
            Some(budget) if !budget.take(bytes) => {
                Ok(Slab(Room::File(Mapped::new(budget, count)?)))
            }
            _ => {
                memory::check(
                    u128::from(bytes),
                    "the rows",
                    "allow less memory, so that they go to disk",
                )?;
                // Zeros from the system take no memory before they are written to.
                let numbers = vec![T::default(); count];
                Ok(Slab(Room::Heap(numbers, budget.map(|budget| (Arc::clone(budget), bytes)))))
            }
        }
    }
}

/// A slice of numbers, in memory or in a mapped file.
pub struct Slab<T>(Room<T>);

enum Room<T> {
    /// With what is given back to a budget.
    Heap(Vec<T>, Option<(Arc<Budget>, u64)>),
    File(Mapped<T>),
}

/// A temporary file, mapped.
struct Mapped<T> {
    #[cfg_attr(not(unix), expect(dead_code, reason = "all goes through the map there"))]
    file: File,
    map: MmapMut,
    count: usize,
    budget: Arc<Budget>,
    of: std::marker::PhantomData<T>,
}

impl<T: Plain> Mapped<T> {
    fn new(budget: &Arc<Budget>, count: usize) -> Result<Self> {
        let bytes = count * size_of::<T>();
        let failed = |error| no_room(budget, bytes, &error);
        let mut file = tempfile::tempfile_in(&budget.folder).map_err(failed)?;
        reserve(&mut file, bytes).map_err(failed)?;
        // SAFETY: the file has no name, so that no other process can change or cut it while it is mapped.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(failed)?;
        let now = budget.in_files.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        budget.most_in_files.fetch_max(now, Ordering::Relaxed);
        Ok(Mapped { file, map, count, budget: Arc::clone(budget), of: std::marker::PhantomData })
    }
}

fn no_room(budget: &Budget, bytes: usize, error: &std::io::Error) -> Error {
    let message = format!(
        "{} for rows that are beyond the memory budget cannot be had: {error}",
        memory::shown(bytes as u128)
    );
    Error::new(ErrorKind::Io, message)
        .at(budget.folder.display())
        .help("free some space, set TMPDIR to another folder, or allow more memory (--memory)")
}

/// Gives an empty file so many bytes, all 0, that the disk has room for.
fn reserve(file: &mut File, bytes: usize) -> std::io::Result<()> {
    const BLOCK: usize = 1 << 20;
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        let flags = rustix::fs::FallocateFlags::empty();
        let reserve = || rustix::fs::fallocate(&*file, flags, 0, bytes as u64);
        match rustix::io::retry_on_intr(reserve) {
            // Not every file system can; then zeros are written.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
            done => return Ok(done?),
        }
    }
    let zeros = vec![0_u8; BLOCK.min(bytes)];
    let mut left = bytes;
    while left > 0 {
        let some = left.min(BLOCK);
        file.write_all(&zeros[..some])?;
        left -= some;
    }
    Ok(())
}

/// The bytes of a slab, whatever its numbers are: rows are moved in it without a look at them.
pub(crate) trait Shelf {
    /// Whether it is in a file.
    fn is_file(&self) -> bool;

    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// Writes bytes from a place on.
    ///
    /// # Errors
    /// If a file cannot be written to.
    ///
    /// # Panics
    /// If there is no such place.
    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()>;

    /// Changes consecutive parts of so many bytes, which `change` is given with the place of the part in the list.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    ///
    /// # Panics
    /// If the parts are longer than the slab.
    fn each_part(
        &mut self,
        sizes: &[usize],
        threads: &Threads,
        change: &(dyn Fn(usize, &mut [u8]) + Send + Sync),
    ) -> Result<()>;
}

fn bytes_mut<T: Plain>(numbers: &mut [T]) -> &mut [u8] {
    let (start, bytes) = (numbers.as_mut_ptr().cast(), size_of_val(numbers));
    // SAFETY: plain numbers have no padding, every pattern of bits is one, and they are borrowed by none but us.
    unsafe { std::slice::from_raw_parts_mut(start, bytes) }
}

impl<T: Plain> Shelf for Slab<T> {
    fn is_file(&self) -> bool {
        matches!(self.0, Room::File(_))
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: plain numbers have no padding, so all their bytes may be read.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), size_of_val::<[T]>(self)) }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        match &self.0 {
            #[cfg(unix)]
            Room::File(mapped) => mapped.write(at, bytes),
            _ => {
                bytes_mut(self)[at..at + bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn each_part(
        &mut self,
        sizes: &[usize],
        threads: &Threads,
        change: &(dyn Fn(usize, &mut [u8]) + Send + Sync),
    ) -> Result<()> {
        #[cfg(unix)]
        if let Room::File(mapped) = &self.0 {
            let mut end = 0;
            let of = |(part, &size): (usize, &usize)| {
                end += size;
                (part, end - size, size)
            };
            let parts: Vec<(usize, usize, usize)> = sizes.iter().enumerate().map(of).collect();
            let changed = threads.each(&parts, |&(part, start, size)| {
                let mut bytes = mapped.read(start, size)?;
                change(part, &mut bytes);
                mapped.write(start, &bytes)
            });
            return changed.into_iter().collect();
        }
        let mut rest = bytes_mut(self);
        let mut parts: Vec<(usize, &mut [u8])> = Vec::with_capacity(sizes.len());
        for (part, &size) in sizes.iter().enumerate() {
            let (own, more) = rest.split_at_mut(size);
            parts.push((part, own));
            rest = more;
        }
        threads.each_mut(&mut parts, |(part, own)| change(*part, own));
        Ok(())
    }
}

/// Reads and writes of the file itself, which are much faster than those of the map where the order is random.
#[cfg(unix)]
impl<T> Mapped<T> {
    fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        use std::os::unix::fs::FileExt;
        assert!(at + bytes.len() <= self.map.len(), "there is no such place");
        let written = self.file.write_all_at(bytes, at as u64);
        written.map_err(|error| no_room(&self.budget, self.map.len(), &error))
    }

    fn read(&self, at: usize, count: usize) -> Result<Vec<u8>> {
        use std::os::unix::fs::FileExt;
        let mut bytes = vec![0; count];
        self.file.read_exact_at(&mut bytes, at as u64).map_err(|error| {
            let message = format!("rows in a temporary file cannot be read: {error}");
            Error::new(ErrorKind::Io, message).at(self.budget.folder.display())
        })?;
        Ok(bytes)
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        match &self.0 {
            Room::Heap(_, Some((budget, bytes))) => budget.give_back(*bytes),
            Room::Heap(_, None) => {}
            Room::File(mapped) => {
                mapped.budget.in_files.fetch_sub(mapped.map.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

impl<T> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Room::Heap(numbers, _) => numbers,
            // SAFETY: the map is of `count` numbers of a plain type (only `Mapped::new` makes one), and a page is aligned for
            // each of them.
            Room::File(mapped) => unsafe {
                std::slice::from_raw_parts(mapped.map.as_ptr().cast(), mapped.count)
            },
        }
    }
}

impl<T> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Room::Heap(numbers, _) => numbers,
            // SAFETY: as above, and it is borrowed by none but us.
            Room::File(mapped) => unsafe {
                std::slice::from_raw_parts_mut(mapped.map.as_mut_ptr().cast(), mapped.count)
            },
        }
    }
}

impl<T> From<Vec<T>> for Slab<T> {
    fn from(numbers: Vec<T>) -> Self {
        Slab(Room::Heap(numbers, None))
    }
}

impl<T: Clone> Clone for Slab<T> {
    /// A copy is in memory.
    fn clone(&self) -> Self {
        Slab::from(self.to_vec())
    }
}

impl<T: PartialEq> PartialEq for Slab<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Slab<T> {}

impl<T: fmt::Debug> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beyond the budget slabs are in files, and what is dropped is given back.
    #[test]
    fn files_beyond_the_budget() {
        let store = Store::new(1000);
        let mut heap = store.zeros::<u32>(200).unwrap();
        let mut file = store.zeros::<u32>(200).unwrap();
        assert!(matches!((&heap.0, &file.0), (Room::Heap(..), Room::File(_))));
        for slab in [&mut heap, &mut file] {
            assert!(slab.iter().all(|number| *number == 0));
            slab.iter_mut().zip(0..).for_each(|(number, at)| *number = at * 7);
        }
        assert_eq!(heap, file);
        assert_eq!(file.clone()[199], 199 * 7);
        assert_eq!(store.most_in_files(), 800);
        drop(heap);
        assert!(matches!(store.zeros::<u32>(250).unwrap().0, Room::Heap(..)));
        // Nothing can be mapped of an empty file, nor need be.
        let none = Store::new(0);
        assert!(none.zeros::<f32>(0).unwrap().is_empty());
    }

    /// Parts are written and changed alike in memory and in files, by any number of threads.
    #[test]
    fn parts_of_memory_and_of_files() {
        let write = |store: &Store, threads: usize| {
            let mut slab = store.zeros::<u16>(100).unwrap();
            for start in (0..10).rev() {
                let numbers: Vec<u16> = (0..10).map(|at| start * 10 + at).collect();
                slab.write(usize::from(start) * 20, Slab::from(numbers).bytes()).unwrap();
            }
            let turned = |part: usize, own: &mut [u8]| {
                own.reverse();
                own.iter_mut().for_each(|byte| *byte ^= part as u8);
            };
            slab.each_part(&[60, 0, 40, 80], &Threads::new(threads), &turned).unwrap();
            slab
        };
        let heap = write(&Store::default(), 1);
        let high = |number: u16| number.swap_bytes();
        assert_eq!((heap[0], heap[29], heap[30]), (high(29), high(0), high(49) ^ 0x0202));
        assert_eq!((heap[50], heap[99]), (high(89) ^ 0x0303, 99));
        for threads in [1, 4] {
            let file = write(&Store::new(0), threads);
            assert!(file.is_file() && !heap.is_file());
            assert_eq!(file, heap);
        }
    }

    #[test]
    fn a_folder_that_is_not_there() {
        let store = Store::of(0, PathBuf::from("no/such/folder"), true);
        let error = store.zeros::<u8>(10).unwrap_err().to_string();
        assert!(error.contains("10 bytes for rows") && error.contains("--memory"), "{error}");
    }
}
