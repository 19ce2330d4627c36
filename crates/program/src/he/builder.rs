//! Makes programs one checked instruction at a time.

use std::collections::{BTreeMap, HashMap};

use super::infer::{Context, infer};
use super::verify::check_finished;
use super::{
    Chain, Constant, HeError, Instr, Like, MOST_SLOTS, Numbers, Op, Output, Program, Region, Rule, Source,
    Stage, Table, TableId, Type, Value,
};

/// Builds a [`Program`]; every `push` checks its rule, [`Builder::finish`] checks the whole.
#[derive(Debug, Clone)]
pub struct Builder {
    program: Program,
    /// The region that the next instruction belongs to; empty outside of any.
    region: String,
    /// Its place in the list, once an instruction belongs to it.
    placed: Option<Region>,
    source: Option<Source>,
    names: HashMap<String, Value>,
    tables: BTreeMap<String, TableId>,
    /// What the text calls each value: names and numbers.
    bound: HashMap<String, Value>,
    /// Lines of the text, for errors about the whole program.
    lines: Vec<u32>,
}

impl Builder {
    /// A traced program over vectors of `slots` numbers.
    ///
    /// # Errors
    /// [`Rule::Slots`] unless `slots` is a power of two.
    pub fn traced(name: &str, slots: usize) -> Result<Self, HeError> {
        Self::new(name, slots, None)
    }

    /// A managed program over `chain`.
    ///
    /// # Errors
    /// [`Rule::Slots`] unless `slots` is a power of two of at most N/2.
    pub fn managed(name: &str, slots: usize, chain: Chain) -> Result<Self, HeError> {
        Self::new(name, slots, Some(chain))
    }

    fn new(name: &str, slots: usize, chain: Option<Chain>) -> Result<Self, HeError> {
        let most = chain.as_ref().map_or(MOST_SLOTS, |c| 1usize << (c.log_n() - 1));
        if !slots.is_power_of_two() || slots > most {
            return Err(Rule::Slots { slots, limit: format!(" of at most {most}") }.into());
        }
        let program = Program {
            name: name.into(),
            stage: if chain.is_some() { Stage::Managed } else { Stage::Traced },
            slots,
            chain,
            tables: Vec::new(),
            regions: Vec::new(),
            instrs: Vec::new(),
            outputs: Vec::new(),
        };
        Ok(Self {
            program,
            region: String::new(),
            placed: None,
            source: None,
            names: HashMap::new(),
            tables: BTreeMap::new(),
            bound: HashMap::new(),
            lines: Vec::new(),
        })
    }

    /// The program so far.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The type of a value built so far.
    pub fn ty(&self, v: Value) -> &Type {
        &self.program.instr(v).ty
    }

    /// Instructions from here on belong to the region `name`; the empty name ends it.
    pub fn region(&mut self, name: &str) {
        name.clone_into(&mut self.region);
        self.placed = None;
    }

    /// The region of the next instruction, entered into the list with its first one: the text has no empty region.
    fn place(&mut self) -> Option<Region> {
        if self.placed.is_none() && !self.region.is_empty() {
            let known = self.program.regions.iter().position(|r| *r == self.region);
            let at = known.unwrap_or(self.program.regions.len());
            if known.is_none() {
                self.program.regions.push(self.region.clone());
            }
            self.placed = Some(Region(at as u32));
        }
        self.placed
    }

    /// The name of the region that instructions are added to; empty outside of any.
    pub fn current_region(&self) -> &str {
        &self.region
    }

    /// Instructions from here on come from this place of the user's source.
    pub fn source(&mut self, source: Option<Source>) {
        self.source = source;
    }

    /// Adds a named table of constants.
    ///
    /// # Errors
    /// A name used twice, a wrong length, a number that is not finite.
    pub fn table(&mut self, name: &str, numbers: Numbers) -> Result<TableId, HeError> {
        if self.tables.contains_key(name) {
            return Err(Rule::DuplicateName { name: name.into(), what: "table" }.into());
        }
        numbers.check(self.program.slots)?;
        let id = TableId(self.program.tables.len() as u32);
        self.program.tables.push(Table { name: name.into(), numbers });
        self.tables.insert(name.into(), id);
        Ok(id)
    }

    /// The table of a name.
    pub fn find_table(&self, name: &str) -> Option<TableId> {
        self.tables.get(name).copied()
    }

    /// The value that the text calls `name`, which may be a number.
    pub(super) fn find_bound(&self, name: &str) -> Option<Value> {
        self.bound.get(name).copied()
    }

    /// Records what the text calls `value`, and its line.
    pub(super) fn bind(&mut self, name: &str, value: Value, line: u32) {
        self.bound.insert(name.into(), value);
        self.lines.push(line);
    }

    /// Adds an instruction whose result type follows from its operands.
    ///
    /// # Errors
    /// The rule that the operation breaks.
    pub fn push(&mut self, op: Op) -> Result<Value, HeError> {
        self.push_full(op, None, None)
    }

    /// Adds a managed `input`, `plain` or `const`, whose type must be said.
    ///
    /// # Errors
    /// The rule that the operation breaks.
    pub fn push_typed(&mut self, op: Op, ty: Type) -> Result<Value, HeError> {
        self.push_full(op, Some(ty), None)
    }

