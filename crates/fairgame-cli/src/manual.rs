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
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Verdict::Met)
}

pub(crate) fn man(arguments: &Man, command: Command) -> Result<Verdict> {
    let Some(folder) = &arguments.folder else {
        output::print(&page(command, "fairgame")?)?;
        return Ok(Verdict::Met);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
            .at(folder.display())
    })?;
    let commands: Vec<Command> = command.get_subcommands().cloned().collect();
    for one in commands {
        let name = format!("fairgame-{}", one.get_name());
        table::write_text(&folder.join(format!("{name}.1")), &page(one, &name)?)?;
    }
    table::write_text(&folder.join("fairgame.1"), &page(command, "fairgame")?)?;
    Ok(Verdict::Met)
}

fn page(command: Command, title: &str) -> Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        .title(title)
        .render(&mut text)
        .map_err(|error| Error::new(ErrorKind::Io, format!("the page cannot be made: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
