//! The traces of the hardware, replayed: same inputs, same outputs, every cycle.

use std::path::PathBuf;

use super::*;

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../rtl/memory/test/traces").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shape(header: &str) -> Shape {
    let words: Vec<&str> = header.split_whitespace().collect();
    let ["#", "nbf", nbf, "d", d, "burst", burst, "rows", rows] = words[..] else {
        panic!("header {header}")
    };
    let shape = Shape::new(2 * nbf.parse::<u64>().unwrap(), d.parse().unwrap(), rows.parse().unwrap());
    Shape { burst_bytes: burst.parse().unwrap(), ..shape }
}

fn settings(line: &str) -> Settings {
    let n: Vec<u64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
    Settings {
        read_latency: n[0],
        write_latency: n[1],
        rate_num: n[2],
        rate_den: n[3],
        shared: n[4] == 1,
        outstanding: n[5] as usize,
        seed: n[6],
        stall: n[7..12].try_into().unwrap(),
    }
}

/// Inputs of a cycle, and the bits of all outputs.
fn cycle(line: &str) -> (Inputs, u32) {
    let mut words = line.split_whitespace();
    let bits = u32::from_str_radix(words.next().unwrap(), 16).unwrap();
    let bit = |i: u32| bits >> i & 1 == 1;
    let mut inputs = Inputs {
        fetch_stop: bit(1),
        instruction_ready: bit(2),
        instruction_is_end: bit(3),
        read_row_ready: bit(5),
        write_row_valid: bit(7),
        ..Inputs::default()
    };
    while let Some(what) = words.next() {
        let mut number = || words.next().unwrap().parse().unwrap();
        match what {
            "r" => inputs.read = Some(Request { unit: number(), rows: number() }),
            "w" => inputs.write = Some(Request { unit: number(), rows: number() }),
            "f" => inputs.fetch_start = Some(number()),
            _ => panic!("line {line}"),
        }
    }
    (inputs, bits >> 8)
}

fn packed(bus: &Bus) -> u32 {
    let o = bus.outputs();
    let (ar, aw) = bus.addresses();
    let bits = [
        o.fetch_idle,
        o.instruction_valid,
        o.read_ready,
        o.read_row_valid,
        o.read_idle,
        o.read_beat,
        o.write_ready,
        o.write_row_ready,
        o.write_done,
        o.write_idle,
        o.write_beat,
        ar,
        aw,
    ];
    bits.iter().enumerate().map(|(i, &bit)| u32::from(bit) << i).sum()
}

/// Replays a file on memories changed by `change`: the rows, instructions and stores that moved, or the first
/// cycle in which the hardware differs.
fn replay(name: &str, change: fn(&mut Settings)) -> Result<[usize; 3], String> {
    let text = file(name);
    let mut lines = text.lines().enumerate();
    let shape = shape(lines.next().unwrap().1);
    let mut bus = None;
    let mut moved = [0; 3];
    for (number, line) in lines {
        if line.starts_with('M') {
            let mut settings = settings(line);
            change(&mut settings);
            bus = Some(Bus::new(shape, settings));
            continue;
        }
        let bus: &mut Bus = bus.as_mut().expect("settings come first");
        let (inputs, want) = cycle(line);
        let got = packed(bus);
        if got != want {
            return Err(format!("{name}:{}: outputs {got:#x}, in the hardware {want:#x}", number + 1));
        }
        let o = bus.outputs();
        moved[0] += usize::from(o.read_row_valid && inputs.read_row_ready);
        moved[1] += usize::from(o.instruction_valid && inputs.instruction_ready);
        moved[2] += usize::from(o.write_done);
        bus.step(&inputs);
    }
    Ok(moved)
}

const FILES: [&str; 4] = ["system.txt", "gather.txt", "cut.txt", "deep.txt"];

#[test]
fn the_hardware_is_repeated_cycle_by_cycle() {
    for name in FILES {
        let [rows, instructions, stores] = replay(name, |_| ()).unwrap();
        assert!(rows > 30 && instructions > 100 && stores > 8, "{name}: {rows} {instructions} {stores}");
    }
}

#[test]
fn a_cycle_more_or_another_seed_is_noticed() {
    for name in FILES {
        assert!(replay(name, |s| s.read_latency += 1).is_err(), "{name}: read latency");
        assert!(replay(name, |s| s.write_latency += 1).is_err(), "{name}: write latency");
        assert!(replay(name, |s| s.outstanding = 2).is_err(), "{name}: bursts in flight");
        assert!(replay(name, |s| s.seed += 1).is_err(), "{name}: seed");
    }
}
