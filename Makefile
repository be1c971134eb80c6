# mongobp: client backpressure for programs that use an older libmongoc.
#
# `make test` and `make demo` need nothing done before them: scripts/setup
# installs what is missing. Everything built is under build/.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
VERSION := 0.1.0

# One directory of objects and of results for each flavour.
FLAVOUR ?= release
OUT_release := build
OUT_asan := build/asan
OUT := $(OUT_$(FLAVOUR))
ifeq ($(OUT),)
$(error unknown FLAVOUR '$(FLAVOUR)': release or asan)
endif
OBJ := $(OUT)/obj

# Short lines unless V=1 is given.
V ?=
say = $(if $(V),,@echo "$(1) $@";)
CC := gcc
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef
FLAVOUR_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread $(WARNINGS) $(CFLAGS) \
  $(FLAVOUR_$(FLAVOUR)) -I. -MMD -MP -DMBP_VERSION='"$(VERSION)"'
ALL_LDFLAGS = -pthread $(FLAVOUR_$(FLAVOUR)) $(LDFLAGS)

# The driver is needed by the tests and the demo only, never by the library.
PKG_CONFIG ?= pkg-config
MONGOC := $(shell $(PKG_CONFIG) --exists libmongoc-1.0 && echo libmongoc-1.0 || echo mongoc2)
need-package = @$(PKG_CONFIG) --exists $(1) || { \
  echo "make: $(1) was not found by $(PKG_CONFIG); scripts/setup installs it" >&2; exit 1; }
MONGOC_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(MONGOC))
MONGOC_LIBS = $(shell $(PKG_CONFIG) --libs $(MONGOC))
BSON_LIBS = $(shell $(PKG_CONFIG) --libs $(if $(filter libmongoc-1.0,$(MONGOC)),libbson-1.0,bson2))
CRITERION_CFLAGS = $(shell $(PKG_CONFIG) --cflags criterion)
CRITERION_LIBS = $(shell $(PKG_CONFIG) --libs criterion)

