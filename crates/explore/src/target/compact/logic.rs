//! LUTs, flip-flops, multiplier blocks and cell area of a core, composed of what its RTL instantiates.
//!
//! The coefficients are `data/area.json`, which `scripts/fit_area.py` writes from the stored syntheses; that script's head and
//! `docs/explorer.md` state the model. With M modular multipliers (2·(Nbf + G) in the two transform units, of which
//! G = min(max(1, Nbf/2), 4) make roots, 2·Nbf in the arithmetic unit) of m each, by the tile of its unit, and features φ:
//!
//! > amount = Σ m(kind, W, tile) + (2·c_ntt + c_arith + c_rest)·φ(Nbf, W, bus)

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ringmill_machine::compact::Multiplier;
use serde::Deserialize;

use super::machine::{Machine, Tile};
use crate::ExploreError;
use crate::design::{Origin, OriginKind, Resource};
use crate::device::Family;

/// The shape of a core, as far as its logic depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The family.
    pub family: Family,
    /// The multiplier.
    pub multiplier: Multiplier,
    /// Whether its primes have ones at few places.
    pub few_ones: bool,
    /// What multiplies in the transform units, and what in the arithmetic unit.
    pub tiles: [Tile; 2],
    /// Bits of a word.
    pub word_bits: u32,
    /// Butterflies a lane.
    pub butterflies: u32,
    /// Bits of the bus.
    pub bus_bits: u32,
}

#[derive(Debug, Deserialize)]
struct Model {
    origin: String,
    multipliers: Vec<Product>,
    around: Vec<Around>,
}

#[derive(Debug, Deserialize)]
struct Product {
    family: Family,
    kind: u32,
    #[serde(default)]
    few_ones: bool,
    tile: u32,
    word_bits: u32,
    measured: bool,
    source: Option<String>,
    #[serde(flatten)]
    amounts: BTreeMap<String, serde_json::Value>,
}

/// One fitted resource of a pool of families.
#[derive(Debug, Clone, Deserialize)]
pub struct Around {
    families: Vec<Family>,
    resource: Resource,
    /// Syntheses that it was fitted to.
    pub rows: usize,
    /// Whole cores among them.
    pub cores: usize,
    /// The greatest relative error on a row that the model had not seen; `None` if there were too few rows to hold one out.
    pub held_out_worst: Option<f64>,
    coefficients: Vec<Coefficient>,
}

#[derive(Debug, Clone, Deserialize)]
struct Coefficient {
    block: String,
    feature: String,
    value: f64,
}

fn model() -> Result<&'static Model, ExploreError> {
    static MODEL: OnceLock<Result<Model, String>> = OnceLock::new();
    let read = || serde_json::from_str(include_str!("../../../data/area.json")).map_err(|e| e.to_string());
    MODEL.get_or_init(read).as_ref().map_err(|why| ExploreError::Data { file: "area.json", why: why.clone() })
}

/// Multipliers of a core's transform units, and those of its arithmetic unit.
pub fn multipliers(butterflies: u32) -> [u32; 2] {
    let generator = (butterflies / 2).clamp(1, 4);
    [2 * (butterflies + generator), 2 * butterflies]
}

impl Shape {
    /// Of a core.
    pub fn of(machine: &Machine) -> Self {
        let Machine { config, synthesis, .. } = machine;
        Self {
            family: synthesis.family,
            multiplier: config.multiplier(),
            few_ones: config.ones() != 0,
            tiles: synthesis.tiles(),
            word_bits: config.word_bits(),
            butterflies: config.butterflies(),
            bus_bits: config.bus_bits(),
        }
    }

