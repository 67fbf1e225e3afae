# The front door. Everything else is CMake: `cmake --preset release && cmake --build --preset release`.
.PHONY: demo check release dev tsan analyze fuzz fuzz-run bench fresh install deb clean format

demo: ## install what is missing, build, show each command on something real
	@scripts/install-packages build
	@echo "== building kerf (build/release/kerf)"
	@cmake --preset release -DKERF_TESTS=OFF >/dev/null
	@cmake --build --preset release --target kerf -- --quiet
	@scripts/demo

check: ## install what is missing, build, run every test: sanitizers, threads, static analysis, release
	@scripts/install-packages check
	@scripts/check

release dev tsan fuzz:
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@ -- --quiet

analyze: ## gcc's static analyser over the library and the program, warnings are errors
	@cmake --preset analyze >/dev/null
	@cmake --build --preset analyze -- --quiet

fuzz-run: fuzz ## each fuzz target for a minute
	@scripts/fuzz-run 60

bench: release ## candidates a second, instructions a candidate, decisions a second, policies compared
	@build/release/bench/plan
	@build/release/bench/schedule
	@build/release/bench/jobs
	@build/release/bench/tune
	@build/release/bench/serve
	@bench/tune_llama --pairs 2
	@KERF_LIBRARY=build/release/lib/libkerf.so PYTHONPATH=python bench/python_estimate

fresh: ## both commands of the README and the packages, in bare Debian 12 (needs root and debootstrap)
	@scripts/fresh

prefix = /usr/local
install: ## the program, the libraries, headers and documents, into $(DESTDIR)$(prefix)
	@cmake --preset release -DKERF_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$(prefix)" >/dev/null
	@cmake --build --preset release -- --quiet
	@DESTDIR="$(DESTDIR)" cmake --install build/release

deb: ## Debian packages of what is committed, in build/deb
	@scripts/deb

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf build plan.svg plan.png schedule.html
