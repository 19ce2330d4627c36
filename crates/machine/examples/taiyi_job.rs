//! What `rtl/taiyi` needs to run a limb program: `taiyi_job PROGRAM.limb [DESCRIPTION.toml] > NAME.job`. Another description is that of
//! another word or memory; the build must have its sizes.

use std::process::ExitCode;

use ringmill_machine::Described;
use ringmill_machine::taiyi::{Job, Shape};
use ringmill_program::limb::parse;

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give the file of a limb program as text")?;
    let program = parse(&std::fs::read_to_string(path)?)?;
    let machine = Described::named(arguments.next().as_deref().unwrap_or(Shape::DESCRIPTION))?;
    let shape = Shape { word_bits: machine.description().word_bits, ..Shape::SMALL };
    print!("{}", Job::on(&program, shape, &machine)?);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("taiyi_job: {e}");
            ExitCode::FAILURE
        }
    }
}
