//! What the limb program reads and writes: inputs, keys, outputs.

use std::collections::BTreeMap;

use super::*;

impl Walk<'_> {
    /// Inputs in the order ciphertexts, plaintexts, keys; then outputs.
    pub(super) fn declare(&mut self) -> Result<(), LowerError> {
        let mut names = Names::default();
        for (value, name, ty) in self.he.inputs() {
            for (part, name) in names.group(name, &part_suffixes(ty)).into_iter().enumerate() {
                let limbs = self.input(name, InputClass::Data, self.limbs(value));
                self.parts[value.index()].push(limbs);
                self.inputs.push(InputSource::Ciphertext { value, part: part as u8 });
            }
        }
        for (value, instr) in self.he.values() {
            let stem = match &instr.op {
                Op::Plain(name) => name.clone(),
                Op::Const(_) => format!("const{}", self.he.value_name(value).replace('%', "")),
                _ => continue,
            };
            let name = names.group(&stem, &[String::new()]).remove(0);
            let period = self.compact.get(&value);
            let compact = period.is_some();
            let limbs = match period {
                Some(&period) => self.low.compact_input(&name, period)?,
                None => self.input(name, InputClass::Plain, self.limbs(value)),
            };
            self.parts[value.index()].push(limbs);
            self.inputs.push(InputSource::Plain { value, compact });
        }
        self.declare_keys(&mut names)?;
        self.declare_encapsulation(&mut names)?;
        let mut names = Names::default();
        for (output, out) in self.he.outputs().iter().enumerate() {
            let mut stores = Vec::new();
            let ty = &self.he.instr(out.value).ty;
            for (part, name) in names.group(&out.name, &part_suffixes(ty)).into_iter().enumerate() {
                let moduli = self.low.basis.q()[..self.limbs(out.value)].to_vec();
                stores.push(self.low.builder.output(name, Domain::Eval, &moduli));
                self.outputs.push(OutputSource { output, part: part as u8 });
            }
            self.stores.entry(out.value).or_default().push(stores);
        }
        Ok(())
    }

    pub(super) fn input(&mut self, name: String, class: InputClass, limbs: usize) -> Poly {
        let moduli = self.low.basis.q()[..limbs].to_vec();
        self.low.builder.input(name, class, Domain::Eval, &moduli)
    }

    /// Every key once for each method that uses it, with the limbs of the highest level at which it does.
    pub(super) fn declare_keys(&mut self, names: &mut Names) -> Result<(), LowerError> {
        let mut limbs: BTreeMap<(KeyId, usize), usize> = BTreeMap::new();
        for (v, instr) in self.he.values() {
            let (Some(&method), Some((key, operand))) = (self.method_of.get(&v), self.key_of(&instr.op))
            else {
                continue;
            };
            let most = limbs.entry((key, method)).or_default();
            *most = (*most).max(self.limbs(operand));
        }
        for ((key, index), limbs) in limbs {
            let method = &self.methods[index];
            let digits = method.layout().digits(limbs).len();
            let suffixes: Vec<String> =
                (0..digits).flat_map(|j| [format!("_b{j}"), format!("_a{j}")]).collect();
            let group = names.group(&key.stem(), &suffixes);
            let none = BTreeMap::new();
            let sums = self.extended.sums_of(index).unwrap_or(&none);
            let inputs = self.low.key_inputs_for_sums(method, &group, limbs, sums)?;
            let primes = inputs.klss.as_ref().map_or(0, |klss| klss.t.len()) as u32;
            self.keys.insert((key, index), inputs);
            for digit in 0..digits as u32 {
                let (limbs, method) = (limbs as u32, index as u32);
                self.inputs.extend([0, 1].map(|part| InputSource::Key {
                    key,
                    method,
                    digit,
                    part,
                    limbs,
                    primes,
                }));
            }
        }
        Ok(())
    }

    pub(super) fn declare_encapsulation(&mut self, names: &mut Names) -> Result<(), LowerError> {
        let raises = |(v, i): (Value, &Instr)| self.needed[v.index()] && matches!(i.op, Op::Raise { .. });
        if !self.he.values().any(raises) {
            return Ok(());
        }
        let mut declare = |direction: Direction, stem: &str| {
            let names = names.group(stem, &["_b".into(), "_a".into()]);
            let mut polys = [Vec::new(), Vec::new()];
            for (part, name) in names.iter().enumerate() {
                polys[part] = self.low.encapsulation_input(name, direction)?;
                self.inputs.push(InputSource::Encapsulation { direction, part: part as u8 });
            }
            Ok::<_, LowerError>(polys)
        };
        let (down, up) = (declare(Direction::Down, "sparse")?, declare(Direction::Up, "dense")?);
        self.encapsulation = Some(EncapsulationInputs::new(down, up));
        Ok(())
    }
}
