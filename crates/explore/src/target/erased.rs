//! A target whose types are not known where it is asked.

use std::fmt::Debug;

use ringmill_machine::MachineSpec;
use ringmill_machine::parameter::Value;

use super::{Row, Target};
use crate::design::{Built, Fields};
use crate::search::run::search;
use crate::{ExploreError, Outcome, Progress, Request, Space, Store};

/// What requests, designs and the registry ask of any [`Target`].
pub trait AnyTarget: Debug + Send + Sync {
    /// What is printed, read and stored of it.
    fn row(&self) -> &'static Row;

    /// Checks a space.
    ///
    /// # Errors
    /// [`ExploreError::Constraint`], [`ExploreError::UnknownWord`].
    fn check_space(&self, space: &Space) -> Result<(), ExploreError>;

    /// Checks the machine of a design.
    ///
    /// # Errors
    /// What no machine of the target has.
    fn check_machine(&self, built: &Built) -> Result<(), ExploreError>;

    /// Everything that a design says of its machine, by the names of files.
    ///
    /// # Errors
    /// As [`Self::check_machine`].
    fn fields(&self, built: &Built) -> Result<Fields, ExploreError>;

    /// Explores; see [`crate::explore`].
    ///
    /// # Errors
    /// Those of [`crate::explore`].
    fn explore(
        &self,
        request: &Request,
        store: Option<&mut Store>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Outcome, ExploreError>;
}

impl<T: Target> AnyTarget for T {
    fn row(&self) -> &'static Row {
        Target::row(self)
    }

    fn check_space(&self, space: &Space) -> Result<(), ExploreError> {
        space.check_axes(Target::row(self))?;
        self.check(space)
    }

    fn check_machine(&self, built: &Built) -> Result<(), ExploreError> {
        self.read(&spec_of(self, built)?, built).map(|_| ())
    }

    fn fields(&self, built: &Built) -> Result<Fields, ExploreError> {
        let spec = spec_of(self, built)?;
        self.read(&spec, built)?;
        Ok(fields(&spec, built))
    }

    fn explore(
        &self,
        request: &Request,
        store: Option<&mut Store>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Outcome, ExploreError> {
        search(*self, request, store, progress)
    }
}

/// The machine that a design names, if the target has it.
fn spec_of<T: Target>(target: &T, built: &Built) -> Result<MachineSpec, ExploreError> {
    MachineSpec::parse_in(&[target.entry()], &built.machine)
        .map_err(|why| ExploreError::DesignFile { why: why.to_string() })
}

/// The options of the machine's text and what stands beside it, by the names of files.
fn fields(spec: &MachineSpec, built: &Built) -> Fields {
    let mut all = Fields::new();
    for setting in spec.entry().options {
        let parameter = setting.parameter;
        match spec.get(parameter.name) {
            Some(Value::Whole(n)) => drop(all.insert(parameter.field.into(), (*n).into())),
            Some(Value::Text(text)) => drop(all.insert(parameter.field.into(), text.clone().into())),
            None => {}
        }
    }
    all.extend(built.hardware.clone());
    all
}

/// The same of a machine that a target wrote itself.
pub(crate) fn written<T: Target>(target: &T, built: &Built) -> Fields {
    spec_of(target, built).map(|spec| fields(&spec, built)).unwrap_or_default()
}
