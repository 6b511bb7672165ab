//! The `fairgame` command line.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, and the
//! constraints met; 1 constraints violated; 2 bad usage or bad data; 130 stopped by Ctrl-C.

mod data;
mod output;
mod policy;
mod progress;
mod read;
mod train;
mod verdict;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use verdict::Verdict;

/// Train classifiers under data-dependent constraints that hold on unseen data.
#[derive(Parser)]
#[command(name = "fairgame", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List, describe and export data
    #[command(subcommand, arg_required_else_help = true)]
    Data(data::Data),
    /// Train a classifier under constraints
    #[command(after_help = train::EXAMPLES)]
    Train(Box<train::Train>),
}

fn main() -> ExitCode {
    output::quiet_dependencies();
    let result = match Arguments::parse().command {
        Command::Data(command) => data::run(command).map(|()| Verdict::Met),
        Command::Train(arguments) => train::run(&arguments),
    };
    match result {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}
