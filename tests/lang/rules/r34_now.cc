namespace externs {

int64_t ticks(wf::Context&, const wf::String&) { return 1; }

}  // namespace externs
