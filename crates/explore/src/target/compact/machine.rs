//! One core: its configuration, how its programs are planned, and what its synthesis depends on.

use ringmill_machine::MachineSpec;
use ringmill_machine::compact::entry::{EMULATED, literal};
use ringmill_machine::compact::machine::EFFORT;
use ringmill_machine::compact::parameters::{EFFORT as EFFORT_OPTION, ONES, PARAMETERS, POLICY};
use ringmill_machine::compact::{CompactConfig, Policy};
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
        // Places of ones are said where there are any: few cores have them.
        let said = PARAMETERS
            .into_iter()
            .filter(|p| p.parameter.name != ONES.parameter.name || self.config.ones() != 0);
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

impl Synthesis {
    /// Whether the family has what multiplies.
    pub(super) fn check(&self) -> Result<(), ExploreError> {
        let tiles = Tile::of(self.family);
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
    use ringmill_machine::compact::{CompactLiteral, Multiplier};

    use super::*;

    #[test]
    fn places_of_ones_stand_in_a_design_where_there_are_any() {
        for ones in [0, 123_469_825] {
            let literal =
                CompactLiteral { multiplier: Multiplier::PrfFiko, ones, ..CompactLiteral::default() };
            let synthesis = Synthesis { family: Family::Xcup, tile: Tile::Lut, banks: BankMemory::Block };
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
