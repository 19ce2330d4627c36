//! What `rtl/taiyi` needs to run a limb program: `taiyi_job PROGRAM.limb [WORD [LOG_SLOTS]] > NAME.job`, for a build with words of 36 bits and
//! 2^6 limbs on chip unless others are given.

use std::process::ExitCode;

use ringmill_machine::Described;
use ringmill_machine::taiyi::{Job, Shape};
use ringmill_program::limb::parse;

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give the file of a limb program as text")?;
    let program = parse(&std::fs::read_to_string(path)?)?;
    let number = |given: Option<String>, otherwise| given.map_or(Ok(otherwise), |text| text.parse());
    let word_bits = number(arguments.next(), Shape::SMALL.word_bits)?;
    let log_slots = number(arguments.next(), Shape::SMALL.log_slots)?;
    let shape = Shape { log_n: program.log_n(), word_bits, log_slots, ..Shape::SMALL };
    print!("{}", Job::on(&program, shape, &Described::new(shape.describe()?))?);
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