    /// Amounts of each logic resource of the family.
    ///
    /// # Errors
    /// [`ExploreError::Data`] for a multiplier that the data lack.
    pub fn needs(&self) -> Result<BTreeMap<Resource, f64>, ExploreError> {
        let products = [self.product(self.tiles[0])?, self.product(self.tiles[1])?];
        let logic: &[Resource] = match self.family {
            Family::Asic45 => &[Resource::AreaUm2],
            _ => &[Resource::Lut, Resource::Ff, Resource::Dsp],
        };
        let counts = multipliers(self.butterflies).map(f64::from);
        let amount = |&resource: &Resource| {
            let each = |product: &Product| {
                product.amounts.get(resource.name()).and_then(serde_json::Value::as_f64).unwrap_or(0.0)
            };
            let products: f64 =
                counts.iter().zip(products).map(|(count, product)| count * each(product)).sum();
            (resource, (products + self.around(resource)).round())
        };
        Ok(logic.iter().map(amount).collect())
    }

    fn product(&self, tile: Tile) -> Result<&'static Product, ExploreError> {
        let code = (self.family, self.multiplier.code(), self.few_ones, tile.code(), self.word_bits);
        let found =
            model()?.multipliers.iter().find(|p| (p.family, p.kind, p.few_ones, p.tile, p.word_bits) == code);
        found.ok_or_else(|| ExploreError::Data {
            file: "area.json",
            why: format!(
                "no {} of {} bits for {}",
                self.multiplier.name(),
                self.word_bits,
                self.family.name()
            ),
        })
    }

    fn around(&self, resource: Resource) -> f64 {
        let Some(fitted) = fitted(self.family, resource) else { return 0.0 };
        let row = f64::from(self.butterflies * self.word_bits) / 54.0;
        let feature = |name: &str| match name {
            "one" => 1.0,
            "w" => f64::from(self.word_bits) / 54.0,
            "nbf_w" => row,
            "nbf_w_log" => row * f64::from(2 * self.butterflies).log2(),
            _ => f64::from(self.bus_bits) / 512.0,
        };
        let times = |block: &str| if block == "ntt" { 2.0 } else { 1.0 };
        fitted.coefficients.iter().map(|c| times(&c.block) * feature(&c.feature) * c.value).sum()
    }

    /// Where the amounts come from.
    pub fn origin(&self) -> Origin {
        let Ok(model) = model() else { return Origin::new(OriginKind::Model, "no data") };
        let estimated = self.tiles.iter().filter_map(|&tile| self.product(tile).ok()).find(|p| !p.measured);
        let product = match estimated {
            None => "multipliers as synthesised".to_owned(),
            Some(p) => format!("multipliers estimated {}", p.source.as_deref().unwrap_or("")),
        };
        let around = match fitted(self.family, self.first()) {
            Some(Around { rows: 0, .. }) => "around them by the other families".to_owned(),
            Some(a) => match a.held_out_worst {
                Some(worst) => {
                    format!("around them fitted to {} rows, held out {:.0}% at worst", a.rows, 100.0 * worst)
                }
                None => format!("around them fitted to {} rows, too few to hold one out", a.rows),
            },
            None => String::new(),
        };
        Origin::new(OriginKind::Model, format!("{}; {product}; {around}", model.origin))
    }

    const fn first(&self) -> Resource {
        match self.family {
            Family::Asic45 => Resource::AreaUm2,
            _ => Resource::Lut,
        }
    }
}

/// LUTs, flip-flops and blocks of a multiplier for primes of any places.
///
/// # Errors
/// [`ExploreError::Data`] for one that the data lack.
pub(crate) fn multiplier(
    family: Family,
    multiplier: Multiplier,
    tile: Tile,
    word_bits: u32,
) -> Result<[f64; 3], ExploreError> {
    let tiles = [tile, tile];
    let shape = Shape { family, multiplier, few_ones: false, tiles, word_bits, butterflies: 1, bus_bits: 64 };
    let product = shape.product(tile)?;
    let amount = |resource: Resource| {
        product.amounts.get(resource.name()).and_then(serde_json::Value::as_f64).unwrap_or(0.0)
    };
    Ok([Resource::Lut, Resource::Ff, Resource::Dsp].map(amount))
}

