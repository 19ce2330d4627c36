//! Tables to a description, every name and range checked.

use toml::{Table, Value};

use super::table::{Reader, Whole, hint};
use super::{Channel, Description, Memory, Mode, Origin, Pack, Run, Unit};
use crate::error::DescriptionError;
use crate::expression::Expression;
use crate::graph::{Class, Kind};

pub(super) type Result<T> = std::result::Result<T, DescriptionError>;

const TABLES: [&str; 9] =
    ["machine", "unit", "runs", "memory", "offchip", "keys", "network", "area", "energy"];

/// Most units, memories and channels: each has a byte-sized or short number in schedules.
const MANY: usize = 250;

/// Instances of a unit, clusters and banks, at most.
const INSTANCES: u64 = 4096;

const BYTES: Whole = Whole { least: 1, most: 1 << 50, unit: "bytes" };
const WORDS: Whole = Whole { least: 1, most: 1 << 32, unit: "words" };

/// Classes as descriptions name them.
const CLASSES: [&str; 4] = ["value", "key", "plain", "data"];

/// All of a file.
pub(super) struct File<'t> {
    pub(super) name: &'t str,
    tables: &'t Table,
    sources: Vec<Origin>,
}

pub(super) fn read(file: &str, tables: &Table) -> Result<Description> {
    if let Some(table) = tables.keys().find(|key| !TABLES.contains(&key.as_str())) {
        return Err(DescriptionError::UnknownTable {
            file: file.into(),
            table: table.as_str().into(),
            hint: hint(table, TABLES).into(),
            known: TABLES.join(", ").into(),
        });
    }
    let mut f = File { name: file, tables, sources: Vec::new() };
    let mut d = f.machine()?;
    d.units = f.each("unit", "it describes what computes, as [unit.ntt]", File::unit)?;
    d.memories = f.each("memory", "it says what limbs fit on chip, as [memory.limbs]", File::memory)?;
    d.channels = f.each("offchip", "it says how limbs come and go, as [offchip.hbm]", File::channel)?;
    f.classes("memory", "holds", d.memories.iter().map(|m| (&*m.name, &*m.holds)))?;
    f.classes("offchip", "carries", d.channels.iter().map(|c| (&*c.name, &*c.carries)))?;
    f.names_once(&d)?;
    d.runs = f.runs(&d.units)?;
    d.expand = f.keys(&d.units)?;
    d.network = f.network()?;
    d.area = f.area(&d)?;
    d.energy = f.energy(&d)?;
    d.sources = f.sources;
    Ok(d)
}

