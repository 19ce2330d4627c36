# One task runner; .ci/run calls the same targets. Every target installs what it needs and does nothing twice.
SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV    := .venv
PY      := $(VENV)/bin/python
STAMPS  := build/stamps
DENY    := build/tools/bin/cargo-deny
DENY_VERSION := 0.20.2

# The extension is built against the environment's interpreter wherever cargo meets it.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export PYTHONDONTWRITEBYTECODE := 1
CARGO_FLAGS := --locked
# Links to private items are for readers of the source.
RUSTDOC     := RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --quiet --workspace --no-deps $(CARGO_FLAGS)
# Where the hardware tools are, or go: scripts/eda.sh.
export EDA_HOME ?= $(CURDIR)/build/eda
RTL_TOOLS := . $(EDA_HOME)/env.sh; python -m rtl.tools
# Builds the simulated core at some parameters, once, and names it to the tests of machine `compact`. It is not the
# variable that the product reads: the product's own tests ask for programs that no one core holds.
test_core = . $(EDA_HOME)/env.sh; RINGMILL_TEST_CORE=$$(python -m rtl.sim.build $(1)); export RINGMILL_TEST_CORE;

# The other kinds of multiplier, each with words of another width.
OTHER_CORES := --kind_0_--w_52_--d_256 --kind_2_--w_54_--d_512 --kind_3_--w_60_--d_128 --kind_4_--w_36_--d_64

# Two processes, each a file at a time: what is computed on takes all cores where it can.
PYTEST_JOBS := -n 2 --dist loadfile

# How the extension is compiled; the gate takes `full`, which is built in half the time and is nearly as fast.
EXTENSION_PROFILE ?= release

