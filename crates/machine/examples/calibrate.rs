//! Measures the CPU's costs and says how well they explain the key switches they came from:
//! `cargo run --release -p ringmill-machine --example calibrate [log_n …]`.

use ringmill_machine::Cpu;
use ringmill_machine::calibrate::calibrate;
use ringmill_program::cost::{CostTable, Rates};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let degrees: Vec<u32> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let mut all: Vec<Rates> = Vec::new();
    for log_n in if degrees.is_empty() { vec![13, 16] } else { degrees } {
        let (rates, samples) = calibrate(&Cpu::new()?, log_n)?;
        let table = CostTable::new("this one", vec![rates])?;
        for sample in samples {
            let (found, outcome) =
                (sample.time.as_secs_f64() * 1e3, table.nanoseconds(&sample.work, log_n) / 1e6);
            println!(
                "2^{log_n} {:<44} {found:8.2} ms, by the rates {:+5.1} %",
                sample.name,
                100.0 * (outcome / found - 1.0)
            );
        }
        all.push(rates);
    }
    print!("{}", CostTable::new("this machine", all)?);
    Ok(())
}
