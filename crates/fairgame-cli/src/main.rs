//! The `fairgame` command line.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, and the
//! constraints met; 1 constraints violated; 2 bad usage or bad data; 3 undecided at the confidence asked for; 130
//! stopped by Ctrl-C, or asked to end by SIGTERM or SIGHUP.

mod bounds;
mod check;
mod data;
mod demo;
mod evaluate;
mod explain;
mod export;
mod groups;
mod inherited;
mod manual;
mod output;
mod policy;
mod predict;
mod progress;
mod read;
mod report;
mod reproduce;
mod show;
mod tradeoff;
mod train;
mod verdict;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Train classifiers under data-dependent constraints that hold on unseen data.
#[derive(Parser)]
#[command(name = "fairgame", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train on Adult under the 80 % rule in five ways, and compare them
    Demo(demo::Demo),
    /// List, describe, check and export data
    #[command(subcommand, arg_required_else_help = true)]
    Data(data::Data),
    /// Train a classifier under constraints
    #[command(after_help = train::EXAMPLES)]
    Train(Box<train::Train>),
    /// Are the constraints of a model met, judged by these rows, and how sure is that?
    #[command(after_help = evaluate::EVALUATE_EXAMPLES)]
    Evaluate(Box<evaluate::Evaluate>),
    /// Do constraints hold for decisions that any model made, and how do groups fare?
    #[command(after_help = evaluate::AUDIT_EXAMPLES)]
    Audit(Box<evaluate::Audit>),
    /// Decide rows
    #[command(after_help = predict::EXAMPLES)]
    Predict(Box<predict::Predict>),
    /// Show what a model file holds: its problem, features, mixture and training
    #[command(after_help = show::EXAMPLES)]
    Show(show::Show),
    /// What would looser or tighter bounds cost?
    #[command(after_help = tradeoff::EXAMPLES)]
    Tradeoff(tradeoff::Tradeoff),
    /// Why is a row decided as it is: models, scores, thresholds, and what each column adds
    #[command(after_help = explain::EXAMPLES)]
    Explain(Box<explain::Explain>),
    /// Write a model as an ONNX graph, for other programs to decide with
    #[command(after_help = export::EXAMPLES)]
    Export(export::Export),
    /// Write an HTML report of one or more models
    #[command(after_help = report::EXAMPLES)]
    Report(report::Report),
    /// Run the paper's experiments, and compare its numbers with ours
    #[command(after_help = reproduce::EXAMPLES)]
    Reproduce(reproduce::Reproduce),
    /// What the paper's theorems promise, and what they ask for
    #[command(after_help = bounds::EXAMPLES)]
    Bounds(Box<bounds::Bounds>),
    /// Print completions for a shell
    Completions(manual::Completions),
    /// Print the manual page, or write one for each command
    Man(manual::Man),
}

fn main() -> ExitCode {
    output::quiet_dependencies();
    let arguments = Arguments::try_parse().unwrap_or_else(|error| output::misused(error).exit());
    let result = match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Data(command) => data::run(command),
        Command::Train(arguments) => train::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Audit(arguments) => evaluate::audit(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Tradeoff(arguments) => tradeoff::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Bounds(arguments) => bounds::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => manual::man(&arguments, Arguments::command()),
    };
    match result {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a line, as a shell splits them, up to a comment or where it redirects.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
        for letter in line.chars() {
            match letter {
                '\'' => {
                    quoted = !quoted;
                    word.get_or_insert_default();
                }
                ' ' if !quoted => words.extend(word.take()),
                letter => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        let end = words.iter().position(|word| ["#", ">"].contains(&word.as_str()));
        words.truncate(end.unwrap_or(words.len()));
        // A file that is read from standard input.
        if let Some(at) = words.iter().position(|word| word == "<") {
            words.drain(at..at + 2);
        }
        words
    }

    /// The examples of a command and of all below it.
    fn examples(command: &clap::Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
        let own = lines.filter(|line| line.starts_with("fairgame ")).map(str::to_owned);
        own.chain(command.get_subcommands().flat_map(examples)).collect()
    }

    #[test]
    fn examples_are_no_usage_errors() {
        let examples = examples(&Arguments::command());
        assert!(examples.len() > 40, "{examples:#?}");
        for example in examples {
            let parsed = Arguments::try_parse_from(words(&example));
            assert!(parsed.is_ok(), "{example}: {}", parsed.err().unwrap());
        }
    }
}
