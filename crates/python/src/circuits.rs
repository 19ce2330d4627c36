//! Circuits for the tracer: programs of a few operations that it writes into the one it traces.

use std::collections::BTreeMap;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyList, PyTuple};

use num_complex::Complex64;
use ringmill_circuits::linear::{self, Diagonals, Grid, Kernel, Keys, Matrix, Packing};
use ringmill_circuits::polynomial::{self, Basis, Polynomial};
use ringmill_program::he::{Builder, Constant, Op, Program, Value};

use crate::error::Failure;

/// A traced program with inputs "x" and perhaps "y", one output, and what it costs.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Circuit {
    program: Program,
    /// What its plan says, by name.
    facts: BTreeMap<&'static str, u64>,
    clean: bool,
    /// Shape and strides of the result, where the circuit decides them.
    layout: Option<(Vec<usize>, Vec<usize>)>,
}

fn basis(name: &str) -> Basis {
    if name == "chebyshev" { Basis::Chebyshev } else { Basis::Monomial }
}

/// A program of `slots` around what `body` writes.
fn around(
    slots: usize,
    body: impl FnOnce(&mut Builder, Value) -> Result<Value, ringmill_circuits::CircuitError>,
) -> Result<Program, Failure> {
    let refuse = |e: ringmill_program::he::HeError| Failure::he(&e);
    let mut b = Builder::traced("circuit", slots).map_err(refuse)?;
    let x = b.push(Op::Input("x".into())).map_err(refuse)?;
    let y = body(&mut b, x).map_err(|e| Failure::circuit(&e))?;
    b.output("y", y).map_err(refuse)?;
    b.finish().map_err(refuse)
}

#[pymethods]
impl Circuit {
    /// The evaluation of Σ c_i·b_i(x); `name` is "monomial" or "chebyshev".
    #[staticmethod]
    fn polynomial(coefficients: Vec<f64>, name: &str) -> PyResult<Self> {
        let p = Polynomial::new(basis(name), &coefficients).map_err(|e| Failure::circuit(&e))?;
        let program = around(1, |b, x| polynomial::evaluate(b, x, &p))?;
        let plan = p.plan();
        let facts = BTreeMap::from([
            ("degree", p.degree() as u64),
            ("depth", u64::from(plan.depth())),
            ("products", plan.products() as u64),
        ]);
        Ok(Self { program, facts, clean: false, layout: None })
    }

    /// The linear map with diagonals diag_d[i] = M[i, (i + d) mod S].
    #[staticmethod]
    fn linear(
        py: Python<'_>,
        slots: usize,
        diagonals: BTreeMap<usize, PyReadonlyArray1<'_, Complex64>>,
    ) -> PyResult<Self> {
        let by_shift = diagonals.into_iter().map(|(d, v)| (d, v.as_array().to_vec())).collect();
        py.detach(|| {
            let map = Diagonals::from_shifts(slots, by_shift).map_err(|e| Failure::circuit(&e))?;
            let plan = map.plan(Keys::Fast).map_err(|e| Failure::circuit(&e))?;
            let program = around(slots, |b, x| linear::apply(b, x, &map, Keys::Fast))?;
            Ok(Self { program, facts: map_facts(&map, &plan, 0), clean: true, layout: None })
        })
    }

    /// A matrix, given row by row, times the vector in slots 0 … columns − 1.
    #[staticmethod]
    fn matrix_vector(
        py: Python<'_>,
        matrix: PyReadonlyArray1<'_, Complex64>,
        columns: usize,
        slots: usize,
        clean: bool,
    ) -> PyResult<Self> {
        let entries = matrix.as_array().to_vec();
        py.detach(|| {
            let plan = linear::plan_matrix_vector(&entries, columns, slots, clean, Keys::Fast)
                .map_err(|e| Failure::circuit(&e))?;
            let program = around(slots, |b, x| linear::matrix_vector(b, x, &plan))?;
            let facts = map_facts(&plan.map, &plan.steps, u64::from(plan.doublings()));
            let clean = !matches!(plan.packing, Packing::Folded { .. });
            Ok(Self { program, facts, clean, layout: None })
        })
    }

