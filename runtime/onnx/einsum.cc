#include "runtime/onnx/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace wf::onnx {
namespace {

using base::Status;
using Terms = std::vector<std::string>;

constexpr char kRest = '.';  // stands for the ellipsis in a term
constexpr size_t kMostLabels = 64;

Status Wrong(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

// "ab...c" as "ab.c"; letters, and the ellipsis at most once.
Status ReadTerm(std::string_view text, std::string& term) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...")) {
      if (term.find(kRest) != std::string::npos) return Wrong("an equation with two ellipses in one term");
      term += kRest;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term += text[i];
    } else if (text[i] != ' ') {
      return Wrong("an equation with something other than letters, `...`, `,` and `->`");
    }
  }
  return Status::Ok();
}

// Labels beside the ellipsis stand for themselves; axis i from the end of an ellipsis is the label -1 - i.
std::vector<int> Expand(const std::string& term, size_t rest) {
  std::vector<int> labels;
  for (const char each : term) {
    if (each != kRest) labels.push_back(each);
    for (size_t i = rest; each == kRest && i-- > 0;) labels.push_back(-1 - static_cast<int>(i));
  }
  return labels;
}

// Without `->`: the ellipsis, then the letters that stand once, in their order.
std::string ImpliedOutput(const Terms& terms) {
  std::map<char, int> count;
  for (const std::string& term : terms) {
    for (const char each : term) ++count[each];
  }
  std::string out;
  if (count.count(kRest) != 0) out += kRest;
  for (const auto& [label, times] : count) {
    if (label != kRest && times == 1) out += label;
  }
  return out;
}

}  // namespace

base::Result<EinsumLabels> ParseEinsum(std::string_view equation, std::span<const size_t> ranks) {
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  Terms terms;
  for (bool last = false; !last;) {
    const size_t comma = left.find(',');
    last = comma == std::string_view::npos;
    WF_RETURN_IF_ERROR(ReadTerm(left.substr(0, comma), terms.emplace_back()));
    if (terms.size() > ranks.size()) break;
    if (!last) left.remove_prefix(comma + 1);
  }
  if (terms.size() != ranks.size()) return Wrong(fmt::format("an equation that is not of {} inputs", ranks.size()));
  std::string out;
  if (arrow == std::string_view::npos) {
    out = ImpliedOutput(terms);
  } else {
    WF_RETURN_IF_ERROR(ReadTerm(equation.substr(arrow + 2), out));
  }
  std::vector<std::vector<int>> in;
  size_t most_rest = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t letters = terms[i].size() - (terms[i].find(kRest) == std::string::npos ? 0 : 1);
    const bool has_rest = letters != terms[i].size();
    if (letters > ranks[i] || (!has_rest && letters != ranks[i]))
      return Wrong(fmt::format("term {} of the equation has {} axes, its input {}", i, letters, ranks[i]));
    in.push_back(Expand(terms[i], ranks[i] - letters));
    most_rest = std::max(most_rest, ranks[i] - letters);
  }
  EinsumLabels result;
  std::map<int, size_t> numbers;
  for (const int label : Expand(out, most_rest)) {
    if (!numbers.emplace(label, numbers.size()).second) return Wrong("an equation whose output has a label twice");
  }
  result.out_rank = numbers.size();
  std::map<int, bool> seen;
  for (const auto& labels : in) {
    std::vector<size_t>& to = result.in.emplace_back();
    for (const int label : labels) {
      to.push_back(numbers.emplace(label, numbers.size()).first->second);
      seen[label] = true;
    }
  }
  for (const auto& [label, number] : numbers) {
    if (number < result.out_rank && !seen[label]) return Wrong("an equation whose output has a label that no input has");
  }
  result.labels = numbers.size();
  if (result.labels > kMostLabels) return Wrong("an equation of more than 64 labels");
  return result;
}

}  // namespace wf::onnx
