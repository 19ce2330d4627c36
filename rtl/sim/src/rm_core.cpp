// The C interface around the Verilated core. Its parameters come as P_NAME: rtl/sim/build.py.
#include "rm_core.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "../../registers/generated/core_registers.h"
#include "Vtop.h"
#include "axi_port.h"
#include "observer.h"
#include "svdpi.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#ifndef RM_OBSERVE
#define RM_OBSERVE 0
#endif

#define RM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// A register access is answered within a few cycles.
constexpr unsigned kBusLimit = 64;
constexpr uint32_t kStart = 1, kIrqEnable = 4, kIrqPending = 1;

rm::MemorySettings settings_of(const rm_core_memory& m) {
  rm::MemorySettings s;
  s.read_latency = m.read_latency;
  s.write_latency = m.write_latency;
  s.rate_num = m.rate_num;
  s.rate_den = m.rate_den;
  s.shared = m.shared;
  s.outstanding = m.outstanding;
  for (unsigned c = 0; c < rm::kChannels; c++) s.stall[c] = m.stall[c];
  s.seed = m.seed;
  s.error_first = m.error_first;
  s.error_end = m.error_end;
  s.error_kinds = m.error_kinds;
  s.error_resp = m.error_resp;
  return s;
}

}  // namespace

struct rm_core {
  // The core whose clock edge this thread evaluates; reports of rm_core_trace.sv are its.
  static thread_local rm_core* running;

  // Scopes of the observer are entered into, and taken out of, the context that is the thread's: not the one of another
  // core, which may be gone.
  struct Current {
    explicit Current(VerilatedContext* context) { Verilated::threadContextp(context); }
  };

  VerilatedContext context;
  Current current{&context};
  Vtop top;
  rm::AxiMemory memory;
  rm::MasterSignals master;
  uint64_t cycles = 0;
  std::string message;
  rm::Observer observer;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> trace;
#endif

  rm_core(uint8_t* bytes, uint64_t size, const rm::MemorySettings& settings) : top(&context), memory(settings, P_D) {
    memory.attach(bytes, size);
    reset();
  }
  ~rm_core() {
#if VM_TRACE
    if (trace) trace->close();
#endif
    top.final();
    current = Current(&context);
  }

  // Inputs of this cycle; outputs that depend on them are right afterwards.
  void settle() {
    master = rm::master_signals(top);
    rm::apply_slave(top, memory.drive(master));
    top.clk_i = 0;
    top.eval();
    dump(0);
  }
  void edge() {
    memory.advance(master);
    top.clk_i = 1;
    running = this;
    top.eval();
    running = nullptr;
    dump(1);
    cycles++;
  }
  void cycle() {
    settle();
    edge();
  }
  void dump([[maybe_unused]] unsigned half) {
#if VM_TRACE
    if (trace) trace->dump(2 * cycles + half);
#endif
  }

  void reset() {
    top.s_axil_awvalid_i = top.s_axil_wvalid_i = top.s_axil_arvalid_i = 0;
    top.s_axil_bready_i = top.s_axil_rready_i = 1;
    top.s_axil_awprot_i = top.s_axil_arprot_i = 0;
    top.s_axil_wstrb_i = 0xf;
    memory.reset();
    top.rst_ni = 0;
    rm::apply_slave(top, rm::SlaveSignals{});
    for (int i = 0; i < 2; i++) {
      top.clk_i = 0;
      top.eval();
      top.clk_i = 1;
      top.eval();
      cycles++;
    }
    top.rst_ni = 1;
  }

  int fail(int code, std::string what) {
    message = std::move(what);
    return code;
  }
  int protocol() { return memory.violation().empty() ? RM_CORE_OK : fail(RM_CORE_PROTOCOL, memory.violation()); }

  int write(uint32_t address, uint32_t value) {
    top.s_axil_awaddr_i = address;
    top.s_axil_wdata_i = value;
    top.s_axil_awvalid_i = top.s_axil_wvalid_i = 1;
    for (unsigned n = 0; n < kBusLimit; n++) {
      settle();
      const bool aw = top.s_axil_awready_o, w = top.s_axil_wready_o, b = top.s_axil_bvalid_o;
      const uint8_t resp = top.s_axil_bresp_o;
      edge();
      if (aw) top.s_axil_awvalid_i = 0;
      if (w) top.s_axil_wvalid_i = 0;
      if (!b) continue;
      if (resp) return fail(RM_CORE_ACCESS, "no register to write at " + std::to_string(address));
      return protocol();
    }
    return fail(RM_CORE_HANG, "the register bus does not answer a write");
  }

  int read(uint32_t address, uint32_t& value) {
    top.s_axil_araddr_i = address;
    top.s_axil_arvalid_i = 1;
    for (unsigned n = 0; n < kBusLimit; n++) {
      settle();
      const bool ar = top.s_axil_arready_o, r = top.s_axil_rvalid_o;
      const uint8_t resp = top.s_axil_rresp_o;
      value = top.s_axil_rdata_o;
      edge();
      if (ar) top.s_axil_arvalid_i = 0;
      if (!r) continue;
      if (resp) return fail(RM_CORE_ACCESS, "no register to read at " + std::to_string(address));
      return protocol();
    }
    return fail(RM_CORE_HANG, "the register bus does not answer a read");
  }