    /// The product of two encrypted matrices, x and y, each by its shape and strides.
    #[staticmethod]
    fn matrix_product(
        slots: usize,
        x: ([usize; 2], [usize; 2]),
        y: ([usize; 2], [usize; 2]),
    ) -> PyResult<Self> {
        let matrix = |value, (shape, strides): ([usize; 2], [usize; 2])| Matrix { value, shape, strides };
        let program = around(slots, |b, left| {
            let right = b.push(Op::Input("y".into()))?;
            linear::matrix_product(b, &matrix(left, x), &matrix(right, y))
        })?;
        let d = linear::block_side(x.0[0], x.0[1], y.0[1]);
        let layout = Some((vec![x.0[0], y.0[1]], vec![d, 1]));
        Ok(Self { program, facts: BTreeMap::from([("products", d as u64)]), clean: true, layout })
    }

    /// The convolution of images with the weights of `shape` (outputs, inputs, rows, columns).
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // the facade in Python names them
    fn convolution(
        py: Python<'_>,
        slots: usize,
        image: ([usize; 3], [usize; 3]),
        weights: Vec<f64>,
        shape: [usize; 4],
        stride: usize,
        padding: usize,
    ) -> PyResult<Self> {
        py.detach(|| {
            let grid = Grid { shape: image.0, strides: image.1 };
            let kernel = Kernel { weights, shape, stride, padding };
            let (map, out) = linear::convolution(slots, &grid, &kernel).map_err(|e| Failure::circuit(&e))?;
            let plan = map.plan(Keys::Fast).map_err(|e| Failure::circuit(&e))?;
            let program = around(slots, |b, x| linear::apply(b, x, &map, Keys::Fast))?;
            let layout = Some((out.shape.to_vec(), out.strides.to_vec()));
            Ok(Self { program, facts: map_facts(&map, &plan, 0), clean: true, layout })
        })
    }

    /// What the plan says of it.
    #[getter]
    fn facts(&self) -> BTreeMap<&'static str, u64> {
        self.facts.clone()
    }

    /// Whether slots outside of the result are zero.
    #[getter]
    fn clean(&self) -> bool {
        self.clean
    }

    /// Shape and strides of the result, where the circuit decides them.
    #[getter]
    fn layout(&self) -> Option<(Vec<usize>, Vec<usize>)> {
        self.layout.clone()
    }

    /// (word, operands, attribute, region, promised bound) of every instruction in order. The attribute is the name of an input, the number
    /// or array of a constant, the steps of a rotation, (count, stride) of a sum.
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let steps = PyList::empty(py);
        for instr in self.program.instrs() {
            let operands = instr.op.operands();
            let operands = PyTuple::new(py, operands.as_slice().iter().map(|v| v.0))?;
            let region = instr.region.map_or("", |r| &self.program.regions()[r.0 as usize]);
            steps.append((
                instr.op.kind().word(),
                operands,
                attribute(py, &instr.op)?,
                region,
                instr.within,
            ))?;
        }
        Ok(steps)
    }

    /// The number of the instruction that is the result.
    #[getter]
    fn result(&self) -> u32 {
        self.program.outputs()[0].value.0
    }
}

fn map_facts(map: &Diagonals, plan: &linear::Plan, doublings: u64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("diagonals", map.len() as u64),
        ("hoisted rotations", plan.baby_rotations() as u64),
        ("rotations", plan.giant_rotations() as u64 + doublings),
        ("keys", plan.rotations().len() as u64 + doublings),
    ])
}

fn attribute<'py>(py: Python<'py>, op: &Op) -> PyResult<Bound<'py, PyAny>> {
    match op {
        Op::Input(name) => name.into_bound_py_any(py),
        Op::Const(Constant::Real(c)) => c.into_bound_py_any(py),
        Op::Const(Constant::Complex(c)) => Ok(PyComplex::from_doubles(py, c.re, c.im).into_any()),
        Op::Const(Constant::List(numbers)) => Ok(PyArray1::from_vec(py, numbers.to_complex()).into_any()),
        Op::Rotate { k, .. } => k.into_bound_py_any(py),
        Op::Sum { count, stride, .. } => (*count, *stride).into_bound_py_any(py),
        _ => Ok(py.None().into_bound(py)),
    }
}
