namespace externs {

int64_t both(wf::Context&, const a_x_P& p, const b_x_P& q, const x_Q& r) { return r.one ? p.v + p.u : int64_t(q.w.view().size()); }

}  // namespace externs
