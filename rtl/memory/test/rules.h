#pragma once
#include "bench.h"

// Checks the cycle rules; returns how many groups. Leaves the bench reset.
u64 rules(Bench& b);
