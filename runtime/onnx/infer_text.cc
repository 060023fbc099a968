// Shape rules of operators on texts and tokens.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/rules.h"

namespace wf::onnx {

using base::Status;

namespace {

constexpr int64_t kMostWidth = int64_t{1} << 31;

// Tokens of n-grams, one behind the other: from ngram_counts[n - 1] on those of n tokens.
Status CheckPool(const NodeContext& node, size_t pool) {
  const auto begins = node.node.Ints("ngram_counts"), places = node.node.Ints("ngram_indexes");
  size_t grams = 0;
  for (size_t n = 1; n <= begins.size(); ++n) {
    const int64_t begin = begins[n - 1], end = n < begins.size() ? begins[n] : static_cast<int64_t>(pool);
    if (begin < 0 || begin > end || end > static_cast<int64_t>(pool) || (end - begin) % static_cast<int64_t>(n) != 0)
      return node.Fail(fmt::format("`ngram_counts` take tokens {} to {} of {} for sequences of {}", begin, end, pool, n));
    grams += static_cast<size_t>(end - begin) / n;
  }
  if (grams != places.size()) return node.Fail(fmt::format("{} places for {} sequences", places.size(), grams));
  return Status::Ok();
}

}  // namespace

Status CheckTextCast(const NodeContext& node, uint8_t to) {
  const uint8_t from = node.in(0).dtype;
  for (const auto& [text, other] : {std::pair(from, to), std::pair(to, from)}) {
    if (text == kStringType && IsNarrow(other))
      return node.NotBuilt(fmt::format("a conversion between string and {} is not supported", TypeName(other)));
  }
  return Status::Ok();
}

bool IsOfRunTexts(const Node& node, std::span<const Known> known) {
  switch (node.op) {
    case Op::kCast:
    case Op::kCastLike:
      return known[static_cast<size_t>(node.in[0])].dtype == kStringType || known[static_cast<size_t>(node.out[0])].dtype == kStringType;
    case Op::kUnique:  // in the order of the strings
      return known[static_cast<size_t>(node.in[0])].dtype == kStringType;
    case Op::kRegexFullMatch:
    case Op::kStringConcat:
    case Op::kStringNormalizer:
    case Op::kStringSplit:
    case Op::kMsTokenizer:
      return true;
    default:
      return false;
  }
}

Status InferStringNormalizer(NodeContext& node) {
  const Shape& dim = node.in(0).dim;
  const std::string_view action = node.node.String("case_change_action", "NONE");
  if (node.in(0).dtype != kStringType || dim.empty() || dim.size() > 2 || (dim.size() == 2 && Dim::ProvedDifferent(dim[0], Dim(1))))
    return node.Fail(fmt::format("input {}, wanted strings with one axis, or one row of them", node.InType(0)));
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return node.Fail(fmt::format("`case_change_action` \"{}\", wanted NONE, LOWER or UPPER", action));
  node.out(0) = {kStringType, dim, std::nullopt};
  if (node.node.Find("stopwords") != nullptr) node.out(0).dim.back() = node.unknown.Next();
  return Status::Ok();
}

Status InferStringConcat(NodeContext& node) {
  if (node.in(0).dtype != kStringType) return node.Fail(fmt::format("input {}, wanted strings", node.InType(0)));
  return InferBroadcast(node);
}

Status InferStringSplit(NodeContext& node) {
  if (node.in(0).dtype != kStringType) return node.Fail(fmt::format("input {}, wanted strings", node.InType(0)));
  if (node.node.Int("maxsplit", 0) < 0) return node.Fail(fmt::format("`maxsplit` {}", node.node.Int("maxsplit", 0)));
  const Shape dim = node.in(0).dim;
  node.out(0) = {kStringType, dim, std::nullopt};
  node.out(0).dim.push_back(node.unknown.Next());
  if (node.has_out(1)) node.out(1) = {WF_I64, dim, std::nullopt};
  return Status::Ok();
}

Status InferTokenizer(NodeContext& node) {
  const Shape dim = node.in(0).dim;
  if (node.in(0).dtype != kStringType || dim.empty() || dim.size() > 2)
    return node.Fail(fmt::format("input {}, wanted strings with one axis or two", node.InType(0)));
  const Attribute* const separators = node.node.Find("separators");
  const bool splits = separators != nullptr && !separators->strings.empty();
  if (!splits && node.node.String("tokenexp", "").empty()) return node.Fail("neither `separators` nor `tokenexp`");
  if (node.node.Find("pad_value") == nullptr) return node.Fail("no `pad_value`");
  const int64_t least = node.node.Int("mincharnum", 0);
  const bool is_of_characters = splits && separators->strings.size() == 1 && separators->strings[0].empty();
  if (least < 1 || (is_of_characters && least > 1)) return node.Fail(fmt::format("tokens of {} characters at least", least));
  node.out(0) = {kStringType, dim, std::nullopt};
  node.out(0).dim.push_back(node.unknown.Next());
  return Status::Ok();
}

Status InferRegexFullMatch(NodeContext& node) {
  if (node.in(0).dtype != kStringType) return node.Fail(fmt::format("input {}, wanted strings", node.InType(0)));
  if (node.node.Find("pattern") == nullptr) return node.Fail("no `pattern`");
  node.out(0) = {WF_BOOL, node.in(0).dim, std::nullopt};
  return Status::Ok();
}

Status InferTfIdfVectorizer(NodeContext& node) {
  const Known& x = node.in(0);
  const bool text = x.dtype == kStringType;
  if (!text && x.dtype != WF_I32 && x.dtype != WF_I64)
    return node.NotBuilt(fmt::format("tokens of type {} are not supported", TypeName(x.dtype)));
  if (x.dim.size() != 1 && x.dim.size() != 2) return node.Fail(fmt::format("input {}, wanted rows of tokens", node.InType(0)));
  const int64_t least = node.node.Int("min_gram_length", 0), most = node.node.Int("max_gram_length", 0);
  const auto begins = node.node.Ints("ngram_counts"), places = node.node.Ints("ngram_indexes");
  if (least < 1 || most < least || most > static_cast<int64_t>(begins.size()) || node.node.Int("max_skip_count", 0) < 0)
    return node.Fail(fmt::format("sequences of {} to {} tokens, with `ngram_counts` for {}", least, most, begins.size()));
  const std::string_view mode = node.node.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") return node.Fail(fmt::format("mode `{}`, wanted TF, IDF or TFIDF", mode));
  WF_RETURN_IF_ERROR(CheckPool(node, text ? node.node.Texts("pool_strings").size() : node.node.Ints("pool_int64s").size()));
  int64_t width = 0;
  for (const int64_t place : places) {
    if (place < 0 || place >= kMostWidth) return node.Fail(fmt::format("`ngram_indexes` hold {}", place));
    width = std::max(width, place + 1);
  }
  if (const size_t weights = node.node.Floats("weights").size(); weights != 0 && weights != places.size())
    return node.Fail(fmt::format("{} weights for {} sequences", weights, places.size()));
  Known& out = node.out(0);
  out.dtype = WF_F32;
  out.dim = x.dim;
  out.dim.back() = Dim(width);
  return Status::Ok();
}

}  // namespace wf::onnx
