//! One core: its configuration, how its programs are planned, and what its synthesis depends on.

use ringmill_machine::MachineSpec;
use ringmill_machine::compact::entry::{EMULATED, literal};
use ringmill_machine::compact::machine::EFFORT;
use ringmill_machine::compact::parameters::{EFFORT as EFFORT_OPTION, ONES, PARAMETERS, POLICY, READ_ROWS};
use ringmill_machine::compact::{CompactConfig, CompactLiteral, Policy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ExploreError;
use crate::design::Built;
use crate::device::Family;

/// What multiplies, as the RTL's parameter TILE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tile {
    /// Booth rows in LUTs or cells, no block.
    Lut,
    /// 18×18, MULT18X18D.
    Ecp5,
    /// 24×17, DSP48E1.
    Dsp48e1,
    /// 26×17, DSP48E2.
    Dsp48e2,
}

impl Tile {
    /// The number of the RTL's parameter.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lut => "lut",
            Self::Ecp5 => "ecp5",
            Self::Dsp48e1 => "dsp48e1",
            Self::Dsp48e2 => "dsp48e2",
        }
    }

    /// What can multiply on a family of devices.
    pub const fn of(family: Family) -> &'static [Self] {
        match family {
            Family::Ecp5 => &[Self::Lut, Self::Ecp5],
            Family::Xc7 => &[Self::Lut, Self::Dsp48e1],
            Family::Xcup => &[Self::Lut, Self::Dsp48e2],
            Family::Asic45 => &[Self::Lut],
        }
    }
}

/// Of a core with DSP blocks, the unit whose products are made of LUTs all the same; the RTL's parameter LUT_UNIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LutUnit {
    /// Neither.
    #[default]
    None,
    /// The two transform units.
    Transforms,
    /// The arithmetic unit.
    Arithmetic,
}

/// Which block memories hold the six banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BankMemory {
    /// The device's ordinary block memory.
    Block,
    /// UltraRAM.
    Ultra,
}

/// What synthesis depends on beside the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthesis {
    /// Family of the device that it is for.
    pub family: Family,
    /// What multiplies.
    pub tile: Tile,
    /// The unit that multiplies in LUTs instead.
    #[serde(default)]
    pub lut_unit: LutUnit,
    /// What holds the banks.
    pub banks: BankMemory,
}

/// A core, its memory and its plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The core and its memory.
    pub config: CompactConfig,
    /// What its plans are made for.
    pub policy: Policy,
    /// Passes scheduled in search of a plan.
    pub effort: usize,
    /// What its synthesis depends on.
    pub synthesis: Synthesis,
}

impl Machine {
    /// As a design says it.
    pub fn write(&self) -> Built {
        let mut spec = MachineSpec::new(&EMULATED);
        // Places of ones, and rows read ahead, are said where there are more than most cores have.
        let said = PARAMETERS
            .into_iter()
            .filter(|p| p.parameter.name != ONES.parameter.name || self.config.ones() != 0)
            .filter(|p| {
                p.parameter.name != READ_ROWS.parameter.name
                    || self.config.read_rows() != CompactLiteral::READ_ROWS[0]
            });
        let options = said.map(|p| (p.parameter.name, (p.get)(self.config.literal())));
        let plans =
            [(POLICY.name, self.policy.name().into()), (EFFORT_OPTION.name, (self.effort as u64).into())];
        for (option, value) in options.chain(plans) {
            // What a configuration has is allowed.
            spec = spec.clone().with(option, value).unwrap_or(spec);
        }
        let hardware = match serde_json::to_value(self.synthesis) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        Built { machine: spec.to_string(), hardware }
    }

    /// The core of a design.
    ///
    /// # Errors
    /// What no core has: a block that its family lacks, a field that is missing or unknown, an option out of its range.
    pub fn read(spec: &MachineSpec, built: &Built) -> Result<Self, ExploreError> {
        let wrong = |why: String| ExploreError::DesignFile { why };
        let synthesis: Synthesis = serde_json::from_value(Value::Object(built.hardware.clone()))
            .map_err(|e| wrong(format!("hardware: {e}")))?;
        synthesis.check()?;
        let policy = spec.text(POLICY.name).and_then(Policy::by_name).unwrap_or_default();
        // The range of the option fits.
        let effort = spec.whole(EFFORT_OPTION.name).map_or(EFFORT, |effort| effort as usize);
        Ok(Self { config: literal(spec).build()?, policy, effort, synthesis })
    }
}

/// Names of the ways in which a core's products are made: without blocks, with, or with blocks in one of two kinds of units.
pub(super) const PRODUCTS: [&str; 4] = ["lut", "blocks", "blocks-transforms", "blocks-arithmetic"];

impl Synthesis {
    /// The tile and the unit without blocks that a name stands for; `None` where the family has no blocks.
    pub(super) fn products(family: Family, name: &str) -> Option<(Tile, LutUnit)> {
        let blocks = || Tile::of(family).iter().copied().find(|&tile| tile != Tile::Lut);
        match PRODUCTS.into_iter().position(|one| one == name)? {
            0 => Some((Tile::Lut, LutUnit::None)),
            1 => Some((blocks()?, LutUnit::None)),
            2 => Some((blocks()?, LutUnit::Arithmetic)),
            _ => Some((blocks()?, LutUnit::Transforms)),
        }
    }

    /// What multiplies in the transform units, and what in the arithmetic unit.
    pub fn tiles(&self) -> [Tile; 2] {
        match self.lut_unit {
            LutUnit::None => [self.tile, self.tile],
            LutUnit::Transforms => [Tile::Lut, self.tile],
            LutUnit::Arithmetic => [self.tile, Tile::Lut],
        }
    }

    /// Whether the family has what multiplies.
    pub(super) fn check(&self) -> Result<(), ExploreError> {
        let tiles = Tile::of(self.family);
        if self.tile == Tile::Lut && self.lut_unit != LutUnit::None {
            let why =
                "lut_unit names one of two units, where the tile lut gives blocks to neither; leave it out";
            return Err(ExploreError::DesignFile { why: why.into() });
        }
        if tiles.contains(&self.tile) {
            return Ok(());
        }
        let (family, tile) = (self.family.name(), self.tile.name());
        let has = tiles.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
        Err(ExploreError::DesignFile { why: format!("tile is {tile}, which {family} has not; it has {has}") })
    }
}

#[cfg(test)]
mod tests {
    use ringmill_machine::compact::Multiplier;

    use super::*;

    #[test]
    fn places_of_ones_stand_in_a_design_where_there_are_any() {
        for ones in [0, 123_469_825] {
            let literal =
                CompactLiteral { multiplier: Multiplier::PrfFiko, ones, ..CompactLiteral::default() };
            let (family, tile, lut_unit) = (Family::Xcup, Tile::Lut, LutUnit::None);
            let synthesis = Synthesis { family, tile, lut_unit, banks: BankMemory::Block };
            let config = literal.build().unwrap();
            let machine = Machine { config, policy: Policy::Throughput, effort: 1, synthesis };
            let built = machine.write();
            assert_eq!(built.machine.contains("ones=123469825"), ones != 0, "{}", built.machine);
            assert_eq!(built.machine.contains("ones="), ones != 0, "{}", built.machine);
            let spec: MachineSpec = built.machine.parse().unwrap();
            assert_eq!(Machine::read(&spec, &built).unwrap(), machine);
        }
    }
}