objects = $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1)))
COMMON := $(call objects,common/*.c)
SHIM := $(call objects,shim/*.c shim/driver/*.c)
COMMAND := $(call objects,shim/command/*.c)
# mongo-admin is a program of its own, built by scripts/mongod.
SUPPORT := $(filter-out %/mongo-admin.o,$(call objects,tests/support/*.c))
SUITES := unit simulate preload integration spec topology
SUITE_PROGRAMS := $(SUITES:%=$(OUT)/tests/%)
FAKE_DRIVER := $(OUT)/tests/libmongoc-fake.so
FAKE_DRIVERS := $(FAKE_DRIVER) $(FAKE_DRIVER:.so=-b.so) $(FAKE_DRIVER:.so=-bare.so)
HOSTS := $(OUT)/tests/bin/host_dlopen $(OUT)/tests/bin/host_linked
PROGRAMS := $(patsubst tests/programs/%.c,$(OUT)/tests/bin/%,\
  $(filter-out tests/programs/host_%,$(wildcard tests/programs/*.c)))
SIMULATOR := $(OUT)/tests/simulator
BENCHES := $(patsubst tests/bench/%.c,$(OUT)/tests/bench/%,$(wildcard tests/bench/*.c))

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.DEFAULT_GOAL := all

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: all
all: $(OUT)/libmongobp.so $(OUT)/mongobp ## Build the library and the command (needs gcc alone)

.PHONY: demo
demo: setup ## Run one program without and with mongobp against an overloaded server
	@$(MAKE) --no-print-directory all test-programs
	@scripts/mongod with -- scripts/demo

.PHONY: install
install: all ## Install to PREFIX (default /usr/local), below DESTDIR if given
	@scripts/install install "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)" $(OUT)

.PHONY: uninstall
uninstall: ## Remove what install put there
	@scripts/install uninstall "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)"

##@ Check

.PHONY: test
test: setup-test programs ## Run all tests, with real servers
	@$(MAKE) --no-print-directory all tests
	@scripts/mongod with -- scripts/test $(OUT) $(SUITES)

.PHONY: spec
spec: setup ## Run the specification's own tests, in MONGOBP_SPEC_TESTS
	@$(MAKE) --no-print-directory all $(OUT)/tests/spec
	@scripts/mongod with -- scripts/test $(OUT) spec

.PHONY: check-asan
check-asan: setup-test programs ## Run all tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory FLAVOUR=asan all tests
	@scripts/mongod with -- scripts/test --asan $(OUT_asan) $(SUITES)

.PHONY: check-valgrind
check-valgrind: setup-test setup-bench programs ## Run all tests under valgrind (takes minutes)
	@$(MAKE) --no-print-directory all tests
	@scripts/mongod with -- scripts/test --valgrind $(OUT) $(SUITES)

.PHONY: matrix
matrix: ## Run all tests on four releases of Debian, with libmongoc 1.17 to 2.5 (needs root)
	@scripts/matrix

.PHONY: lint
lint: setup-lint ## Check format, run clang-tidy and cppcheck
	@scripts/lint

.PHONY: bench
bench: setup-bench ## Measure what a command costs, and the bucket beside a mutex
	@$(MAKE) --no-print-directory all benches test-programs
	@scripts/mongod with -- scripts/bench $(OUT)

.PHONY: simulate
simulate: setup-simulate ## Run the backoff simulator: tables and figures under build/simulate
	@$(MAKE) --no-print-directory $(SIMULATOR)
	@scripts/simulate $(OUT)

##@ Housekeeping

.PHONY: setup setup-test setup-lint setup-bench setup-simulate
setup: ## Install the packages that building and a server need
	@scripts/setup build server
setup-test: ## The same for all tests
	@scripts/setup build server mongos
setup-lint: ## The same for lint
	@scripts/setup build lint
setup-bench: ## The same for bench and check-valgrind
	@scripts/setup build server bench
setup-simulate: ## The same for simulate
	@scripts/setup build simulate

.PHONY: programs
programs: setup ## Fetch the programs of other people's that tests run
	@scripts/programs

.PHONY: format
format: ## Lay out the sources with clang-format
	clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: clean
clean: ## Remove what was built; what was fetched stays (build/server, build/programs, build/matrix)
	rm -rf build/libmongobp.so build/mongobp build/obj build/asan build/tests build/run build/bench build/simulate

# For a server that runs already (MBP_TEST_URI), and where nothing may be installed.
.PHONY: suites
suites: all tests
	@scripts/test $(OUT) $(SUITES)

.PHONY: tests test-programs benches
tests: $(SUITE_PROGRAMS) $(FAKE_DRIVERS) $(HOSTS) test-programs
test-programs: $(PROGRAMS)
benches: $(BENCHES)

# The library: libc alone, and no exported name but the hooks (shim/hooks.h).
$(OUT)/libmongobp.so: $(COMMON) $(SHIM)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -shared -o $@.new $(COMMON) $(SHIM) $(ALL_LDFLAGS) \
	  -Wl,-z,now -Wl,-z,nodelete -Wl,--no-undefined -Wl,--as-needed -ldl -lrt
	@mv $@.new $@

$(OUT)/mongobp: $(COMMAND) $(COMMON)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@.new $^ $(ALL_LDFLAGS) -Wl,--as-needed -lrt
	@mv $@.new $@

# A suite is every file of its folder, with the common code linked in. The preload suite has the
# shim's parts, too, but not the hooks: those it meets in programs.
$(OUT)/tests/unit: $(call objects,tests/unit/*.c) $(COMMON) $(SUPPORT)
$(OUT)/tests/preload: $(call objects,tests/preload/*.c) $(COMMON) $(SUPPORT) \
  $(filter-out %/hooks.o %/hooks_connection.o,$(SHIM))
$(OUT)/tests/integration: $(call objects,tests/integration/*.c) $(COMMON) $(SUPPORT)
$(OUT)/tests/topology: $(call objects,tests/topology/*.c) $(COMMON) $(SUPPORT) \
  $(patsubst %,$(OBJ)/tests/integration/%.o,counters fixture reject sends watch)
# The simulator and its suite: the same files, with main or with the tests.
SIMULATOR_SHARED := $(filter-out $(OBJ)/tests/simulate/main.o $(OBJ)/tests/simulate/test_%.o,\
  $(call objects,tests/simulate/*.c))
$(SIMULATOR): $(OBJ)/tests/simulate/main.o $(SIMULATOR_SHARED) $(COMMON)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $^ $(ALL_LDFLAGS) -lrt -lm
$(OUT)/tests/simulate: $(SIMULATOR_SHARED) $(call objects,tests/simulate/test_*.c) $(COMMON)

# The runner of the specification's tests is no Criterion program: it has a main of its own.
$(OUT)/tests/spec: $(call objects,tests/spec/*.c) $(COMMON)

$(SUITE_PROGRAMS):
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $(filter %.o,$^) $(ALL_LDFLAGS) \
	  $(if $(filter %/spec,$@),,$(CRITERION_LIBS)) \
	  $(if $(filter %/integration %/spec %/topology,$@),$(MONGOC_LIBS)) \
	  $(if $(filter %/preload,$@),$(BSON_LIBS)) -lrt -ldl -lm

# Stands in for libmongoc where no server is wanted; built twice, as two copies,
# and once without libbson.
$(FAKE_DRIVER) $(FAKE_DRIVER:.so=-b.so): $(call objects,tests/preload/fake/*.c)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -shared -o $@ $^ $(ALL_LDFLAGS) -Wl,-soname,$(@F) $(BSON_LIBS)

$(FAKE_DRIVER:.so=-bare.so): $(call objects,tests/preload/fake/bare/*.c) \
  $(patsubst %,$(OBJ)/tests/preload/fake/%.o,driver entry)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -shared -o $@ $^ $(ALL_LDFLAGS) -Wl,-soname,$(@F)

# The program that uses it, not linked with it and linked with it.
HOST := $(call objects,tests/programs/host_*.c)
$(OUT)/tests/bin/host_dlopen: $(HOST)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $^ $(ALL_LDFLAGS) -ldl

$(OUT)/tests/bin/host_linked: $(HOST) $(FAKE_DRIVER)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $(HOST) $(ALL_LDFLAGS) -Wl,--no-as-needed $(FAKE_DRIVER) -Wl,-rpath,'$$ORIGIN/..' -ldl

# Programs that know nothing of mongobp, for tests, demo and benchmark.
$(OUT)/tests/bin/%: $(OBJ)/tests/programs/%.o
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $< $(ALL_LDFLAGS) $(MONGOC_LIBS)

$(OUT)/tests/bench/%: $(OBJ)/tests/bench/%.o $(COMMON)
	@mkdir -p $(@D)
	$(call say,  link)$(CC) -o $@ $^ $(ALL_LDFLAGS) -lrt

$(OBJ)/tests/%.o: tests/%.c | packages
	@mkdir -p $(@D)
	$(call say,  compile)$(CC) $(ALL_CFLAGS) $(CRITERION_CFLAGS) $(MONGOC_CFLAGS) -c -o $@ $<

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,  compile)$(CC) $(ALL_CFLAGS) -c -o $@ $<

.PHONY: packages
packages:
	$(call need-package,$(MONGOC))
	$(call need-package,criterion)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
