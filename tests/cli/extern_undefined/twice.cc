int64_t added(int64_t a, int64_t b);  // of a library

int64_t externs::once(wf::Context&, int64_t x) { return x; }

int64_t externs::twice(wf::Context&, int64_t x) { return added(x, x); }
