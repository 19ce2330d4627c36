# make selftest   the simulated engine against its definition, bit for bit (Verilator, a C++ compiler, python3)
# make lint       all warnings of Verilator as errors
# make check      every file as the manifest says (python3)
SHELL := bash
include sources.mk
# Jobs of each kind in the self-test, and its further arguments.
JOBS := 1
WITH :=

.PHONY: selftest lint check clean
selftest: build/$(LIBRARY)
	python3 -B test/selftest.py $< $(JOBS) $(WITH)

build/$(LIBRARY): $(SOURCES) sources.mk
	@mkdir -p build
	@verilator --version > build/verilator.log 2>&1 || { \
	  echo "The simulator needs Verilator 5.048 or newer (scripts/eda.sh of Ringmill installs it)." >&2; exit 1; }
	@echo 'verilator: the engine as a library (some minutes)'
	@$(BUILD) > build/verilator.log 2>&1 || { tail -n 20 build/verilator.log; exit 1; }

lint:
	$(LINT)

check:
	python3 -B test/check.py

clean:
	rm -rf build