  int wait(uint64_t limit) {
    for (uint64_t n = 0; !top.irq_o; n++) {
      if (n == limit) {
        const int code = protocol();
        return code ? code : fail(RM_CORE_LIMIT, "no end after " + std::to_string(limit) + " cycles");
      }
      cycle();
    }
    return write(CORE_REG_IRQ, kIrqPending);
  }
};

thread_local rm_core* rm_core::running = nullptr;

#if RM_OBSERVE
// Called by rm_core_trace.sv.
extern "C" void rm_trace_start() {
  if (rm_core::running) rm_core::running->observer.start();
}
extern "C" void rm_trace_put(int unit) {
  if (rm_core::running) rm_core::running->observer.put(unsigned(unit));
}
extern "C" void rm_trace_row(int unit, int bank, int row, int last, const svBitVecVal* data) {
  rm_core* core = rm_core::running;
  if (core) core->observer.row(unsigned(unit), bank, unsigned(row), last != 0, data, core->cycles);
}
extern "C" void rm_trace_done(int lane, int bank) {
  rm_core* core = rm_core::running;
  if (core) core->observer.done(unsigned(lane), bank, core->cycles);
}
#endif

RM_EXPORT void rm_core_parameters_of(rm_core_parameters* out) {
#define RM_CORE_VALUE(name, value) value,
  *out = {RM_CORE_ABI, RM_CORE_PARAMETERS(RM_CORE_VALUE) VM_TRACE};
#undef RM_CORE_VALUE
}

RM_EXPORT void rm_core_memory_default(rm_core_memory* out) {
  const rm::MemorySettings s;
  *out = {};
  out->read_latency = s.read_latency;
  out->write_latency = s.write_latency;
  out->rate_num = s.rate_num;
  out->rate_den = s.rate_den;
  out->outstanding = s.outstanding;
  out->error_resp = s.error_resp;
}

RM_EXPORT rm_core* rm_core_new(uint8_t* bytes, uint64_t size, const rm_core_memory* memory) {
  try {
    return new rm_core(bytes, size, settings_of(*memory));
  } catch (const std::invalid_argument&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

RM_EXPORT void rm_core_free(rm_core* core) { delete core; }

RM_EXPORT void rm_core_reset(rm_core* core) { core->reset(); }

RM_EXPORT int rm_core_set_memory(rm_core* core, uint8_t* bytes, uint64_t size, const rm_core_memory* memory) {
  try {
    core->memory.configure(settings_of(*memory));
  } catch (const std::invalid_argument& error) {
    return core->fail(RM_CORE_SETTING, error.what());
  }
  core->memory.attach(bytes, size);
  return RM_CORE_OK;
}

RM_EXPORT int rm_core_write_register(rm_core* core, uint32_t address, uint32_t value) {
  return core->write(address, value);
}

RM_EXPORT int rm_core_read_register(rm_core* core, uint32_t address, uint32_t* value) {
  return core->read(address, *value);
}

RM_EXPORT int rm_core_start(rm_core* core) {
  if (core->memory.idle()) core->memory.reset();
  return core->write(CORE_REG_CONTROL, kStart | kIrqEnable);
}

RM_EXPORT int rm_core_wait(rm_core* core, uint64_t cycles) { return core->wait(cycles); }

RM_EXPORT void rm_core_count(const rm_core* core, rm_core_counts* out) {
  *out = {core->cycles, core->memory.cycle(), core->memory.read_beats(), core->memory.write_beats()};
}

RM_EXPORT const char* rm_core_message(const rm_core* core) { return core->message.c_str(); }

RM_EXPORT int rm_core_trace(rm_core* core, const char* path) {
#if VM_TRACE
  if (core->trace) core->trace->close();
  core->trace.reset();
  if (!path) return RM_CORE_OK;
  core->context.traceEverOn(true);
  core->trace = std::make_unique<VerilatedFstC>();
  core->top.trace(core->trace.get(), 99);
  core->trace->open(path);
  if (core->trace->isOpen()) return RM_CORE_OK;
  core->trace.reset();
  return core->fail(RM_CORE_NO_TRACE, "the trace cannot be written");
#else
  return path ? core->fail(RM_CORE_NO_TRACE, "built without traces") : static_cast<int>(RM_CORE_OK);
#endif
}

RM_EXPORT int rm_core_observe(rm_core* core, rm_core_observer observer, void* user) {
  if (!RM_OBSERVE) return observer ? core->fail(RM_CORE_NO_TRACE, "built without an observer") : static_cast<int>(RM_CORE_OK);
  if (!observer) {
    core->observer.report_to(nullptr, 0, 0);
    return RM_CORE_OK;
  }
  core->observer.report_to(
      [observer, user](uint32_t instruction, uint64_t cycle, int32_t bank, const std::vector<uint64_t>& limb) {
        observer(user, instruction, cycle, bank, limb.data(), limb.size());
      },
      2 * P_NBF, P_W);
  return RM_CORE_OK;
}
