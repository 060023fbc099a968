#include "pipeline.wf.h"

int64_t externs::half(wf::Context&, int64_t x) { return x / 2; }
