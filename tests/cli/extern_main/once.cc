int64_t shared(int64_t a) { return a; }

int main() { return 0; }

int64_t externs::once(wf::Context&, int64_t x) { return shared(x); }
