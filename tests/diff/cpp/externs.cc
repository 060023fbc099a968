// What random programs call in C++. tests/diff/externs.cc computes the same for the interpreter.

#include <stdexcept>

namespace externs {

halves_result halves(wf::Context& context, const wf::Tensor<double, 1>& x) {
  if (x.dim(0) == 0) throw std::runtime_error("of nothing there is no largest");
  halves_result made{.low = context.NewTensor<double>(x.dim(0)), .most = x(0)};
  for (int64_t i = 0; i < x.dim(0); ++i) {
    made.low(i) = x(i) * 0.5;
    if (x(i) > made.most) made.most = x(i);
  }
  return made;
}

// One that is no ASCII is no text, which the caller is told.
wf::List<wf::String> letters(wf::Context& context, const wf::String& text, int64_t most) {
  if (most < 0) throw wf::Failure(wf::code::kInputParams, "fewer than no letters");
  auto made = context.NewList<wf::String>(std::min<uint64_t>(text.size(), static_cast<uint64_t>(most)));
  for (uint64_t i = 0; i < made.size(); ++i) made[i] = context.Copy(text.view().substr(i, 1));
  return made;
}

// Not as long as it says where `less` is one of some.
wf::Tensor<int32_t, 1> shortened(wf::Context& context, const wf::Tensor<int32_t, 1>& x, uint32_t less) {
  auto made = context.NewTensor<int32_t>(x.dim(0) - (less % 4 == 3 && x.dim(0) > 0 ? 1 : 0));
  for (int64_t i = 0; i < made.dim(0); ++i) made(i) = x(i) ^ static_cast<int32_t>(less);
  return made;
}

int64_t noted(wf::Context&, int64_t x, const wf::Optional<wf::String>& text) {
  if (x == 7) throw wf::Failure(77, "seven, and " + std::to_string(text ? text.value.size() : 0) + " bytes");
  return text ? static_cast<int64_t>(text.value.size()) + x % 2 : -1;
}

}  // namespace externs
