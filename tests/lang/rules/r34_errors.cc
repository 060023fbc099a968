namespace externs {

float own(wf::Context&, float x) {
  if (x < 0) throw wf::Failure(errors::Cold, "too cold");
  return x;
}

float others(wf::Context&, float x) {
  if (x < 0) throw wf::Failure(errors::cold_Cold, "too cold");
  return x;
}

}  // namespace externs
