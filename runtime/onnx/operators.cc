#include "runtime/onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "runtime/onnx/op.h"

namespace wf::onnx {
namespace {

constexpr OperatorRow kOperators[] = {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  {Op::k##domain##name, #domain, #name, since, min_in, max_in, max_out, attributes},
#include "runtime/onnx/operators.def"
#undef OPERATOR
};

// As the rows call it. Nullopt: one of which there are no rows.
std::optional<std::string_view> DomainOf(std::string_view domain) {
  if (IsStandard(domain)) return "";
  if (domain == "ai.onnx.ml") return "Ml";
  if (domain == "com.microsoft") return "Ms";
  if (domain == "ai.onnx.preview.training") return "Train";
  return std::nullopt;
}

}  // namespace

bool IsStandard(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  const auto within = DomainOf(domain);
  const auto same = [&](const OperatorRow& row) { return row.domain == within && row.name == name; };
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators), same);
  return found == std::end(kOperators) ? nullptr : found;
}

std::string MeantBy(std::string_view name) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  const auto same = [&](const OperatorRow& row) {
    return row.domain.empty() &&
           std::equal(row.name.begin(), row.name.end(), name.begin(), name.end(), [&](char a, char b) { return lower(a) == lower(b); });
  };
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators), same);
  return found == std::end(kOperators) ? "" : fmt::format("; did you mean `{}`?", found->name);
}

Attribute::Kind WantedKind(std::string_view list, std::string_view name) {
  using enum Attribute::Kind;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    const std::string_view word = list.substr(at, end - at);
    at = end + 1;
    const size_t colon = std::min(word.find(':'), word.size());
    if (word.substr(0, colon) != name) continue;
    const std::string_view kind = word.substr(std::min(colon + 1, word.size()));
    return kind == "f"    ? kFloat
           : kind == "s"  ? kString
           : kind == "t"  ? kTensor
           : kind == "fs" ? kFloats
           : kind == "is" ? kInts
           : kind == "ss" ? kStrings
           : kind == "g"  ? kGraph
                          : kInt;
  }
  return kOther;
}

}  // namespace wf::onnx
