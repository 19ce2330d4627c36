// sampler_pkg - the cumulative table of the discrete Gaussian, and sizes.
//
// Entry k is 2^127 times the probability of |X| <= k, rounded, where P(X = x) is proportional to exp(-x^2 / (2 * 3.2^2)) on
// -42 ... 42. test/exact.h computes it again in integers. The functions are for elaboration only.
package sampler_pkg;

  localparam int unsigned Entries = 42;
  localparam int unsigned SampleW = 7;   // -42 ... 42 in two's complement
  localparam int unsigned Lanes   = 8;   // samples decided in a cycle: the words of one block of a generator

  // Their upper 63 bits decide; from entry Upper - 1 on these are all ones.
  localparam int unsigned Upper   = 30;

  localparam logic [126:0] Table[Entries] = '{
    127'h0ff52b40_64a1f258_29df05b2_074b38de,
    127'h2e5a25d4_026fff6d_ccddfad0_6fdfe16a,
    127'h489ae268_2e3db9bb_02313594_4c9227ab,
    127'h5d2bc20d_e6f95105_e12ad817_7d81bcff,
    127'h6bc8694a_862fcdce_85ebd2a3_b04ab1df,
    127'h7532d898_e9d195d9_eb582f25_814fd03c,
    127'h7ab396c9_80f5facb_7e61a468_e3da974c,
    127'h7d9e4e8f_6717ea70_48938567_2e72a304,
    127'h7f054956_150a592b_2439c858_b79cb75d,
    127'h7fa1ce99_f8dbf691_3ddf9e01_24ebb99d,
    127'h7fdfb3f0_0a8f3398_1403b4a1_d9ac8a1d,
    127'h7ff5e6f7_c97d68d8_97531809_587feac4,
    127'h7ffd1f95_b372bd35_cf2b62c6_803ffae8,
    127'h7fff40f7_f7aedc63_d873b131_1c890d06,
    127'h7fffd2e6_2d057ef0_547e4f4e_753d546b,
    127'h7ffff650_3aaa2874_c30c66c3_7dd87cb5,
    127'h7ffffe1b_ab99a743_e6c7bd71_8e5edc96,
    127'h7fffffaa_0140ce52_8b3e56d5_d7ee46d4,
    127'h7ffffff2_1f8a3a77_628cabae_19fafb6e,
    127'h7ffffffd_f72301f4_1652de72_ddbc2c56,
    127'h7fffffff_ba9fd472_4f2c8265_095130f2,
    127'h7fffffff_f79b78ce_5f9d1c86_7902f104,
    127'h7fffffff_ff13f6f9_61c54c29_89db9c84,
    127'h7fffffff_ffe87489_a3b19006_27bfc55b,
    127'h7fffffff_fffdde23_e29f768e_b47d3c73,
    127'h7fffffff_ffffd31f_d9c536b7_4d56aa23,
    127'h7fffffff_fffffca6_b994e9be_34b49892,
    127'h7fffffff_ffffffc5_f006d5ab_c817d5e0,
    127'h7fffffff_fffffffc_6e588256_69dfeb5f,
    127'h7fffffff_ffffffff_cd08f44c_fba829fe,
    127'h7fffffff_ffffffff_fd6b947e_cbc32d70,
    127'h7fffffff_ffffffff_ffe1aa9e_185b9ca9,
    127'h7fffffff_ffffffff_fffebc60_70bda7f9,
    127'h7fffffff_ffffffff_fffff3c3_5884064f,
    127'h7fffffff_ffffffff_ffffff94_87d94534,
    127'h7fffffff_ffffffff_fffffffc_a7b58c82,
    127'h7fffffff_ffffffff_ffffffff_e7d24db4,
    127'h7fffffff_ffffffff_ffffffff_ff617235,
    127'h7fffffff_ffffffff_ffffffff_fffc50c8,
    127'h7fffffff_ffffffff_ffffffff_ffffec1e,
    127'h7fffffff_ffffffff_ffffffff_ffffff9f,
    127'h7fffffff_ffffffff_ffffffff_fffffffe
  };

  // Bytes that hold five base-3 digits: those below 3^5.
  localparam logic [7:0] TritBytes = 8'd243;

  // Such bytes of 2^log_n digits.
  function automatic int unsigned trit_bytes(int unsigned log_n);
    return ((1 << log_n) + 4) / 5;
  endfunction

  // The engine draws this many bytes at a time, each time whole words of 32 bits.
  localparam int unsigned TritBatch = 4096;

endpackage
