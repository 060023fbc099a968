#include "runtime/protocol/coding/coding.h"

#include <algorithm>

#include "runtime/base/ascii.h"

namespace wf::coding {
namespace {

struct Row {
  Coding coding;
  std::string_view name;
};
// The fastest first.
constexpr Row kRows[] = {{Coding::kZstd, "zstd"}, {Coding::kGzip, "gzip"}, {Coding::kDeflate, "deflate"}, {Coding::kIdentity, "identity"}};
constexpr std::string_view kOldGzip = "x-gzip";  // RFC 9110, 8.4.1.3

// Thousandths of `q=0.5`; what is no weight counts as 1000, as if it were not there.
int WeightOf(std::string_view parameter) {
  constexpr int kWhole = 1000;
  if (parameter.size() < 3 || base::Lower(parameter[0]) != 'q' || parameter[1] != '=') return kWhole;
  if (parameter[2] != '0') return kWhole;
  int weight = 0, digit = kWhole / 10;
  for (const char c : parameter.substr(std::min<size_t>(4, parameter.size()))) {
    if (c < '0' || c > '9') break;
    weight += (c - '0') * digit;
    digit /= 10;
  }
  return weight;
}

}  // namespace

std::optional<Coding> CodingOf(std::string_view name) {
  name = base::Trim(name);
  if (base::EqualIgnoringCase(name, kOldGzip)) return Coding::kGzip;
  for (const Row& row : kRows) {
    if (base::EqualIgnoringCase(name, row.name)) return row.coding;
  }
  return {};
}

std::optional<Coding> CodingOfAll(std::string_view names) {
  Coding all = Coding::kIdentity;
  while (!names.empty()) {
    const std::string_view name = base::Trim(base::TakeUpTo(',', &names));
    const std::optional<Coding> coding = name.empty() ? Coding::kIdentity : CodingOf(name);
    if (!coding || (*coding != Coding::kIdentity && all != Coding::kIdentity)) return {};
    if (*coding != Coding::kIdentity) all = *coding;
  }
  return all;
}

std::string_view NameOf(Coding coding) {
  return std::find_if(std::begin(kRows), std::end(kRows), [coding](const Row& row) { return row.coding == coding; })->name;
}

Coding Choose(std::string_view accept_encoding) {
  constexpr int kNotNamed = -1;
  int weights[std::size(kRows)], of_others = 0;
  std::fill(std::begin(weights), std::end(weights), kNotNamed);
  while (!accept_encoding.empty()) {
    std::string_view item = base::TakeUpTo(',', &accept_encoding);
    const std::string_view name = base::TakeUpTo(';', &item);
    const int weight = WeightOf(base::Trim(item));
    if (name == "*") of_others = weight;
    const std::optional<Coding> coding = CodingOf(name);
    for (size_t i = 0; coding && i < std::size(kRows); ++i) {
      if (kRows[i].coding == *coding) weights[i] = weight;
    }
  }
  const Row* best = nullptr;
  int most = 0;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const int weight = weights[i] == kNotNamed ? of_others : weights[i];
    if (weight <= most) continue;
    most = weight;
    best = &kRows[i];
  }
  return best == nullptr ? Coding::kIdentity : best->coding;
}

}  // namespace wf::coding
