#include "compiler/diag/emitter.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "runtime/base/check.h"

namespace wf::diag {
namespace {

std::string Format(std::string_view message, std::initializer_list<Argument> arguments) {
  std::string text;
  for (size_t at = 0; at < message.size(); ++at) {
    const bool hole = message[at] == '{' && at + 2 < message.size() && message[at + 2] == '}';
    if (!hole) {
      text += message[at];
      continue;
    }
    const auto index = static_cast<size_t>(message[at + 1] - '0');
    WF_CHECK(index < arguments.size(), message, index);
    text += (arguments.begin() + index)->text();
    at += 2;
  }
  return text;
}

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

constexpr size_t kLongestName = 200;  // the comparison is quadratic

const std::string* Nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName) return nullptr;
  const std::string* best = nullptr;
  size_t best_distance = std::min(std::max<size_t>(1, name.size() / 3) + 1, name.size());  // a name of one letter resembles every other
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > kLongestName) continue;
    const size_t distance = EditDistance(name, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = &candidate;
  }
  return best;
}

// One slip of the finger away in a name of some length, and no other candidate within two.
bool IsSure(std::string_view name, const std::string& nearest, const std::vector<std::string>& candidates) {
  constexpr size_t kShortestName = 4;
  if (name.size() < kShortestName || EditDistance(name, nearest) > 1) return false;
  return std::none_of(candidates.begin(), candidates.end(), [&](const std::string& other) {
    return other != nearest && other != name && other.size() <= kLongestName && EditDistance(name, other) <= 2;
  });
}

auto PlaceOf(const Diagnostic& d) { return std::tuple(d.span.file, d.span.begin, d.span.end, d.code); }

}  // namespace

Builder& Builder::Here(std::string text) {
  diagnostic_->span_label = std::move(text);
  return *this;
}
Builder& Builder::Label(const source::Span& span, std::string text) {
  diagnostic_->labels.push_back({span, std::move(text)});
  return *this;
}
Builder& Builder::Help(std::string text) {
  diagnostic_->help.push_back(std::move(text));
  return *this;
}
Builder& Builder::HelpIf(const std::optional<std::string>& text) {
  if (text) diagnostic_->help.push_back(*text);
  return *this;
}
Builder& Builder::Fix(const source::Span& span, std::string replacement) {
  diagnostic_->fixes.push_back({span, std::move(replacement)});
  return *this;
}

Builder& Builder::DidYouMean(const source::Span& span, std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* nearest = Nearest(name, candidates);
  if (nearest == nullptr) return *this;
  Help("did you mean `" + *nearest + "`?");
  return IsSure(name, *nearest, candidates) ? Fix(span, *nearest) : *this;
}

Builder Emitter::Emit(const source::Span& span, Code code, std::initializer_list<Argument> arguments) {
  const CodeInfo& info = InfoOf(code);
  Diagnostic diagnostic{code, info.severity, Format(info.message, arguments), span, {}, {}, {}, {}};
  const bool repeated = std::any_of(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& other) {
    return other.code == code && other.span == span && other.message == diagnostic.message;
  });
  const bool is_error = info.severity == Severity::kError;
  if (muted_) {
    dropped_ = std::move(diagnostic);
    return Builder(&dropped_);
  }
  if (!repeated) ++(is_error ? error_count_ : warning_count_);
  if (repeated || (is_error && error_count_ > limit_)) {
    dropped_ = std::move(diagnostic);
    return Builder(&dropped_);
  }
  diagnostics_.push_back(std::move(diagnostic));
  return Builder(&diagnostics_.back());
}

std::vector<Diagnostic> Emitter::Sorted() const {
  std::vector<size_t> order(diagnostics_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t at) { return std::tuple(PlaceOf(diagnostics_[at]), at); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<Diagnostic> sorted;
  for (const size_t at : order) sorted.push_back(diagnostics_[at]);
  return sorted;
}

std::optional<std::string> Suggest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* nearest = Nearest(name, candidates);
  if (nearest == nullptr) return std::nullopt;
  return "did you mean `" + *nearest + "`?";
}

}  // namespace wf::diag
