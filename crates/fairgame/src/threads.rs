//! The threads that a training may use: one pool, made once and handed on.
//!
//! Work is dealt out item by item, and results come back in the order of the items. Whatever is added up of
//! them is added up in that order, so no result depends on how many threads there are.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::memory;

/// More threads than this are not started: a million of them bring a machine to a halt before any fails to start.
const MOST: usize = 512;

/// The bytes that a thread may need to begin: its stack, and as much again.
const PER_THREAD: usize = 4 << 20;

/// A pool of threads; a clone shares it.
#[derive(Clone, Default)]
pub struct Threads {
    /// `None` is the caller's thread alone.
    pool: Option<Arc<ThreadPool>>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({})", self.count())
    }
}

impl Threads {
    /// That many threads, or as many fewer as the system can start, and at most 512.
    ///
    /// ```
    /// use fairgame::Threads;
    /// let squares = Threads::new(4).each(&[1, 2, 3], |number| number * number);
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    pub fn new(count: usize) -> Self {
        let mut count = count.min(MOST);
        while count > 1 {
            // A thread that finds no memory for its second stack ends the program.
            if !memory::fits((count * PER_THREAD) as u128) {
                count /= 2;
                continue;
            }
            let named = ThreadPoolBuilder::new().thread_name(|at| format!("fairgame-{at}"));
            if let Ok(pool) = named.num_threads(count).build() {
                return Threads { pool: Some(Arc::new(pool)) };
            }
            count /= 2;
        }
        Threads::default()
    }

    /// As many as the machine has cores for this process.
    pub fn all() -> Self {
        Threads::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs over items; the results stand in the order of the items.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        run: impl Fn(&T) -> R + Sync + Send,
    ) -> Vec<R> {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter().with_max_len(1).map(run).collect())
            }
            _ => items.iter().map(run).collect(),
        }
    }

    /// Runs over items that it may change, each by one thread; the results stand in the order of the items.
    pub(crate) fn each_mut<T: Send, R: Send>(
        &self,
        items: &mut [T],
        run: impl Fn(&mut T) -> R + Sync + Send,
    ) -> Vec<R> {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter_mut().with_max_len(1).map(run).collect())
            }
            _ => items.iter_mut().map(run).collect(),
        }
    }

    /// Runs `run` for each place below `count`, with a way to tell something. The calling thread hears it
    /// while the others work. The results stand in the order of the places.
    pub fn deal<R: Send, M: Send>(
        &self,
        count: usize,
        run: impl Fn(usize, &dyn Fn(M)) -> R + Sync,
        mut hear: impl FnMut(M),
    ) -> Vec<R> {
        // A thread of the pool cannot wait for messages: those that send them may wait for it.
        let pool = self.pool.as_ref().filter(|pool| pool.current_thread_index().is_none());
        let Some(pool) = pool else {
            let hear = RefCell::new(hear);
            let tell = |message: M| (hear.borrow_mut())(message);
            return (0..count).map(|place| run(place, &tell)).collect();
        };
        let slots: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let (tell, told) = mpsc::channel::<M>();
        pool.in_place_scope(|scope| {
            for (place, slot) in slots.iter().enumerate() {
                let (tell, run) = (tell.clone(), &run);
                scope.spawn(move |_| {
                    // Nobody listens any more once the caller has panicked.
                    let result = run(place, &|message| drop(tell.send(message)));
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                });
            }
            drop(tell);
            told.into_iter().for_each(&mut hear);
        });
        // A task that panicked has ended the scope with its panic: every slot is filled.
        let filled = slots.into_iter().map(|slot| slot.into_inner());
        filled.filter_map(|slot| slot.unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results stand in order, every message is heard by the caller, and work within work ends.
    #[test]
    fn results_in_order_and_messages_heard() {
        for count in [1, 2, 8] {
            let threads = Threads::new(count);
            let mut heard = 0;
            let caller = std::thread::current().id();
            let squares = threads.deal(
                50,
                |place, tell: &dyn Fn(usize)| {
                    tell(place);
                    threads.each(&[place, place], |at| at * at).iter().sum::<usize>()
                },
                |place| {
                    assert_eq!(std::thread::current().id(), caller);
                    heard += place;
                },
            );
            assert_eq!(squares, (0..50).map(|at| 2 * at * at).collect::<Vec<_>>());
            assert_eq!(heard, 49 * 25);
        }
    }

    /// However many are asked for.
    #[test]
    fn there_is_a_most() {
        let threads = Threads::new(usize::MAX);
        assert!((1..=MOST).contains(&threads.count()), "{threads:?}");
        assert_eq!(threads.each(&[1, 2, 3], |number| number * number), [1, 4, 9]);
    }

    #[test]
    fn nothing_to_do() {
        assert!(Threads::new(2).each(&[0_u8; 0], |x| *x).is_empty());
        assert!(Threads::new(0).deal(0, |_, _: &dyn Fn(())| (), |()| ()).is_empty());
    }
}
