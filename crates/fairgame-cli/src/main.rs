//! The `fairgame` command line.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 2 bad usage
//! or bad data.

mod data;
mod output;
mod read;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
}

fn main() -> ExitCode {
    output::quiet_dependencies();
    let result = match Arguments::parse().command {
        Command::Data(command) => data::run(command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}
