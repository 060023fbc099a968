#include "runtime/nodes/normalise.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "runtime/nodes/unicode.h"

namespace wf::nodes {

using abi::TextStep;

namespace {

constexpr int32_t kFirstChanging =
    0xc0;  // what is below decomposes to nothing but itself; two that are compatible with other characters apart
constexpr int32_t kDottedCapitalI = 0x130, kDotAbove = 0x307;

bool IsAscii(std::string_view text) {
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

int MarkOrder(int32_t point) { return point < 0x300 ? 0 : utf8proc_get_property(point)->combining_class; }

}  // namespace

bool Normaliser::Run(std::string_view text, bool begins_with_space, std::string_view* result) {
  if (!out_.Reserve(1 + text.size())) return false;
  out_.Resize(0);
  out_.Push(' ');
  if (IsAscii(text)) {
    if (!RunAscii(text)) return false;
  } else {
    if (!Decode(text)) return false;
    for (const TextStep* step = steps_; *step != TextStep::kEnd; ++step) {
      if (!Do(*step)) return false;
    }
    if (!Encode()) return false;
  }
  const bool keeps_space = begins_with_space && out_.size() > 1 && out_[1] != ' ';
  *result = std::string_view(out_.data(), out_.size()).substr(keeps_space ? 0 : 1);
  return true;
}

// Most steps leave ASCII as it is.
bool Normaliser::RunAscii(std::string_view text) {
  bool cleans = false, lowers = false;
  for (const TextStep* step = steps_; *step != TextStep::kEnd; ++step) {
    cleans = cleans || *step == TextStep::kClean;
    lowers = lowers || *step == TextStep::kLowercase;
  }
  char* out = out_.end();
  for (char c : text) {
    if (cleans && (c < ' ' || c == 0x7f)) {
      if (c != '\t' && c != '\n' && c != '\r') continue;
      c = ' ';
    }
    *out++ = lowers && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  out_.Resize(static_cast<uint64_t>(out - out_.data()));
  return true;
}

bool Normaliser::Do(TextStep step) {
  switch (step) {
    case TextStep::kClean:
      return Clean();
    case TextStep::kSpaceIdeographs:
      return SpaceIdeographs();
    case TextStep::kDecompose:
      return Decompose(false);
    case TextStep::kDecomposeCompat:
      return Decompose(true);
    case TextStep::kCompose: {
      const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
      const utf8proc_ssize_t size = utf8proc_normalize_utf32(points_.data(), static_cast<utf8proc_ssize_t>(points_.size()), options);
      points_.Resize(static_cast<uint64_t>(std::max<utf8proc_ssize_t>(size, 0)));
      return true;
    }
    case TextStep::kDropNonspacing:
      Drop(IsNonspacing);
      return true;
    case TextStep::kDropMarks:
      Drop(IsMark);
      return true;
    case TextStep::kLowercase:
      return Lowercase();
    case TextStep::kEnd:
      break;
  }
  return true;  // of a table that wfc did not write
}

template <typename Goes>
void Normaliser::Drop(Goes goes) {
  points_.Resize(static_cast<uint64_t>(std::remove_if(points_.begin(), points_.end(), goes) - points_.begin()));
}

bool Normaliser::Clean() {
  const auto is_line = [](int32_t x) { return x == '\t' || x == '\n' || x == '\r'; };
  Drop([&](int32_t x) { return x == 0xfffd || (IsControl(x) && !is_line(x)); });
  for (int32_t& x : points_) {
    if (IsSpace(x)) x = ' ';
  }
  return true;
}

bool Normaliser::SpaceIdeographs() {
  more_.Resize(0);
  for (const int32_t x : points_) {
    const bool is_ideograph = IsIdeograph(x);
    if (is_ideograph && !more_.Push(' ')) return false;
    if (!more_.Push(x) || (is_ideograph && !more_.Push(' '))) return false;
  }
  std::swap(points_, more_);
  return true;
}

bool Normaliser::Decompose(bool is_compat) {
  constexpr uint64_t kMost = 32;  // characters of one, NFKD of U+FDFA has 18
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (is_compat ? UTF8PROC_COMPAT : 0));
  const int32_t first = is_compat ? 0xa0 : kFirstChanging;
  more_.Resize(0);
  for (const int32_t x : points_) {
    if (x < first) {
      if (!more_.Push(x)) return false;
      continue;
    }
    if (!more_.Reserve(more_.size() + kMost)) return false;
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(x, more_.end(), kMost, options, &boundary);
    if (count > 0 && static_cast<uint64_t>(count) <= kMost) more_.Resize(more_.size() + static_cast<uint64_t>(count));
  }
  std::swap(points_, more_);
  SortMarks();
  return true;
}

// utf8proc's own order takes time in the square of their number.
void Normaliser::SortMarks() {
  int32_t* const end = points_.end();
  for (int32_t* at = points_.begin(); at != end; ++at) {
    if (MarkOrder(*at) == 0) continue;
    int32_t* last = at + 1;
    while (last != end && MarkOrder(*last) != 0) ++last;
    if (last - at > 1) std::stable_sort(at, last, [](int32_t a, int32_t b) { return MarkOrder(a) < MarkOrder(b); });
    at = last - 1;
  }
}

bool Normaliser::Lowercase() {
  if (std::find(points_.begin(), points_.end(), kDottedCapitalI) == points_.end()) {
    for (int32_t& x : points_) x = Lower(x);
    return true;
  }
  more_.Resize(0);
  for (const int32_t x : points_) {  // the one character whose small form is two
    if (!more_.Push(x == kDottedCapitalI ? 'i' : Lower(x)) || (x == kDottedCapitalI && !more_.Push(kDotAbove))) return false;
  }
  std::swap(points_, more_);
  return true;
}

bool Normaliser::Decode(std::string_view text) {
  points_.Resize(0);
  if (!points_.Reserve(text.size())) return false;
  int32_t* out = points_.begin();
  while (!text.empty()) {
    const CodePoint point = nodes::Decode(text);
    *out++ = point.value;
    text.remove_prefix(point.length);
  }
  points_.Resize(static_cast<uint64_t>(out - points_.begin()));
  return true;
}

bool Normaliser::Encode() {
  constexpr uint64_t kMost = 4;
  if (!out_.Reserve(out_.size() + points_.size() * kMost)) return false;
  char* out = out_.end();
  for (const int32_t x : points_) out += nodes::Encode(x, out);
  out_.Resize(static_cast<uint64_t>(out - out_.data()));
  return true;
}

}  // namespace wf::nodes