/// How a resource of a family was fitted.
pub fn fitted(family: Family, resource: Resource) -> Option<&'static Around> {
    model().ok()?.around.iter().find(|a| a.families.contains(&family) && a.resource == resource)
}

#[cfg(test)]
mod tests {
    use ringmill_machine::compact::CompactLiteral;

    use super::*;

    #[test]
    fn every_core_of_every_family_has_amounts_that_grow_with_it() {
        for family in Family::ALL {
            for multiplier in super::super::SEARCHED {
                for &tile in Tile::of(family) {
                    for word_bits in CompactLiteral::WORD_BITS {
                        let of = |butterflies| {
                            let shape = Shape {
                                family,
                                multiplier,
                                few_ones: false,
                                tiles: [tile, tile],
                                word_bits,
                                butterflies,
                                bus_bits: 256,
                            };
                            shape.needs().unwrap()
                        };
                        let (small, large) = (of(1), of(8));
                        for (resource, amount) in &small {
                            let blocks = *resource == Resource::Dsp && tile == Tile::Lut;
                            assert!(
                                blocks || (*amount > 0.0 && large[resource] > 2.0 * amount),
                                "{family:?} {small:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// Three cores of `rtl/synth/data/core.json` that differ in what makes the products of which units.
    #[test]
    fn products_by_unit_differ_as_synthesised() {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../../../../../rtl/synth/data/core.json")).unwrap();
        let synthesised = |lut_unit: u64| {
            let row =
                rows.iter().find(|r| r["params"]["LUT_UNIT"] == lut_unit && r["flow"] == "xc7").unwrap();
            let count = |names: &[&str]| names.iter().map(|n| row[*n].as_f64().unwrap()).sum::<f64>();
            [count(&["lut", "srl", "lutram"]), count(&["ff"]), count(&["dsp"])]
        };
        let predicted = |tiles| {
            let shape = Shape {
                family: Family::Xc7,
                multiplier: Multiplier::SparseWordMontgomery,
                few_ones: false,
                tiles,
                word_bits: 36,
                butterflies: 1,
                bus_bits: 64,
            };
            let needs = shape.needs().unwrap();
            [Resource::Lut, Resource::Ff, Resource::Dsp].map(|r| needs[&r])
        };
        let (block, lut) = (Tile::Dsp48e1, Tile::Lut);
        let (whole, whole_predicted) = (synthesised(0), predicted([block, block]));
        for (lut_unit, tiles) in [(1, [lut, block]), (2, [block, lut])] {
            let (mixed, mixed_predicted) = (synthesised(lut_unit), predicted(tiles));
            assert_eq!(mixed[2], mixed_predicted[2]);
            for i in 0..2 {
                let (more, more_predicted) = (mixed[i] - whole[i], mixed_predicted[i] - whole_predicted[i]);
                // Against the whole core: what synthesis simplifies across a unit's border is not in the model.
                let off = (more_predicted - more).abs() / whole[i];
                assert!(off < 0.01, "{lut_unit} {i}: {more_predicted} {more}");
            }
        }
    }

    /// The synthesised core, `rtl/synth/data/core.json`: 84,684 LUTs with what sits in them, 40,048 flip-flops.
    #[test]
    fn the_synthesised_core_is_near() {
        let shape = Shape {
            family: Family::Xcup,
            multiplier: Multiplier::SparseWordMontgomery,
            few_ones: false,
            tiles: [Tile::Lut, Tile::Lut],
            word_bits: 54,
            butterflies: 4,
            bus_bits: 512,
        };
        let needs = shape.needs().unwrap();
        assert!((needs[&Resource::Lut] / 84_684.0 - 1.0).abs() < 0.05, "{needs:?}");
        assert!((needs[&Resource::Ff] / 40_048.0 - 1.0).abs() < 0.05, "{needs:?}");
        assert_eq!(needs[&Resource::Dsp], 0.0);
        assert!(!shape.origin().source.is_empty());
    }
}
