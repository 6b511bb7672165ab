//! `fairgame completions` and `fairgame man`: what shells and `man` want to know.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use fairgame::{Error, ErrorKind, Result, table};

use crate::output;
use crate::verdict::Verdict;

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// A folder to write a page for each command to [default: the main page, to standard output]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &Completions, mut command: Command) -> Result<Verdict> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "fairgame", &mut text);
    output::print_data(&String::from_utf8_lossy(&text))?;
    Ok(Verdict::Met)
}

pub(crate) fn man(arguments: &Man, command: Command) -> Result<Verdict> {
    // What it is given here it would be given when it runs: its name with those of the commands above it.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.folder else {
        output::print_data(&page(&command)?)?;
        return Ok(Verdict::Met);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
            .at(folder.display())
    })?;
    let mut commands = vec![&command];
    while let Some(one) = commands.pop() {
        let name = one.get_display_name().unwrap_or(one.get_name());
        table::write_text(&folder.join(format!("{name}.1")), &page(one)?)?;
        commands.extend(one.get_subcommands());
    }
    Ok(Verdict::Met)
}

fn page(command: &Command) -> Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .map_err(|error| Error::new(ErrorKind::Io, format!("the page cannot be made: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
