int64_t shared(int64_t a) { return a + a; }

int64_t externs::twice(wf::Context&, int64_t x) { return shared(x); }
