//! Schedules whose length is known in closed form, and what each means of a schedule is worth, counted by hand.

use proptest::prelude::*;
use ringmill_cycles::graph::Value;
use ringmill_cycles::{
    Class, Description, Flow, Graph, Kind, Options, Order, Outcome, Settings, Urgency, Wait, simulate,
};

/// A machine of two units on limbs of 1,024 words of 32 bits: 4,096 bytes.
#[derive(Clone, Debug)]
struct Small {
    mode: &'static str,
    count: u64,
    /// Rows and last row of `ntt`, and of `ewe`.
    ntt: (u64, u64),
    ewe: (u64, u64),
    limbs: u64,
    memory: String,
    bytes_per_cycle: f64,
    channel: String,
    unit: String,
}

impl Default for Small {
    fn default() -> Self {
        Self {
            mode: "parallel",
            count: 1,
            ntt: (64, 320),
            ewe: (64, 80),
            limbs: 1 << 20,
            memory: String::new(),
            bytes_per_cycle: 1e12,
            channel: String::new(),
            unit: String::new(),
        }
    }
}

impl Small {
    fn describe(&self) -> Description {
        let (n, e) = (self.ntt, self.ewe);
        let text = format!(
            "[machine]\nname = \"small\"\nword_bits = 32\nghz = 1\nmode = \"{}\"\nsource = \"test\"\n\
             [unit.ntt]\ncount = {}\nrows = {}\nfirst = {}\nlast = {}\nwidth = 1024\n{}\nsource = \"test\"\n\
             [unit.ewe]\ncount = {}\nrows = {}\nfirst = {}\nlast = {}\nwidth = 1024\n{}\nsource = \"test\"\n\
             [runs]\nntt = \"ntt\"\nadd = \"ewe\"\nmul = \"ewe\"\n\
             [memory.limbs]\nbytes = {}\n{}\nsource = \"test\"\n[offchip.hbm]\nbytes_per_cycle = {}\n{}\nsource = \"test\"\n",
            self.mode,
            self.count,
            n.0,
            n.1 - n.0,
            n.1,
            self.unit,
            self.count,
            e.0,
            e.1 - e.0,
            e.1,
            self.unit,
            self.limbs * 4096,
            self.memory,
            self.bytes_per_cycle,
            self.channel
        );
        Description::from_toml("small", &text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(&self, graph: &Graph, settings: &Settings) -> Outcome {
        let reported = simulate(&self.describe(), graph, settings).unwrap_or_else(|e| panic!("{e}"));
        adds_up(&reported);
        reported
    }
}

/// What holds of every outcome: cycles are accounted for, and no bound is beaten.
fn adds_up(reported: &Outcome) {
    assert_eq!(reported.parts.iter().map(|p| p.1).sum::<u64>(), reported.cycles, "{:?}", reported.parts);
    assert_eq!(reported.regions.iter().map(|r| r.cycles).sum::<u64>(), reported.cycles);
    for unit in &reported.units {
        let waiting: u64 = unit.waiting.iter().map(|w| w.1).sum();
        assert_eq!(unit.busy + unit.slowed + waiting, reported.cycles * unit.instances, "{unit:?}");
        assert!(unit.used <= unit.offered);
    }
    assert!(reported.bounds.most() <= reported.cycles, "{:?} {}", reported.bounds, reported.cycles);
    assert!(reported.memories.iter().all(|m| m.most <= m.slots));
    assert!(reported.channels.iter().all(|c| c.busy <= reported.cycles + 1));
}

fn program() -> Settings {
    Settings { options: Options::default(), orders: vec![Order::Program], spans: false }
}

fn without(change: impl Fn(&mut Options)) -> Settings {
    let mut settings = program();
    change(&mut settings.options);
    settings
}

/// Instructions that read up to two of those before them, or nothing.
fn random(from_inputs: bool) -> impl Strategy<Value = (Graph, Vec<(Kind, Vec<usize>)>)> {
    let one = (
        prop::sample::select(vec![Kind::Ntt, Kind::Add, Kind::Mul]),
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    );
    prop::collection::vec(one, 1..60).prop_map(move |all| {
        let mut graph = Graph::new("random", 10).unwrap();
        let inputs: Vec<Value> =
            (0..if from_inputs { 4 } else { 0 }).map(|_| graph.input(Class::Data, 32)).collect();
        let (mut values, mut made) = (inputs.clone(), Vec::new());
        for (kind, reads) in all {
            let places: Vec<usize> = match values.len() {
                0 => Vec::new(),
                count => reads.iter().map(|place| place.index(count)).collect(),
            };
            let operands: Vec<Value> = places.iter().map(|&place| values[place]).collect();
            values.push(graph.push(kind, &operands, 32, 1).unwrap());
            // Places of instructions alone: inputs are there at once.
            made.push((kind, places.into_iter().filter_map(|p| p.checked_sub(inputs.len())).collect()));
        }
        let last = *values.last().unwrap();
        graph.result(last).unwrap();
        (graph, made)
    })
}

/// Times of the units: rows, and the rest to the last row.
fn times() -> impl Strategy<Value = ((u64, u64), (u64, u64))> {
    let one = || (1u64..100, 0u64..300).prop_map(|(rows, more)| (rows, rows + more));
    (one(), one())
}

proptest! {
    /// One instruction at a time: the sum of all.
    #[test]
    fn a_serial_machine_takes_the_sum_of_its_work((graph, made) in random(false), (ntt, ewe) in times()) {
        let small = Small { mode: "serial", ntt, ewe, ..Small::default() };
        let sum: u64 = made.iter().map(|(kind, _)| if *kind == Kind::Ntt { ntt.1 } else { ewe.1 }).sum();
        let reported = small.run(&graph, &without(|o| o.write_results = false));
        prop_assert_eq!((reported.cycles, reported.bounds.work), (sum, sum));
    }

    /// Units without number, memory without end: the longest way through the program.
    #[test]
    fn an_infinite_machine_takes_the_critical_path((graph, made) in random(false), (ntt, ewe) in times(), urgent in any::<bool>()) {
        let small = Small { count: 64, ntt, ewe, ..Small::default() };
        let mut ways: Vec<u64> = Vec::new();
        for (kind, reads) in &made {
            let own = if *kind == Kind::Ntt { ntt.1 } else { ewe.1 };
            ways.push(own + reads.iter().map(|&r| ways[r]).max().unwrap_or(0));
        }
        let longest = ways.into_iter().max().unwrap();
        let mut settings = without(|o| { o.write_results = false; o.chaining = false });
        if urgent {
            settings.orders = vec![Order::List { urgency: Urgency::CriticalPath, window: 1000 }];
        }
        let reported = small.run(&graph, &settings);
        prop_assert_eq!((reported.cycles, reported.bounds.critical_path), (longest, longest));
    }

    /// Independent work on one unit: all rows, then the last one on its way out.
    #[test]
    fn one_unit_takes_its_work_over_its_rate(count in 1usize..50, (ntt, _) in times(), instances in 1u64..5) {
        let mut graph = Graph::new("independent", 10).unwrap();
        (0..count).for_each(|_| _ = graph.push(Kind::Ntt, &[], 32, 1).unwrap());
        let small = Small { ntt, count: instances, ..Small::default() };
        let reported = small.run(&graph, &program());
        let rows = (count as u64).div_ceil(instances) * ntt.0;
        prop_assert_eq!((reported.cycles, reported.bounds.work), (rows + ntt.1 - ntt.0, (count as u64 * ntt.0).div_ceil(instances)));
        prop_assert_eq!(reported.unit("ntt").unwrap().used, 1024 * count as u64);
    }

    /// A channel that units wait for: all bytes over its bandwidth, the way of the last limb, and the work on it.
    #[test]
    fn a_slow_channel_takes_its_bytes_over_its_bandwidth(
        count in 1usize..40, milli in 1u64..60_000, latency in 0u64..500, bits in 1u8..=32,
    ) {
        let mut graph = Graph::new("inputs", 10).unwrap();
        for _ in 0..count {
            let x = graph.input(Class::Data, bits);
            graph.push(Kind::Ntt, &[x], 32, 1).unwrap();
        }
        let bytes = (1024 * u64::from(bits)).div_ceil(8).next_multiple_of(64);
        let channel = format!("latency = {latency}\nbeat = 64");
        // Short of a limb's transfer, so that the channel never waits for the unit.
        let small = Small { ntt: (1, 7), bytes_per_cycle: milli as f64 / 1000.0, channel, ..Small::default() };
        let reported = small.run(&graph, &program());
        let moved = (count as u64 * bytes * 1000).div_ceil(milli);
        prop_assert_eq!((reported.cycles, reported.bounds.off_chip), (moved + latency + 7, moved));
        prop_assert_eq!(reported.bytes(Flow::Data), count as u64 * bytes);
    }

    /// Whatever the machine lacks and whatever is left out, all cycles are accounted for and no bound is beaten.
    #[test]
    fn every_schedule_adds_up(
        (graph, _) in random(true), (ntt, ewe) in times(), limbs in 3u64..12, milli in 1000u64..500_000, count in 1u64..3,
        serial in any::<bool>(), bits in prop::array::uniform7(any::<bool>()), banks in 1u64..5, buffers in 0u64..3,
        queue in prop::option::of(1u32..4),
    ) {
        let [chaining, use_banks, use_buffers, fetch_ahead, next_use, clean, write_results] = bits;
        let queue = queue.map_or_else(String::new, |q| format!("queue = {q}"));
        let small = Small {
            mode: if serial { "serial" } else { "parallel" },
            count, ntt, ewe, limbs,
            memory: format!("banks = {banks}\nbytes_per_cycle = 256"),
            bytes_per_cycle: milli as f64 / 1000.0,
            channel: format!("latency = 30\n{queue}"),
            unit: format!("buffers = {buffers}"),
        };
        let options = Options { chaining, banks: use_banks, buffers: use_buffers, fetch_ahead, next_use, by_cost: false, clean, write_results };
        for order in [Order::Program, Order::window(8)] {
            small.run(&graph, &Settings { options, orders: vec![order], spans: true });
        }
        let all = Settings { options, ..Settings::default() };
        let best = small.run(&graph, &all);
        prop_assert_eq!(&best, &small.run(&graph, &all));
    }
}

/// A transform and a product of its result.
fn pair() -> Graph {
    let mut graph = Graph::new("pair", 10).unwrap();
    let x = graph.push(Kind::Ntt, &[], 32, 1).unwrap();
    graph.push(Kind::Mul, &[x], 32, 1).unwrap();
    graph
}

#[test]
fn a_chained_unit_begins_with_the_first_row() {
    // The first row leaves after 256 cycles, the last one after 320; the product's last one 80 cycles after it begins.
    assert_eq!(Small::default().run(&pair(), &program()).cycles, 256 + 80);
    assert_eq!(Small::default().run(&pair(), &without(|o| o.chaining = false)).cycles, 320 + 80);
    // A unit that is twice as fast reads its last row, after 32 cycles, when that has left: not before cycle 288.
    let fast = Small { ewe: (32, 48), ..Small::default() };
    assert_eq!(fast.run(&pair(), &program()).cycles, 320 - 32 + 48);
}

#[test]
fn a_narrow_memory_slows_units() {
    let mut graph = Graph::new("product", 10).unwrap();
    let (x, y) = (graph.push(Kind::Ntt, &[], 32, 1).unwrap(), graph.push(Kind::Ntt, &[], 32, 1).unwrap());
    graph.push(Kind::Mul, &[x, y], 32, 1).unwrap();
    let small = |memory: &str| Small { memory: memory.into(), ..Small::default() };
    let free = 64 + 320 + 80;
    let settings = without(|o| o.chaining = false);
    // Two limbs are read and one is written, 4,096 bytes each, in 80 cycles.
    assert_eq!(small("bytes_per_cycle = 1024").run(&graph, &settings).cycles, free);
    // Two limbs at 64 bytes a cycle take 128 cycles, not 64; then the result takes 64 more, not 16.
    let slow = small("bytes_per_cycle = 64").run(&graph, &settings);
    assert_eq!((slow.cycles, slow.unit("ewe").unwrap().slowed), (64 + 320 + 128 + 64, 64));
    // In two banks each of the operands has its own; the result shares one of them.
    let banks = small("banks = 2\nbytes_per_cycle = 128").run(&graph, &settings);
    assert_eq!((banks.cycles, banks.unit("ewe").unwrap().slowed), (64 + 320 + 64 + 64, 0));
    let off = without(|o| (o.chaining, o.banks) = (false, false));
    assert_eq!(small("bytes_per_cycle = 64").run(&graph, &off).cycles, free);
}

#[test]
fn a_result_waits_in_its_unit_for_space() {
    // Three slots: two limbs are read to the end of the sum; the next transform has no space for its result before.
    let mut graph = Graph::new("room", 10).unwrap();
    let (x, y) = (graph.push(Kind::Ntt, &[], 32, 1).unwrap(), graph.push(Kind::Ntt, &[], 32, 1).unwrap());
    graph.push(Kind::Add, &[x, y], 32, 1).unwrap();
    graph.push(Kind::Ntt, &[], 32, 1).unwrap();
    let small = |buffers: u32| Small { limbs: 3, unit: format!("buffers = {buffers}"), ..Small::default() };
    let options = |o: &mut Options| o.chaining = false;
    let none = small(0).run(&graph, &without(options));
    // The second transform ends at 64 + 320, the sum has been read at 64 + 320 + 64.
    assert_eq!(none.cycles, 448 + 320);
    assert_eq!(none.unit("ntt").unwrap().waiting.iter().find(|w| w.0 == Wait::Space).unwrap().1, 448 - 128);
    let one = small(1).run(&graph, &without(options));
    // It begins at 128 at once, and its result leaves in 64 rows from 448 on.
    assert_eq!(one.cycles, 448 + 64);
}

#[test]
fn limbs_are_asked_for_ahead_as_far_as_the_queue_and_memory_allow() {
    let mut graph = Graph::new("ahead", 10).unwrap();
    for _ in 0..4 {
        let x = graph.input(Class::Data, 32);
        graph.push(Kind::Ntt, &[x], 32, 1).unwrap();
    }
    // A transfer takes 64 cycles and 100 to be there, a transform 64 and 256 to leave.
    let small = |queue: &str| Small {
        bytes_per_cycle: 64.0,
        channel: format!("latency = 100\n{queue}"),
        ..Small::default()
    };
    assert_eq!(small("").run(&graph, &program()).cycles, 4 * 64 + 100 + 320);
    // The second limb is asked for when the first transform has left the unit, at 64 + 100 + 64, and so on.
    let on_demand = small("").run(&graph, &without(|o| o.fetch_ahead = false));
    assert_eq!(on_demand.cycles, 3 * (64 + 100 + 64) + 64 + 100 + 320);
    // With a queue of one it is asked for when the first transform begins.
    assert_eq!(small("queue = 1").run(&graph, &program()).cycles, 4 * (64 + 100) + 320);
}

#[test]
fn the_limb_with_the_farthest_use_goes_and_is_written_once() {
    // a and b are made; c to e pass through; a is read soon, b late. Four slots.
    let mut graph = Graph::new("farthest", 10).unwrap();
    let made: Vec<Value> = (0..3).map(|_| graph.push(Kind::Ntt, &[], 32, 1).unwrap()).collect();
    let (a, b, c) = (made[0], made[1], made[2]);
    let d = graph.push(Kind::Add, &[a, c], 32, 1).unwrap();
    let e = graph.push(Kind::Add, &[a, d], 32, 1).unwrap();
    let f = graph.push(Kind::Add, &[a, e], 32, 1).unwrap();
    let g = graph.push(Kind::Add, &[b, f], 32, 1).unwrap();
    graph.push(Kind::Add, &[b, g], 32, 1).unwrap();
    let run = |limbs, settings: &Settings| Small { limbs, ..Small::default() }.run(&graph, settings);
    assert_eq!(run(4, &program()).bytes(Flow::Spill), 0);
    let tight = run(3, &program());
    // b goes once and comes once: it is read last.
    assert_eq!((tight.bytes(Flow::Spill), tight.bytes(Flow::Fill)), (4096, 4096));
    let oldest = run(3, &without(|o| o.next_use = false));
    assert!(oldest.bytes(Flow::Spill) >= 4096);
}

#[test]
fn a_limb_of_which_there_is_a_copy_is_not_written_again() {
    // x has to go twice, between its three uses.
    let mut graph = Graph::new("copy", 10).unwrap();
    let x = graph.push(Kind::Ntt, &[], 32, 1).unwrap();
    let mut last = x;
    for _ in 0..2 {
        let (a, b) = (graph.push(Kind::Ntt, &[], 32, 1).unwrap(), graph.push(Kind::Ntt, &[], 32, 1).unwrap());
        let sum = graph.push(Kind::Add, &[a, b], 32, 1).unwrap();
        let far = graph.push(Kind::Add, &[sum, sum], 32, 1).unwrap();
        last = graph.push(Kind::Add, &[far, x], 32, 1).unwrap();
    }
    graph.result(last).unwrap();
    let small = Small { limbs: 3, ..Small::default() };
    let clean = small.run(&graph, &program());
    let again = small.run(&graph, &without(|o| o.clean = false));
    assert_eq!(clean.bytes(Flow::Fill), 2 * 4096);
    assert_eq!((clean.bytes(Flow::Spill), again.bytes(Flow::Spill)), (4096, 2 * 4096));
    assert_eq!(
        (
            clean.bytes(Flow::Result),
            small.run(&graph, &without(|o| o.write_results = false)).bytes(Flow::Result)
        ),
        (4096, 0)
    );
}

#[test]
fn clusters_work_on_limbs_of_their_own_and_pay_for_the_way_between_them() {
    let text = "[machine]\nname = \"two\"\nword_bits = 32\nghz = 1\nclusters = 2\nsource = \"test\"\n\
                [unit.ntt]\nrows = 64\nfirst = 64\nlast = 64\nwidth = 16\ncluster = \"each\"\nsource = \"test\"\n\
                [runs]\nntt = \"ntt\"\nadd = \"ntt\"\n[memory.limbs]\nbytes = 1000000\nsource = \"test\"\n\
                [offchip.hbm]\nbytes_per_cycle = 1000\nsource = \"test\"\n[network]\ncycles = 10\nsource = \"test\"\n";
    let two = Description::from_toml("two", text).unwrap();
    let mut graph = Graph::new("two", 10).unwrap();
    let (x, y) = (graph.push(Kind::Ntt, &[], 32, 1).unwrap(), graph.push(Kind::Ntt, &[], 32, 1).unwrap());
    let reported = simulate(&two, &graph, &program()).unwrap();
    assert_eq!((reported.cycles, reported.units[0].instances), (64, 2));
    graph.push(Kind::Add, &[x, y], 32, 1).unwrap();
    let reported = simulate(&two, &graph, &program()).unwrap();
    adds_up(&reported);
    assert_eq!(reported.cycles, 64 + 10 + 64);
    assert_eq!(reported.parts.iter().find(|p| p.0 == "between clusters").unwrap().1, 10);
}

#[test]
fn what_a_machine_cannot_run_is_refused_by_name() {
    let mut graph = Graph::new("refused", 10).unwrap();
    let x = graph.input(Class::Key, 33);
    let text = |machine: &Small, graph: &Graph| {
        simulate(&machine.describe(), graph, &program()).unwrap_err().to_string()
    };
    graph.push(Kind::Ntt, &[x], 32, 1).unwrap();
    let said = text(&Small::default(), &graph);
    assert!(said.contains("the modulus of a limb of class key has 33 bits, and words have 32"), "{said}");
    let mut graph = Graph::new("refused", 10).unwrap();
    let x = graph.input(Class::Data, 32);
    let y = graph.push(Kind::Mul, &[x, x], 32, 8).unwrap();
    let said = text(&Small { unit: "accumulators = 7".into(), ..Small::default() }, &graph);
    assert!(said.contains("a `mul` has 8 terms, and unit `ewe` accumulates 7"), "{said}");
    let said = text(&Small { limbs: 1, ..Small::default() }, &graph);
    assert!(said.contains("memory `limbs` holds 1 limbs of N = 2^10, and a `mul` needs 2 at once"), "{said}");
    graph.push(Kind::Automorphism, &[y], 32, 1).unwrap();
    let said = text(&Small::default(), &graph);
    assert!(said.contains("nothing runs `automorphism`; name a unit for it in [runs]"), "{said}");
    assert!(
        graph
            .push(Kind::Ntt, &[99], 32, 1)
            .unwrap_err()
            .to_string()
            .contains("reads value 99, which no input")
    );
    assert!(Graph::new("large", 25).unwrap_err().to_string().contains("at most 2^24"));
}
