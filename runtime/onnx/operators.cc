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

// As the rows call them.
struct Domain {
  std::string_view name, in_rows;
};
constexpr Domain kDomains[] = {{"ai.onnx", ""}, {"ai.onnx.ml", "Ml"}, {"com.microsoft", "Ms"}, {"ai.onnx.preview.training", "Train"}};

// Nullopt: one of which there are no rows.
std::optional<std::string_view> InRows(std::string_view domain) {
  if (domain.empty()) return domain;
  const auto* found = std::find_if(std::begin(kDomains), std::end(kDomains), [&](const Domain& each) { return each.name == domain; });
  return found == std::end(kDomains) ? std::nullopt : std::optional(found->in_rows);
}

// An attribute of a list: "axis", "mode:s", "version=1".
struct Word {
  std::string_view name, kind, only;
};
std::optional<Word> FindWord(std::string_view list, std::string_view name) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    std::string_view word = list.substr(at, end - at);
    at = end + 1;
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view only = word.substr(std::min(equals + 1, word.size()));
    word = word.substr(0, equals);
    const size_t colon = std::min(word.find(':'), word.size());
    if (word.substr(0, colon) == name) return Word{name, word.substr(std::min(colon + 1, word.size())), only};
  }
  return std::nullopt;
}

}  // namespace

std::string_view DomainOf(Op op) {
  const std::string_view in_rows = kOperators[static_cast<size_t>(op)].domain;
  return std::find_if(std::begin(kDomains), std::end(kDomains), [&](const Domain& each) { return each.in_rows == in_rows; })->name;
}

bool IsStandard(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  const auto within = InRows(domain);
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
  const auto found = FindWord(list, name);
  if (!found) return kOther;
  const std::string_view kind = found->kind;
  return kind == "f"    ? kFloat
         : kind == "s"  ? kString
         : kind == "t"  ? kTensor
         : kind == "fs" ? kFloats
         : kind == "is" ? kInts
         : kind == "ss" ? kStrings
         : kind == "g"  ? kGraph
                        : kInt;
}

bool IsOtherValue(std::string_view list, std::string_view name, int64_t i, std::string_view s) {
  const auto found = FindWord(list, name);
  return found && !found->only.empty() && found->only != (found->kind == "s" ? s : std::to_string(i));
}

}  // namespace wf::onnx
