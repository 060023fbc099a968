#include "compiler/diag/emitter.h"

#include <algorithm>
#include <iterator>

#include "compiler/diag/excerpt.h"
#include "runtime/base/ascii.h"
#include "runtime/base/check.h"
#include "runtime/base/text.h"

namespace wf::diag {
namespace {

std::string Format(const CodeInfo& info, std::initializer_list<Argument> arguments) {
  const std::string_view message = info.message;
  std::string text;
  for (size_t at = 0; at < message.size(); ++at) {
    const bool hole = message[at] == '{' && at + 2 < message.size() && message[at + 2] == '}';
    if (!hole) {
      text += message[at];
      continue;
    }
    const auto index = static_cast<size_t>(message[at + 1] - '0');
    WF_CHECK(index < arguments.size(), message, index);
    const Argument& argument = *(arguments.begin() + index);
    text += argument.has_lines() ? argument.text() : OneLine(argument.text());
    at += 2;
  }
  return text;
}

// The candidate nearest to `name`; empty when none is near.
std::string_view NearestOf(std::string_view name, const std::vector<std::string>& candidates) {
  return base::Nearest(name, std::vector<std::string_view>(candidates.begin(), candidates.end()));
}

// Slips of fingers: two neighbouring letters swapped, one inside missing or too many. Other letters, digits and ends tell names apart that
// are meant: `img1` and `img2`, `left` and `lift`, `row` and `rows`.
bool OneSlip(std::string_view a, std::string_view b) {
  const auto is_letter = [](char c) { return base::Lower(c) >= 'a' && base::Lower(c) <= 'z'; };
  bool begins_alike = false, ends_alike = false;
  for (; !a.empty() && !b.empty() && a.front() == b.front(); begins_alike = true) a.remove_prefix(1), b.remove_prefix(1);
  for (; !a.empty() && !b.empty() && a.back() == b.back(); ends_alike = true) a.remove_suffix(1), b.remove_suffix(1);
  if (a.size() == 2 && b.size() == 2) return a[0] == b[1] && a[1] == b[0] && is_letter(a[0]) && is_letter(a[1]);
  return a.size() + b.size() == 1 && begins_alike && ends_alike && is_letter((a.empty() ? b : a).front());
}

// The only candidate that is near, one slip away in a name of some length.
bool IsSure(std::string_view name, std::string_view nearest, std::vector<std::string> candidates) {
  constexpr size_t kShortestName = 4;
  if (name.size() < kShortestName || !OneSlip(name, nearest)) return false;
  std::erase(candidates, std::string(nearest));
  return NearestOf(name, candidates).empty();
}

}  // namespace

Builder& Builder::Here(const std::string& text) {
  if (diagnostic_ != nullptr) diagnostic_->span_label = OneLine(Shorten(text));
  return *this;
}
Builder& Builder::Label(const source::Span& span, const std::string& text) {
  constexpr size_t kMostLabels = 12;
  if (diagnostic_ == nullptr || diagnostic_->labels.size() == kMostLabels) return *this;
  struct Label label{span, OneLine(Shorten(text))};
  const auto is_same = [&](const struct Label& other) { return other.span == span && other.text == label.text; };
  if (std::none_of(diagnostic_->labels.begin(), diagnostic_->labels.end(), is_same)) diagnostic_->labels.push_back(std::move(label));
  return *this;
}
Builder& Builder::Help(const std::string& text) {
  if (diagnostic_ != nullptr) diagnostic_->help.push_back(OneLine(Shorten(text)));
  return *this;
}
Builder& Builder::HelpIf(const std::optional<std::string>& text) { return text ? Help(*text) : *this; }
Builder& Builder::Fix(const source::Span& span, std::string replacement) {
  if (diagnostic_ != nullptr) diagnostic_->fixes.push_back({span, std::move(replacement)});
  return *this;
}
Builder& Builder::FixAlso(const std::vector<source::Span>& spans) {
  if (diagnostic_ == nullptr || diagnostic_->fixes.empty()) return *this;
  for (const source::Span& span : spans) diagnostic_->fixes.push_back({span, diagnostic_->fixes.front().replacement});
  return *this;
}

Builder& Builder::DidYouMean(const source::Span& span, std::string_view name, const std::vector<std::string>& candidates) {
  return DidYouMean(span, name, [&] { return candidates; });
}

Builder& Builder::DidYouMean(const source::Span& span, std::string_view name, const Candidates& candidates) {
  if (diagnostic_ == nullptr || *comparisons_ == 0) return *this;
  const std::vector<std::string> known = candidates();
  *comparisons_ -= std::min(*comparisons_, known.size());
  const std::string nearest(NearestOf(name, known));
  if (nearest.empty()) return *this;
  Help("did you mean `" + nearest + "`?");
  return IsSure(name, nearest, known) ? Fix(span, nearest) : *this;
}

Builder& Builder::DidYouMeanOneOf(const source::Span& span, std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kMostTold = 24;
  DidYouMean(span, name, candidates);
  if (diagnostic_ == nullptr || candidates.empty() || !NearestOf(name, candidates).empty()) return *this;
  std::string known;
  for (size_t i = 0; i < std::min(candidates.size(), kMostTold); ++i) known += (i == 0 ? "`" : ", `") + candidates[i] + "`";
  if (candidates.size() > kMostTold) known += " and " + std::to_string(candidates.size() - kMostTold) + " more";
  return Help(candidates.size() == 1 ? "there is only " + known : "there are " + known);
}

Builder Emitter::Emit(const source::Span& span, Code code, std::initializer_list<Argument> arguments) {
  if (muted_) return Builder(nullptr, comparisons_);
  const CodeInfo& info = InfoOf(code);
  const bool is_error = info.severity == Severity::kError;
  auto& kept = is_error ? found_.errors : found_.warnings;
  std::string message = Format(info, arguments);
  for (Elements* list = elements_; list != nullptr; list = list->outer_) {
    if (list->IsAgain(span, code, message)) return Builder(nullptr, comparisons_);
  }
  const auto [at, is_new] = kept.try_emplace(Place(span.file, span.begin, span.end, code, message));
  if (!is_new) return Builder(nullptr, comparisons_);
  at->second = {code, info.severity, std::move(message), span, {}, {}, {}, {}};
  ++(is_error ? found_.error_count : found_.warning_count);
  if (kept.size() <= limit_) return Builder(&at->second, comparisons_);
  const bool is_last = std::next(at) == kept.end();
  kept.erase(std::prev(kept.end()));
  return Builder(is_last ? nullptr : &at->second, comparisons_);
}

bool Emitter::Elements::IsAgain(const source::Span& span, Code code, const std::string& message) {
  if (span != at_) return false;
  if (is_first_) told_ = {code, message};
  return !is_first_ && told_ && *told_ == std::pair(code, message);
}

std::vector<Diagnostic> Emitter::Sorted() const {
  std::vector<Diagnostic> sorted;
  const auto &errors = found_.errors, &warnings = found_.warnings;
  for (auto error = errors.begin(), warning = warnings.begin(); error != errors.end() || warning != warnings.end();) {
    const bool is_error = warning == warnings.end() || (error != errors.end() && error->first < warning->first);
    sorted.push_back((is_error ? error++ : warning++)->second);
  }
  return sorted;
}

std::optional<std::string> Suggest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string_view nearest = NearestOf(name, candidates);
  if (nearest.empty()) return std::nullopt;
  return "did you mean `" + std::string(nearest) + "`?";
}

}  // namespace wf::diag
