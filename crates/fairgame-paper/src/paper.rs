//! The numbers that the paper prints: its table "Error rates and maximum constraint violations".

use serde::Serialize;

use crate::experiment::{Experiment, Way};

/// One cell of each kind: errors and worst violations, on training and on test rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Four<T> {
    /// The error where it was trained.
    pub train_error: T,
    /// The worst violation where it was enforced.
    pub train_worst: T,
    /// The error on test rows.
    pub test_error: T,
    /// The worst violation on test rows.
    pub test_worst: T,
}

impl<T> Four<T> {
    /// The same of each.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Four<U> {
        Four {
            train_error: change(self.train_error),
            train_worst: change(self.train_worst),
            test_error: change(self.test_error),
            test_worst: change(self.test_worst),
        }
    }

    /// The four in order.
    pub fn list(self) -> [T; 4] {
        [self.train_error, self.train_worst, self.test_error, self.test_worst]
    }
}

/// What the paper has for an experiment and a way of training; nothing for simulated data, of which it only
/// has figures.
pub fn printed(experiment: Experiment, way: Way) -> Option<Four<f64>> {
    // Train error and violation, test error and violation, of each way in the order of the table.
    let rows: [[f64; 4]; 5] = match experiment {
        Experiment::Simulated => return None,
        Experiment::Communities => [
            [0.121, 0.231, 0.142, 0.300],
            [0.153, 0.0, 0.173, 0.022],
            [0.161, 0.0, 0.199, -0.008],
            [0.163, -0.001, 0.181, 0.001],
            [0.165, 0.0, 0.195, -0.012],
        ],
        Experiment::Entities => [
            [0.148, 0.309, 0.156, 0.278],
            [0.216, 0.026, 0.222, 0.073],
            [0.215, 0.040, 0.221, 0.072],
            [0.225, 0.0, 0.232, 0.042],
            [0.261, 0.003, 0.267, 0.041],
        ],
        Experiment::Adult => [
            [0.102, 0.077, 0.156, 0.075],
            [0.132, 0.0, 0.156, 0.011],
            [0.110, 0.0, 0.169, 0.005],
            [0.131, 0.0, 0.156, 0.013],
            [0.113, 0.0, 0.165, 0.008],
        ],
        Experiment::Compas => [
            [0.216, 0.004, 0.353, 0.046],
            [0.216, -0.005, 0.353, 0.038],
            [0.154, -0.003, 0.378, 0.004],
            [0.216, -0.005, 0.349, 0.029],
            [0.151, -0.003, 0.378, 0.006],
        ],
    };
    let place = Way::ALL.iter().position(|&one| one == way)?;
    let [train_error, train_worst, test_error, test_worst] = rows[place];
    Some(Four { train_error, train_worst, test_error, test_worst })
}
