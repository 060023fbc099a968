#include "runtime/observe/metrics.h"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/float_text.h"
#include "runtime/base/units.h"

namespace wf::observe {

int64_t Histogram::EndOf(int index) noexcept {
  if (index == 0) return INT64_C(1) << kFirstBits;
  if (index == kBuckets - 1) return std::numeric_limits<int64_t>::max();
  const int octave = (index - 1) / kParts, part = (index - 1) % kParts;
  return (INT64_C(1) << (kFirstBits + octave)) / kParts * (kParts + part + 1);
}

namespace {

void PutNumber(std::string* text, double value) {
  if (std::isnan(value)) {
    *text += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *text += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  char digits[base::kMostFloatText];
  text->append(digits, base::PutFloat(digits, value));
}

// Of a label's value; a help text keeps its quotes.
void PutEscaped(std::string* text, std::string_view value, bool quotes = true) {
  for (const char c : value) {
    if (c == '\n')
      *text += "\\n";
    else if ((c == '"' && quotes) || c == '\\')
      (*text += '\\') += c;
    else
      *text += c;
  }
}

}  // namespace

void MetricsText::Family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  ((text_ += "# HELP ") += name) += ' ';
  PutEscaped(&text_, help, false);
  text_ += '\n';
  ((((text_ += "# TYPE ") += name) += ' ') += type) += '\n';
}

void MetricsText::Sample(std::string_view suffix, std::span<const Label> labels, double value) {
  (text_ += family_) += suffix;
  if (!labels.empty()) {
    text_ += '{';
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i != 0) text_ += ',';
      (text_ += labels[i].name) += "=\"";
      PutEscaped(&text_, labels[i].value);
      text_ += '"';
    }
    text_ += '}';
  }
  text_ += ' ';
  PutNumber(&text_, value);
  text_ += '\n';
}

void MetricsText::Buckets(std::initializer_list<Label> labels, std::span<const double> ends, std::span<const uint64_t> counts, double sum) {
  std::vector<Label> all(labels);
  all.push_back({"le", ""});
  uint64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    if (i >= ends.size()) continue;
    std::string end;
    PutNumber(&end, ends[i]);
    all.back().value = end;
    Sample("_bucket", all, static_cast<double>(total));
  }
  all.back().value = "+Inf";
  Sample("_bucket", all, static_cast<double>(total));
  all.pop_back();
  Sample("_sum", all, sum);
  Sample("_count", all, static_cast<double>(total));
}

void MetricsText::Durations(std::initializer_list<Label> labels, std::span<const Histogram* const> parts) {
  std::vector<double> ends;
  std::vector<uint64_t> counts;
  uint64_t count = 0;
  uint64_t sum_ns = 0;
  for (int i = 0; i < Histogram::kBuckets; ++i) {
    for (const Histogram* part : parts) count += part->count(i);
    if (i % Histogram::kParts != 0 && i != Histogram::kBuckets - 1) continue;
    counts.push_back(count);
    count = 0;
    if (i != Histogram::kBuckets - 1) ends.push_back(base::Seconds(Histogram::EndOf(i)));
  }
  for (const Histogram* part : parts) sum_ns += part->sum_ns();
  Buckets(labels, ends, counts, base::Seconds(static_cast<int64_t>(sum_ns)));
}

}  // namespace wf::observe
