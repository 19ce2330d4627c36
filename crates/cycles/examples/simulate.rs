//! What a limb program takes on a machine, and how long the simulation takes: `cargo run --release -p ringmill-cycles --example simulate
//! FILE [MACHINE [SWEEP [TRACE]]]` prints a few lines. FILE is the text of a limb program; with a SWEEP other than 0, SWEEP machines
//! are simulated that differ in memory and bandwidth; TRACE is written for trace viewers.

use std::time::Instant;

use ringmill_cycles::{Description, Graph, Order, Settings, simulate, sweep, trace};
use ringmill_program::limb::parse;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let of = |i: usize| arguments.get(i).map(String::as_str);
    let file = of(0).ok_or("name the file of a limb program")?;
    let machine = Description::named(of(1).unwrap_or("taiyi-60"))?;
    let graph = Graph::of(&parse(&std::fs::read_to_string(file)?)?)?;
    let settings = Settings::default();
    let begun = Instant::now();
    let outcome = simulate(&machine, &graph, &settings)?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} cycles, {:.3} ms, issued in {}", outcome.cycles, 1e3 * outcome.seconds, outcome.order);
    outcome.parts.iter().for_each(|(part, cycles)| println!("  {part:<32} {cycles:>12}"));
    println!("bounds {:?}", outcome.bounds);
    for flow in &outcome.flows {
        println!("  {:<12} {:>14} bytes, {:>14} distinct", flow.flow.name(), flow.bytes, flow.distinct);
    }
    let orders = settings.orders.len() as f64;
    println!(
        "{} instructions, {orders} orders in {:.1} ms: {:.2} million instructions a second",
        outcome.instructions,
        1e3 * seconds,
        outcome.instructions as f64 * orders / seconds / 1e6
    );
    let one = Settings { orders: vec![Order::window(64)], ..Settings::default() };
    let begun = Instant::now();
    simulate(&machine, &graph, &one)?;
    println!("one order in {:.1} ms", 1e3 * begun.elapsed().as_secs_f64());
    let count: u64 = of(2).unwrap_or("0").parse()?;
    if count > 0 {
        let at = |i: u64| {
            let mut m = machine.clone();
            m.memories[0].bytes = (64 + 8 * (i % 32)) << 20;
            m.channels[0].millibytes_per_cycle = 250_000 * (1 + i / 32 % 16);
            m
        };
        let machines: Vec<_> = (0..count).map(at).collect();
        let begun = Instant::now();
        let all = sweep(&machines, &graph, &settings);
        let best = all.iter().flatten().map(|outcome| outcome.cycles).min();
        println!(
            "{count} machines in {:.1} s, the fastest in {best:?} cycles",
            begun.elapsed().as_secs_f64()
        );
    }
    if let Some(path) = of(3) {
        let outcome = simulate(&machine, &graph, &Settings { spans: true, ..settings })?;
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        let spans = outcome.spans.iter().map(|s| (&*s.unit, &*s.what, s.start, s.end));
        trace::write(&mut out, spans, Some(machine.ghz))?;
    }
    Ok(())
}