impl<'t> File<'t> {
    pub(super) fn table(&self, name: &str) -> Result<Option<&'t Table>> {
        match self.tables.get(name) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(other) => Err(DescriptionError::Value {
                file: self.name.into(),
                table: name.into(),
                field: name.into(),
                found: other.to_string().into(),
                expected: format!("a table, [{name}]").into(),
            }),
        }
    }

    fn missing(&self, table: &str, about: &'static str) -> DescriptionError {
        DescriptionError::MissingTable { file: self.name.into(), table: table.into(), about }
    }

    /// Notes where the numbers of a table come from.
    pub(super) fn note(&mut self, r: &Reader<'_>) -> Result<()> {
        let table = r.name.to_owned();
        let all = r.sources()?.into_iter();
        self.sources.extend(all.map(|(field, source)| Origin { table: table.clone(), field, source }));
        Ok(())
    }

    /// The tables [kind.NAME], each read.
    fn each<T>(
        &mut self,
        kind: &str,
        about: &'static str,
        read: impl Fn(&Reader<'_>, &str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let tables = self.table(kind)?.filter(|t| !t.is_empty()).ok_or_else(|| self.missing(kind, about))?;
        let mut all = Vec::new();
        for (name, value) in tables {
            let full = format!("{kind}.{name}");
            let Value::Table(table) = value else {
                let r = Reader::any(self.name, kind, tables);
                return Err(r.wrong(name, value, format!("a table, [{full}]")));
            };
            let r = Reader::any(self.name, &full, table);
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 32 || !name.chars().all(plain) {
                return Err(r.contradiction("a name has 1 to 32 letters, digits, `_` and `-`"));
            }
            self.note(&r)?;
            all.push(read(&r, name)?);
        }
        if all.len() > MANY {
            let r = Reader::any(self.name, kind, tables);
            return Err(r.contradiction(format!("there are {} of them; at most {MANY}", all.len())));
        }
        Ok(all)
    }

    fn machine(&mut self) -> Result<Description> {
        let about = "it says name, word_bits and ghz";
        let table = self.table("machine")?.ok_or_else(|| self.missing("machine", about))?;
        const FIELDS: [&str; 7] = ["name", "title", "word_bits", "ghz", "mode", "clusters", "technology"];
        let r = Reader::new(self.name, "machine", table, &FIELDS)?;
        self.note(&r)?;
        let name = r.text("name", "a name")?.ok_or_else(|| r.missing("name", "a name"))?;
        let bits = Whole { least: 8, most: 64, unit: "bits" };
        let word = r.whole("word_bits", &bits)?.ok_or_else(|| r.missing("word_bits", bits.to_string()))?;
        let (least, most, unit) = (0.000_001, 1000.0, "GHz");
        let ghz = r.number("ghz", least, most, unit)?;
        let mode = match r.text("mode", "\"parallel\" or \"serial\"")? {
            None | Some("parallel") => Mode::Parallel,
            Some("serial") => Mode::Serial,
            Some(other) => return Err(r.wrong("mode", &other.into(), "\"parallel\" or \"serial\"")),
        };
        let clusters = Whole { least: 1, most: 255, unit: "" };
        Ok(Description {
            name: name.into(),
            title: r.text("title", "a title")?.unwrap_or(name).into(),
            word_bits: word as u32,
            ghz: ghz.ok_or_else(|| r.missing("ghz", "10^9 cycles a second"))?,
            mode,
            clusters: r.whole("clusters", &clusters)?.unwrap_or(1) as u32,
            technology: r.text("technology", "a process, as \"7 nm\"")?.map(Into::into),
            units: Vec::new(),
            runs: [None; Kind::COUNT],
            memories: Vec::new(),
            channels: Vec::new(),
            expand: None,
            network: 0,
            area: None,
            energy: None,
            sources: Vec::new(),
        })
    }

    fn unit(r: &Reader<'_>, name: &str) -> Result<Unit> {
        const FIELDS: [&str; 12] = [
            "count",
            "rows",
            "first",
            "last",
            "width",
            "reads",
            "writes",
            "accumulators",
            "together",
            "buffers",
            "chained",
            "cluster",
        ];
        r.fields_are(&FIELDS)?;
        let figure = |field: &str, expected: &str| -> Result<Expression> {
            r.expression(field)?.ok_or_else(|| r.missing(field, expected))
        };
        let many = Whole { least: 1, most: INSTANCES, unit: "" };
        let terms = Whole { least: 1, most: 1 << 20, unit: "terms" };
        let results = Whole { least: 0, most: 64, unit: "results" };
        let in_clusters = match r.text("cluster", "\"all\" or \"each\"")? {
            None | Some("all") => false,
            Some("each") => true,
            Some(other) => return Err(r.wrong("cluster", &other.into(), "\"all\" or \"each\"")),
        };
        let unit = Unit {
            name: name.into(),
            count: r.whole("count", &many)?.unwrap_or(1) as u32,
            rows: figure("rows", "cycles that an instruction holds the unit, as \"n/1024\"")?,
            first: figure("first", "cycles to the first row of the result, as 192")?,
            last: figure("last", "cycles to the last row of the result, as \"n/1024 + 256\"")?,
            width: r
                .whole("width", &WORDS)?
                .ok_or_else(|| r.missing("width", "words or products of a cycle"))?,
            reads: r.whole("reads", &WORDS)?,
            writes: r.whole("writes", &WORDS)?,
            accumulators: r.whole("accumulators", &terms)?.map(|n| n as u32),
            together: r.whole("together", &many)?.unwrap_or(1) as u32,
            chained: r.flag("chained")?.unwrap_or(true),
            buffers: r.whole("buffers", &results)?.unwrap_or(0) as u32,
            in_clusters,
        };
        // Figures are affine: what holds at the corners of the sizes that occur holds between them.
        for (log_n, terms) in [(4, 1), (4, 64), (17, 1), (17, 64)] {
            let at = |e: &Expression| e.of(log_n).at(terms);
            let (rows, first, last) = (at(&unit.rows), at(&unit.first), at(&unit.last));
            let place = format!("at N = 2^{log_n} and {terms} terms");
            if rows == 0 {
                return Err(r.contradiction(format!(
                    "`rows` is 0 {place}; an instruction holds its unit a cycle at least"
                )));
            }
            if last < rows || last < first {
                return Err(r.contradiction(format!(
                    "`last` is {last} {place}, before `rows` ({rows}) or `first` ({first}); the last row leaves after the last one \
                     has come and after the first one has left"
                )));
            }
        }
        Ok(unit)
    }

    fn memory(r: &Reader<'_>, name: &str) -> Result<Memory> {
        r.fields_are(&["bytes", "banks", "bytes_per_cycle", "holds"])?;
        let banks = Whole { least: 1, most: INSTANCES, unit: "" };
        Ok(Memory {
            name: name.into(),
            bytes: r.whole("bytes", &BYTES)?.ok_or_else(|| r.missing("bytes", BYTES.to_string()))?,
            banks: r.whole("banks", &banks)?.unwrap_or(1) as u32,
            bytes_per_cycle: r.whole("bytes_per_cycle", &BYTES)?,
            holds: classes(r.words("holds", &CLASSES)?),
        })
    }

    fn channel(r: &Reader<'_>, name: &str) -> Result<Channel> {
        r.fields_are(&["bytes_per_cycle", "latency", "beat", "pack", "queue", "carries"])?;
        let expected = "bytes of a cycle, with three decimals at most";
        let bytes = r.number("bytes_per_cycle", 0.001, 1e12, "bytes")?;
        let bytes = bytes.ok_or_else(|| r.missing("bytes_per_cycle", expected))?;
        let pack = match r.text("pack", "\"prime\" or \"word\"")? {
            None | Some("prime") => Pack::Prime,
            Some("word") => Pack::Word,
            Some(other) => return Err(r.wrong("pack", &other.into(), "\"prime\" or \"word\"")),
        };
        let latency = Whole { least: 0, most: 1 << 32, unit: "cycles" };
        let beat = Whole { least: 1, most: 1 << 20, unit: "bytes" };
        let queue = Whole { least: 1, most: 1 << 20, unit: "limbs" };
        Ok(Channel {
            name: name.into(),
            millibytes_per_cycle: (bytes * 1000.0).round() as u64,
            latency: r.whole("latency", &latency)?.unwrap_or(0),
            beat: r.whole("beat", &beat)?.unwrap_or(1),
            pack,
            queue: r.whole("queue", &queue)?.map(|n| n as u32),
            carries: classes(r.words("carries", &CLASSES)?),
        })
    }

    /// Areas and energies are by name.
    fn names_once(&self, d: &Description) -> Result<()> {
        let all: Vec<_> = names(d).chain(["rest", "watts", "node"]).collect();
        match all.iter().enumerate().find(|(i, name)| all[..*i].contains(name)) {
            None => Ok(()),
            Some((_, name)) => {
                let r = Reader::any(self.name, "unit", self.tables);
                Err(r.contradiction(format!(
                    "`{name}` is the name of two things; each unit, memory and channel has its own"
                )))
            }
        }
    }

    /// Each class must be in one place, and in one alone.
    fn classes<'a>(
        &self,
        kind: &str,
        field: &str,
        all: impl Iterator<Item = (&'a str, &'a [Class])>,
    ) -> Result<()> {
        let all: Vec<_> = all.collect();
        let fail = |why: String| {
            Err(DescriptionError::Contradiction {
                file: self.name.into(),
                table: kind.into(),
                why: why.into(),
            })
        };
        for class in Class::ALL {
            let of: Vec<_> =
                all.iter().filter(|(_, has)| has.contains(&class)).map(|(name, _)| *name).collect();
            match of.len() {
                1 => {}
                0 => return fail(format!("none has `{}` in `{field}`; one of them must", class.stored())),
                _ => {
                    let (class, names) = (class.stored(), of.join(" and "));
                    return fail(format!("{names} have `{class}` in `{field}`; one of them may"));
                }
            }
        }
        Ok(())
    }

    fn runs(&self, units: &[Unit]) -> Result<[Option<Run>; Kind::COUNT]> {
        let about = "it says which unit runs which instruction, as ntt = \"ntt\"";
        let table = self.table("runs")?.ok_or_else(|| self.missing("runs", about))?;
        let r = Reader::any(self.name, "runs", table);
        let mut runs = [None; Kind::COUNT];
        for (field, value) in r.fields() {
            let kind = Kind::named(field);
            let kind =
                kind.ok_or_else(|| r.unknown(field, "instruction", field, Kind::ALL.map(Kind::name)))?;
            runs[kind as usize] = Some(self.run(&r, kind, value, units)?);
        }
        for (kind, run) in Kind::ALL.into_iter().zip(&runs) {
            let Some(Run::With(with, _)) = run else { continue };
            let of = runs[*with as usize].or_else(|| runs[with.otherwise()? as usize]);
            if !matches!(of, Some(Run::On(_))) {
                let (kind, with) = (kind.name(), with.name());
                return Err(r.contradiction(format!(
                    "`{kind}` is part of a `{with}`, which no unit runs; name a unit for `{with}`"
                )));
            }
        }
        Ok(runs)
    }

    fn run(&self, r: &Reader<'_>, kind: Kind, value: &Value, units: &[Unit]) -> Result<Run> {
        let expected = "the name of a unit, \"none\", or { with = \"ntt\", else = \"ewe\" }";
        let field = kind.name();
        let unit = |name: &str| {
            let at = units.iter().position(|unit| unit.name == name);
            at.ok_or_else(|| r.unknown(field, "unit", name, units.iter().map(|u| &*u.name).chain(["none"])))
        };
        let joined = match value {
            Value::String(name) if name == "none" => return Ok(Run::Free),
            Value::String(name) => return Ok(Run::On(unit(name)?)),
            Value::Table(table) => table,
            other => return Err(r.wrong(field, other, expected)),
        };
        let text = |key: &str| joined.get(key).and_then(Value::as_str);
        let (Some(with), Some(otherwise), 2) = (text("with"), text("else"), joined.len()) else {
            return Err(r.wrong(field, value, expected));
        };
        if !kind.joins() {
            return Err(r.contradiction(format!(
                "a `{field}` reads several limbs, so it is part of no other; name a unit"
            )));
        }
        let with = Kind::named(with)
            .ok_or_else(|| r.unknown(field, "instruction", with, Kind::ALL.map(Kind::name)))?;
        Ok(Run::With(with, unit(otherwise)?))
    }
}

/// The names of all that there is.
pub(super) fn names(d: &Description) -> impl Iterator<Item = &str> {
    let units = d.units.iter().map(|u| &*u.name);
    units.chain(d.memories.iter().map(|m| &*m.name)).chain(d.channels.iter().map(|c| &*c.name))
}

/// The classes of words; all of them where nothing is said.
fn classes(words: Option<Vec<&'static str>>) -> Vec<Class> {
    let said = |class: &Class| words.as_ref().is_none_or(|words| words.contains(&class.stored()));
    Class::ALL.into_iter().filter(said).collect()
}
