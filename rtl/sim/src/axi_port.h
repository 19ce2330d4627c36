// Between the ports m_axi_* of a Verilated top module and AxiMemory. A port wider than 64 bits is an
// array of 32-bit words, a narrower one an integer; both are little-endian bytes on the hosts we run on.
#pragma once

#include "axi_memory.h"

namespace rm {

template <class Top>
MasterSignals master_signals(Top& top) {
  MasterSignals m;
  m.ar_valid = top.m_axi_arvalid_o;
  m.ar_id = top.m_axi_arid_o;
  m.ar_addr = top.m_axi_araddr_o;
  m.ar_len = top.m_axi_arlen_o;
  m.aw_valid = top.m_axi_awvalid_o;
  m.aw_addr = top.m_axi_awaddr_o;
  m.aw_len = top.m_axi_awlen_o;
  m.w_valid = top.m_axi_wvalid_o;
  m.w_last = top.m_axi_wlast_o;
  m.w_data = reinterpret_cast<const uint8_t*>(&top.m_axi_wdata_o);
  m.r_ready = top.m_axi_rready_o;
  m.b_ready = top.m_axi_bready_o;
  return m;
}

template <class Top>
void apply_slave(Top& top, const SlaveSignals& s) {
  top.m_axi_arready_i = s.ar_ready;
  top.m_axi_awready_i = s.aw_ready;
  top.m_axi_wready_i = s.w_ready;
  top.m_axi_rvalid_i = s.r_valid;
  top.m_axi_rid_i = s.r_id;
  top.m_axi_rlast_i = s.r_last;
  top.m_axi_rresp_i = s.r_resp;
  if (s.r_valid) __builtin_memcpy(&top.m_axi_rdata_i, s.r_data, sizeof top.m_axi_rdata_i);
  top.m_axi_bvalid_i = s.b_valid;
  top.m_axi_bresp_i = s.b_resp;
}

}  // namespace rm