PY_PATHS    := python examples benches scripts rtl
TEST_PATHS  := python/tests rtl/tools/tests
RUST_INPUTS := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -type f -not -path '*/tests/*' 2>/dev/null) \
  $(wildcard rtl/compact_core.* rtl/*/src/* rtl/*/ultra/* rtl/*/generated/* rtl/*/lint.vlt rtl/synth/*.py)

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

# --- what a person types -----------------------------------------------------------------------------

.PHONY: run
run: $(STAMPS)/extension $(STAMPS)/eda  ## encrypted inference on real data, and a report in build/report/index.html
	@. $(EDA_HOME)/env.sh; $(CURDIR)/$(PY) -m ringmill.studies.demo --out build/report

.PHONY: serve
serve: $(STAMPS)/extension  ## a service in build/service: prints its address and a first token
	@cargo build --quiet --release $(CARGO_FLAGS) -p ringmill-serve
	@mkdir -p build; $(PY) -m ringmill serve --dir build/service

.PHONY: test
test: test-rust test-python test-rtl  ## what must pass before a change lands

.PHONY: test-rust
test-rust: $(STAMPS)/rust $(STAMPS)/venv
	@cargo test --workspace $(CARGO_FLAGS)

.PHONY: test-python
test-python: $(STAMPS)/extension $(STAMPS)/service $(STAMPS)/peers $(STAMPS)/data $(STAMPS)/system $(STAMPS)/eda
	@. $(EDA_HOME)/env.sh; $(CURDIR)/$(PY) -m pytest -q $(PYTEST_JOBS) $(TEST_PATHS)

.PHONY: test-rtl
test-rtl: $(STAMPS)/eda  ## the hardware blocks under Verilator: rtl/README.md
	@$(RTL_TOOLS) test $(BLOCK)

.PHONY: test-full
test-full: deny test-full-rust test-full-aarch64 test-full-python test-full-rtl  ## every test at full size, hours rather than minutes (with -k, past a failure)

.PHONY: test-full-rust
test-full-rust: $(STAMPS)/extension $(STAMPS)/system $(STAMPS)/eda
	@$(call test_core,--w 54 --nbf 4 --logn-max 13 --mods 16 --kind 1 --d 512 --observe) \
	  cargo test --workspace --profile full $(CARGO_FLAGS) -- --include-ignored
	@$(foreach core,$(OTHER_CORES),$(call test_core,$(subst _, ,$(core)) --nbf 2 --logn-max 13 --mods 16 --observe) \
	  cargo test -p ringmill-machine --profile full $(CARGO_FLAGS) -- --include-ignored compact::tests::simulated;)

# The layers whose code depends on the processor, and the golden files, for AArch64 under QEMU.
.PHONY: test-full-aarch64
test-full-aarch64: $(STAMPS)/aarch64
	@. build/aarch64/env.sh; cargo test --target aarch64-unknown-linux-gnu --profile full $(CARGO_FLAGS) -p ringmill-ring -p ringmill-ckks

.PHONY: test-full-python
test-full-python: $(STAMPS)/extension $(STAMPS)/service $(STAMPS)/service-tools $(STAMPS)/venv-s3 $(STAMPS)/peers $(STAMPS)/data $(STAMPS)/ray $(STAMPS)/cross $(STAMPS)/aarch64 $(STAMPS)/dist $(STAMPS)/system $(STAMPS)/eda
	@. $(EDA_HOME)/env.sh; $(CURDIR)/$(PY) -m pytest -q -m '' $(PYTEST_JOBS) $(TEST_PATHS)

# What a board's system is made from, and the report of its bitstream as it was made last.
BOARD_DESIGN := rtl/boards/score.json

.PHONY: board
board: $(STAMPS)/extension $(STAMPS)/eda  ## a bitstream for the ECPIX-5 in build/board, routed with timing met: about half an hour
	@scripts/eda.sh --board
	@$(PY) -m ringmill build $(BOARD_DESIGN) --out build/board --overwrite --quiet
	@. $(EDA_HOME)/env.sh; $(MAKE) -C build/board ecpix5 $(if $(SEED),SEED=$(SEED)) $(if $(MHZ),MHZ=$(MHZ))
	@python3 rtl/boards/show.py build/board/build/ecpix5/report.json

.PHONY: soak
soak: $(STAMPS)/rust $(STAMPS)/eda  ## random programs on random simulated cores for HOURS (8), against the models; goes on where it stopped
	@. $(EDA_HOME)/env.sh; python -m rtl.sim.soak --hours $(or $(HOURS),8)

.PHONY: test-full-rtl
test-full-rtl: $(STAMPS)/eda
	@$(RTL_TOOLS) test --full
	@$(RTL_TOOLS) formal
	@$(RTL_TOOLS) mutate
	@scripts/setup-system.sh scripts/eda/compared-packages.txt
	@export RTL_VERILATOR=/usr/bin/verilator; $(RTL_TOOLS) test canary modmul

.PHONY: lint
lint: $(STAMPS)/rust $(STAMPS)/venv lint-rtl  ## formatting, lints as errors, licences, types, words of documents
	@echo '== tree';      $(PY) scripts/check_tree.py
	@echo '== rustfmt';   cargo fmt --all --check; cargo fmt --check --manifest-path benches/Cargo.toml
	@echo '== clippy';    cargo clippy --quiet --workspace --all-targets $(CARGO_FLAGS) -- -D warnings
	@cargo clippy --quiet -p ringmill-python --no-default-features -- -D warnings
	@cargo clippy --quiet --manifest-path benches/Cargo.toml --target-dir target -- -D warnings
	@echo '== rustdoc';   $(RUSTDOC)
	@echo '== cargo-deny'; scripts/deny.sh --same || $(MAKE) --no-print-directory deny
	@echo '== ruff';      $(PY) -m ruff check $(PY_PATHS); $(PY) -m ruff format --check $(PY_PATHS)
	@echo '== mypy';      $(PY) -m mypy python/ringmill
	@echo '== prose';     $(PY) scripts/prose.py

.PHONY: deny
deny: $(DENY)-$(DENY_VERSION)  ## licences and sources of all crates; make lint does it where they changed
	@scripts/deny.sh $<

.PHONY: lint-rtl
lint-rtl: $(STAMPS)/eda  ## the hardware sources: verible, slang, Verilator, all warnings as errors
	@echo '== rtl';       $(RTL_TOOLS) lint $(BLOCK)
	@. $(EDA_HOME)/env.sh; python -m rtl.registers.generate --check

.PHONY: bench
bench: $(STAMPS)/extension  ## ours and the peers, interleaved on one core, to build/bench.json; ISA=avx2 denies both AVX-512; AGAINST=REF measures another commit of ours instead
	@$(if $(AGAINST),,scripts/peers.sh)
	@cargo build --quiet --release --manifest-path benches/Cargo.toml $(if $(filter avx2,$(ISA)),--no-default-features)
	@[ ! -f $(EDA_HOME)/env.sh ] || . $(EDA_HOME)/env.sh; $(if $(ISA),RINGMILL_ISA=$(ISA)) $(CURDIR)/$(PY) -m benches.$(if $(AGAINST),against $(AGAINST),run) $(BENCH)

.PHONY: resnet
resnet: $(STAMPS)/extension  ## ResNet-20 on one encrypted image, in build/resnet; type it again to go on after a kill
	@$(PY) -m ringmill workload resnet-20 --run build/resnet

.PHONY: readme
readme: $(STAMPS)/system  ## put the figures of the last bench into README and docs/benchmarks.md, and the picture of the last report
	@python3 scripts/readme.py
	@scripts/picture.sh

.PHONY: docs
docs: $(STAMPS)/venv-docs $(STAMPS)/rust $(STAMPS)/venv  ## build/docs: the guide with the Python API, and the Rust API under it
	@$(RUSTDOC)
	@$(VENV)-docs/bin/mkdocs build --quiet --strict --site-dir build/docs
	@rm -rf build/docs/api; cp -r target/doc build/docs/api; rm -f build/docs/api/.lock
	@echo 'build/docs/index.html'

.PHONY: dist
dist: $(STAMPS)/dist  ## dist: wheels for x86-64 and AArch64, sources, SHA256SUMS, an SBOM of each: docs/how-to/make-a-release.md

.PHONY: setup
setup: $(STAMPS)/extension $(STAMPS)/service $(STAMPS)/system  ## everything that the other targets install when they need it

.PHONY: clean
clean:  ## remove what was built; keep the environment and the tools
	@cargo clean --quiet; rm -rf build/report build/docs build/bench.json

# --- set-up, each step once --------------------------------------------------------------------------

$(STAMPS)/rust: rust-toolchain.toml scripts/setup-rust.sh
	@scripts/setup-rust.sh
	@mkdir -p $(@D); touch $@

$(STAMPS)/system: scripts/system-packages.txt scripts/setup-system.sh
	@scripts/setup-system.sh
	@mkdir -p $(@D); touch $@

$(STAMPS)/eda: requirements/eda.txt scripts/eda.sh $(wildcard scripts/eda/*)
	@scripts/eda.sh
	@mkdir -p $(@D); touch $@

$(STAMPS)/venv: $(wildcard requirements/*.txt) scripts/setup-python.sh
	@scripts/setup-python.sh $(VENV) build run test lint
	@mkdir -p $(@D); touch $@

# Those that tests compare with.
$(STAMPS)/peers: $(wildcard requirements/peer-*.txt) scripts/peers.sh $(STAMPS)/venv
	@scripts/peers.sh seal tenseal openfhe
	@mkdir -p $(@D); touch $@

$(STAMPS)/data: requirements/data.txt scripts/data.sh $(STAMPS)/venv
	@scripts/data.sh
	@mkdir -p $(@D); touch $@

$(STAMPS)/ray: requirements/ray.txt $(STAMPS)/venv
	@scripts/setup-python.sh $(VENV) ray
	@mkdir -p $(@D); touch $@

$(STAMPS)/service-tools: requirements/service.txt $(STAMPS)/venv
	@scripts/setup-python.sh $(VENV) service
	@mkdir -p $(@D); touch $@

$(STAMPS)/cross: requirements/cross.txt $(STAMPS)/venv
	@scripts/setup-python.sh $(VENV) cross
	@mkdir -p $(@D); touch $@

$(STAMPS)/venv-dist: requirements/dist.txt scripts/setup-python.sh
	@scripts/setup-python.sh $(VENV)-dist dist
	@mkdir -p $(@D); touch $@

$(STAMPS)/venv-s3: requirements/s3.txt scripts/setup-python.sh
	@scripts/setup-python.sh $(VENV)-s3 s3
	@mkdir -p $(@D); touch $@

$(STAMPS)/aarch64: scripts/aarch64.sh $(wildcard scripts/aarch64/*) $(STAMPS)/venv-dist
	@PYTHON=$(VENV)-dist/bin/python scripts/aarch64.sh build/aarch64
	@mkdir -p $(@D); touch $@

# The wheels that tests install.
$(STAMPS)/dist: $(STAMPS)/rust $(STAMPS)/aarch64 scripts/dist.py $(wildcard packaging/*/*) $(wildcard $(RUST_INPUTS))
	@$(VENV)-dist/bin/python scripts/dist.py --out dist
	@mkdir -p $(@D); touch $@

$(STAMPS)/venv-docs: requirements/docs.txt scripts/setup-python.sh
	@scripts/setup-python.sh $(VENV)-docs docs
	@mkdir -p $(@D); touch $@

$(STAMPS)/extension: $(STAMPS)/venv $(STAMPS)/rust $(wildcard $(RUST_INPUTS))
	@echo '== building the extension ($(EXTENSION_PROFILE))'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(PY) -m maturin develop --quiet --profile $(EXTENSION_PROFILE) --locked
	@mkdir -p $(@D); touch $@

# The service as tests start it. Features of the whole workspace: the crates that `cargo test` has built serve.
$(STAMPS)/service: $(STAMPS)/rust $(wildcard $(RUST_INPUTS))
	@cargo build --quiet --workspace --bin ringmill-serve $(CARGO_FLAGS)
	@mkdir -p $(@D); touch $@

$(DENY)-$(DENY_VERSION): | $(STAMPS)/rust
	@echo '== building cargo-deny $(DENY_VERSION), once'
	@CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --no-default-features \
	  --root build/tools --version $(DENY_VERSION) cargo-deny
	@mv $(DENY) $@