    /// Adds an instruction with a declared type and a name, each optional.
    ///
    /// # Errors
    /// The rule that the operation, the type or the name breaks.
    pub fn push_full(
        &mut self,
        op: Op,
        declared: Option<Type>,
        name: Option<&str>,
    ) -> Result<Value, HeError> {
        let source = self.source.clone();
        self.push_unplaced(op, declared, name).map_err(|e| e.at(None, source.as_ref()))
    }

    fn push_unplaced(
        &mut self,
        op: Op,
        declared: Option<Type>,
        name: Option<&str>,
    ) -> Result<Value, HeError> {
        let p = &self.program;
        if !op.kind().allowed_in(p.stage) {
            return Err(Rule::WrongStage { op: op.kind().word(), stage: p.stage.word() }.into());
        }
        self.check_operands(&op)?;
        check_constant(&op, p)?;
        let cx = Context {
            slots: p.slots,
            chain: p.chain.as_ref(),
            ty: &|v| &p.instr(v).ty,
            name: &|v| p.value_name(v),
        };
        let ty = infer(&op, declared.as_ref(), &cx)?;
        check_declared(declared.as_ref(), &ty, p.stage)?;
        let value = Value(p.instrs.len() as u32);
        if let Some(name) = name {
            if self.names.contains_key(name) {
                return Err(Rule::Redefined { value: format!("%{name}") }.into());
            }
            self.names.insert(name.into(), value);
        }
        let (region, source) = (self.place(), self.source.clone());
        self.program.instrs.push(Instr {
            op,
            ty,
            name: name.map(Into::into),
            region,
            source,
            within: None,
            like: None,
        });
        Ok(value)
    }

    fn check_operands(&self, op: &Op) -> Result<(), Rule> {
        match op.operands().as_slice().iter().find(|v| v.index() >= self.program.instrs.len()) {
            Some(v) => Err(undefined(*v)),
            None => Ok(()),
        }
    }

    /// Promises that no slot of `v` is larger than `bound`; of two promises the closer one holds.
    ///
    /// # Errors
    /// [`Rule::Within`] unless the bound is positive and finite, [`Rule::Undefined`] for a value of another program.
    pub fn promise(&mut self, v: Value, bound: f64) -> Result<(), HeError> {
        if !(bound > 0.0 && bound.is_finite()) {
            return Err(Rule::Within { bound }.into());
        }
        let instr = self.program.instrs.get_mut(v.index()).ok_or_else(|| undefined(v))?;
        instr.within = Some(instr.within.map_or(bound, |known| known.min(bound)));
        Ok(())
    }

    /// Promises that the slots of `v` are those of another value, off by no more than `like` says: whatever the model of errors
    /// makes of the way from one to the other.
    ///
    /// # Errors
    /// [`Rule::Like`] unless the other is a ciphertext from before `v`, the distance is positive and the bias is not negative, [`Rule::Undefined`] for
    /// a value of another program.
    pub fn resemble(&mut self, v: Value, like: Like) -> Result<(), HeError> {
        self.program.instrs.get(v.index()).ok_or_else(|| undefined(v))?;
        super::verify::check_like(&self.program, v, like)?;
        self.program.instrs[v.index()].like = Some(like);
        Ok(())
    }

    /// Adds a result.
    ///
    /// # Errors
    /// [`Rule::OutputPlain`], [`Rule::DuplicateName`] or [`Rule::Undefined`].
    pub fn output(&mut self, name: &str, value: Value) -> Result<(), HeError> {
        let source = self.source.clone();
        let out = Output { name: name.into(), value, source: source.clone() };
        super::verify::check_output(&self.program, &out)
            .map_err(|r| HeError::new(r).at(None, source.as_ref()))?;
        self.program.outputs.push(out);
        Ok(())
    }

    /// The finished program.
    ///
    /// # Errors
    /// A rule about the whole program: [`Rule::NoOutput`], [`Rule::DuplicateName`], [`Rule::Hoist`].
    pub fn finish(self) -> Result<Program, HeError> {
        check_finished(&self.program).map_err(|(value, rule)| {
            let line = value.and_then(|v| self.lines.get(v.index()).copied());
            let source = value.and_then(|v| self.program.instr(v).source.as_ref());
            HeError::new(rule).at(line, source)
        })?;
        Ok(self.program)
    }
}

fn undefined(v: Value) -> Rule {
    Rule::Undefined { value: format!("%{}", v.0) }
}

pub(super) fn check_constant(op: &Op, p: &Program) -> Result<(), Rule> {
    match op {
        Op::Const(Constant::Real(x)) if !x.is_finite() => Err(Rule::NotFinite { index: 0 }),
        Op::Const(Constant::Complex(z)) if !z.is_finite() => Err(Rule::NotFinite { index: 0 }),
        Op::Const(Constant::List(numbers)) => numbers.check(p.slots),
        Op::Const(Constant::Table(id)) => match p.table(*id) {
            Some(table) => table.numbers.check(p.slots),
            None => Err(Rule::UnknownTable { name: format!("#{}", id.0) }),
        },
        _ => Ok(()),
    }
}

pub(super) fn check_declared(declared: Option<&Type>, inferred: &Type, stage: Stage) -> Result<(), Rule> {
    match (declared, stage) {
        (Some(_), Stage::Traced) => Err(Rule::TypeInTraced),
        (Some(d), Stage::Managed) if d != inferred => {
            Err(Rule::TypeMismatch { declared: d.to_string(), inferred: inferred.to_string() })
        }
        _ => Ok(()),
    }
}
