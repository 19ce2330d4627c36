//! The program itself: instructions, tables, regions, outputs.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::{Chain, Constant, Numbers, Op, Source, Stage, Table, TableId, Type, Value};

/// Index into [`Program::regions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region(pub u32);

/// One instruction: it defines the value of its own index.
#[derive(Debug, Clone, PartialEq)]
pub struct Instr {
    /// What is done.
    pub op: Op,
    /// The type of the result.
    pub ty: Type,
    /// The name of the result, where it has one; otherwise it prints as its index.
    pub name: Option<String>,
    /// The part of the kernel it belongs to.
    pub region: Option<Region>,
    /// The place in the user's source.
    pub source: Option<Source>,
    /// A promise of who wrote the program: no slot is larger.
    pub within: Option<f64>,
    /// Another one: the slots are those of a value further up.
    pub like: Option<Like>,
}

/// Slots that are those of another value, however they were computed: what a bootstrapping gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Like {
    /// The other value.
    pub value: Value,
    /// How far a slot may be off, by an error that differs from slot to slot as a random one does.
    pub off: f64,
    /// A further error that may be the same in all slots; 0 without one.
    pub bias: f64,
    /// Where the slots are a function of those of the other value, flat where these are: what a look-up gives.
    pub flat: Option<Flat>,
}

/// How little of an error comes through a function that is flat at whole numbers: `square`·(`from` + e)² of an error e.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flat {
    /// C: half of the greatest second derivative.
    pub square: f64,
    /// How far the other value's slots may be from whole numbers without an error.
    pub from: f64,
}

impl Flat {
    /// A bound on what comes through of an error. Half way to the next whole number it may be anything that the function gives, for
    /// which C is more than enough.
    pub fn through(&self, error: f64) -> f64 {
        let off = self.from + error;
        self.square * if off < 0.5 { off * off } else { off.max(1.0) }
    }
}

/// A result of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The ciphertext.
    pub value: Value,
    /// The place in the user's source.
    pub source: Option<Source>,
}

/// An HE program. Make one with [`super::Builder`] or [`super::parse`]; both hand out verified programs only.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) stage: Stage,
    pub(crate) slots: usize,
    pub(crate) chain: Option<Chain>,
    pub(crate) tables: Vec<Table>,
    pub(crate) regions: Vec<String>,
    pub(crate) instrs: Vec<Instr>,
    pub(crate) outputs: Vec<Output>,
}

impl Program {
    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Length of every vector, a power of two.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The modulus chain of a managed program.
    pub fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref()
    }

    /// Named tables of constants.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Names of regions.
    pub fn regions(&self) -> &[String] {
        &self.regions
    }

    /// Instructions in order; operands stand before their uses.
    pub fn instrs(&self) -> &[Instr] {
        &self.instrs
    }

    /// Results.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The instruction that defines `v`.
    ///
    /// # Panics
    /// If `v` belongs to another program.
    pub fn instr(&self, v: Value) -> &Instr {
        &self.instrs[v.index()]
    }

    /// Values with their instructions, in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (Value, &Instr)> {
        self.instrs.iter().enumerate().map(|(i, instr)| (Value(i as u32), instr))
    }

    /// A table of constants.
    pub fn table(&self, id: TableId) -> Option<&Table> {
        self.tables.get(id.0 as usize)
    }

    /// The program with bounds in place of its vectors. Each table is replaced by the bound that is `declared` for its name, of
    /// unknown phase in every slot. If the bound does not hold, or none is declared, the least power of two that holds replaces it,
    /// 1 or more. Predictions for the result hold for all vectors within the same bounds, and reveal nothing else of them.
    #[must_use]
    pub fn with_vectors_bounded(&self, declared: &BTreeMap<String, f64>) -> Self {
        let bounded = |numbers: &Numbers, declared: Option<&f64>| {
            let size = numbers.magnitude();
            let declared = declared.copied().filter(|&bound| bound >= size);
            let bound = declared.unwrap_or_else(|| size.max(1.0).log2().ceil().exp2());
            Numbers::Complex(vec![Complex64::new(bound, 0.0); numbers.len()])
        };
        let mut program = self.clone();
        for table in &mut program.tables {
            table.numbers = bounded(&table.numbers, declared.get(&table.name));
        }
        for instr in &mut program.instrs {
            if let Op::Const(Constant::List(numbers)) = &mut instr.op {
                *numbers = bounded(numbers, None).into();
            }
        }
        program
    }

    /// Encrypted inputs, in order: name and type.
    pub fn inputs(&self) -> impl Iterator<Item = (Value, &str, &Type)> {
        self.values().filter_map(|(v, i)| match &i.op {
            Op::Input(name) => Some((v, name.as_str(), &i.ty)),
            _ => None,
        })
    }

    /// Plaintexts given at run time, in order: name and type. A managed program may list one name at several types.
    pub fn plains(&self) -> impl Iterator<Item = (Value, &str, &Type)> {
        self.values().filter_map(|(v, i)| match &i.op {
            Op::Plain(name) => Some((v, name.as_str(), &i.ty)),
            _ => None,
        })
    }

    /// How often each value is read, outputs included.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut uses = vec![0; self.instrs.len()];
        let operands = self.instrs.iter().flat_map(|i| i.op.operands().as_slice().to_vec());
        for v in operands.chain(self.outputs.iter().map(|o| o.value)) {
            uses[v.index()] += 1;
        }
        uses
    }

    /// How the text form calls a value.
    pub fn value_name(&self, v: Value) -> String {
        match self.instrs.get(v.index()).and_then(|i| i.name.as_ref()) {
            Some(name) => format!("%{name}"),
            None => format!("%{}", v.0),
        }
    }
}
