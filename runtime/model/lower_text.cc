#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

// Of a StringNormalizer with words to leave out only a run tells how many strings there are (text_part.h).
Status LowerText(Lowering& of) {
  using enum kernels::TextOp::What;
  const onnx::Node& node = of.node;
  kernels::TextOp text;
  if (node.op == Op::kRegexFullMatch) {
    text = {kMatch, node.Find("pattern")->strings[0]};
  } else if (node.op == Op::kStringConcat) {
    text.what = kJoin;
  } else {
    if (node.Find("stopwords") != nullptr) return {base::kUnimplemented, "a number of strings that depends on data"};
    const std::string_view action = node.String("case_change_action", "NONE");
    of.lowered.alias = action == "NONE";
    text.what = action == "UPPER" ? kUpper : kLower;
  }
  of.lowered.params = std::move(text);
  return Status::Ok();
}

Status LowerTfIdfVectorizer(Lowering& of) {
  const onnx::Node& node = of.node;
  const bool text = of.context.in(0).dtype == onnx::kStringType;
  const auto pool = text ? node.Texts("pool_strings") : node.Ints("pool_int64s");
  const auto begins = node.Ints("ngram_counts"), places = node.Ints("ngram_indexes");
  const auto weights = node.Floats("weights");
  kernels::CountGrams count;
  count.least = node.Int("min_gram_length", 1);
  count.most = node.Int("max_gram_length", 1);
  count.skips = node.Int("max_skip_count", 0);
  count.width = of.known_out(0).dim.back().constant().value_or(0);
  const std::string_view mode = node.String("mode", "TF");
  using enum kernels::CountGrams::Weight;
  count.weight = mode == "IDF" ? kPresence : mode == "TFIDF" ? kCountTimesWeight : kCount;
  if (!weights.empty()) {
    count.weights.assign(weights.begin(), weights.end());
    count.weights.resize(static_cast<size_t>(count.width), 0);
  }
  size_t gram = 0;
  for (size_t n = 1; n <= begins.size(); ++n) {
    const size_t end = n < begins.size() ? static_cast<size_t>(begins[n]) : pool.size();
    for (size_t at = static_cast<size_t>(begins[n - 1]); at + n <= end; at += n, ++gram) {
      const auto size = static_cast<int64_t>(n);
      if (size < count.least || size > count.most) continue;
      const auto tokens = pool.subspan(at, n);
      count.grams.push_back({{tokens.begin(), tokens.end()}, places[gram]});
    }
  }
  of.lowered.params = std::move(count);
  return Status::Ok();
}

}  // namespace wf::model
