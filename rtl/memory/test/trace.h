#pragma once
#include <string>

#include "bench.h"

// Handshakes of random traffic, cycle by cycle, as text: compared with the file (the cycle model repeats the same
// file), or written to it when `bless`. Returns the number of cycles. Leaves the bench reset.
u64 trace(Bench& b, const std::string& file, bool bless);
