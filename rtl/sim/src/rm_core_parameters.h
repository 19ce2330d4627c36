/* What a simulated core is built for: X(field of rm_core_parameters, the macro that holds its value).
 *
 * Made from crates/machine/src/compact/parameters.rs by `RINGMILL_BLESS=1 cargo test -p ringmill-machine parameters`.
 */
#ifndef RM_CORE_PARAMETERS_H
#define RM_CORE_PARAMETERS_H

#define RM_CORE_PARAMETERS(X) \
  X(w, P_W) \
  X(nbf, P_NBF) \
  X(logn_max, P_LOGN_MAX) \
  X(mods, P_MODS) \
  X(kind, P_KIND) \
  X(ones, P_ONES) \
  X(d, P_D) \
  X(rd_rows, P_RD_ROWS)

#endif
