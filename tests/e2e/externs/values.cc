#include "externs.wf.h"

namespace externs {

wf::Tensor<float, 2> scale(wf::Context& context, const wf::Tensor<float, 2>& x, float by) {
  auto scaled = context.NewTensor<float>(x.dim(0), x.dim(1));
  for (int64_t row = 0; row < x.dim(0); ++row) {
    for (int64_t column = 0; column < x.dim(1); ++column) scaled(row, column) = x(row, column) * by;
  }
  return scaled;
}

wf::Tensor<float, 1> itself(wf::Context&, const wf::Tensor<float, 1>& x) { return x; }

wf::Tensor<float, 1> twice(wf::Context& context, const wf::Tensor<float, 1>& x) {
  auto doubled = context.NewTensor<float>(2 * x.dim(0));
  for (int64_t i = 0; i < 2 * x.dim(0); ++i) doubled(i) = x(i / 2);
  return doubled;
}

wf::String shout(wf::Context& context, const wf::String& text, const wf::Optional<wf::String>& mark) {
  std::string loud(text.view());
  for (char& c : loud) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  loud += mark ? mark.value.view() : "!";
  return context.Copy(loud);
}

widen_result widen(wf::Context&, const bool b, int8_t i, uint16_t u, const wf::Tensor<wf::Half, 1>& half, double d) {
  return {.b = !b, .i = int64_t{i} * 1000 + u, .half = half, .d = d * 2};
}

boxes_result boxes(wf::Context& context, int64_t count, const wf::Map<int64_t>& ranks, const wf::Bytes& data) {
  boxes_result made;
  made.boxes = context.NewList<Box>(static_cast<uint64_t>(count));
  made.areas = context.NewTensor<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    Box& box = made.boxes[static_cast<uint64_t>(i)];
    box.x = static_cast<float>(i) / 2;
    box.class_ = i == 0 ? wf::String("first") : context.Copy("box " + std::to_string(i));
    if (i % 2 == 1) box.corner = i;
    made.areas(i) = static_cast<double>(i * i);
  }
  made.ranks = context.NewMap<int64_t>(ranks.size() + 1);  // in no order: the call sorts them
  made.ranks[0] = {"zero", 0};
  for (uint64_t i = 0; i < ranks.size(); ++i) made.ranks[ranks.size() - i] = {ranks[i].key, ranks[i].value + 1};
  made.ranks[0].value = ranks.Find("one") != nullptr ? *ranks.Find("one") : -1;
  made.first = context.CopyBytes(data.view().first(std::min<uint64_t>(data.size(), 2)));
  return made;
}

wrong_result wrong(wf::Context& context, int64_t how, const wf::Tensor<float, 1>& x) {
  wrong_result made{.a = x, .rows = context.NewList<wf::Tensor<float, 1>>(2), .text = "fine", .ranks = context.NewMap<int64_t>(2)};
  for (auto& row : made.rows) row = context.NewTensor<float>(2);
  made.ranks[0].key = "a";
  made.ranks[1].key = "b";
  if (how == 1) made.a = context.NewTensor<float>(x.dim(0) + 1);
  if (how == 2) made.rows[1] = context.NewTensor<float>(3);
  if (how == 3) made.text = "\xff";
  if (how == 4) made.ranks[1].key = "a";
  if (how == 5) made.a = context.NewTensor<float>(-1);
  return made;
}

halves_result halves(wf::Context& context, const wf::Tensor<float, 1>& x, int64_t more) {
  const int64_t half = x.dim(0) / 2;
  halves_result made{.a = context.NewTensor<float>(half), .b = context.NewTensor<float>(2 * half + (more == 1))};
  made.rows = context.NewList<wf::Tensor<float, 1>>(2);
  for (auto& row : made.rows) row = context.NewTensor<float>(half + (more == 2));
  made.whole = context.NewTensor<float>(half + (more == 3));
  return made;
}

}  // namespace externs
