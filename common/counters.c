#include "counters.h"

const struct mbp_counter_info mbp_counter_infos[MBP_COUNTER_COUNT] = {
#define X(name, unit, meaning) {#name, MBP_UNIT_##unit, meaning},
    MBP_COUNTERS(X)
#undef X
};
