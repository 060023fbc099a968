#include "runtime/nodes/normalise.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "runtime/nodes/stop.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {

using abi::TextStep;

namespace {

constexpr size_t kBlock = 4096;              // bytes that are normalised at a time, where the text can be cut there
constexpr int32_t kSpaceMarkPoint = 0x2581;  // kSpaceMark
constexpr int32_t kDottedCapitalI = 0x130, kDotAbove = 0x307;

bool IsAscii(std::string_view text) {
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

bool IsGraphic(char c) { return c > ' ' && c < 0x7f; }

int MarkOrder(int32_t point) { return point < 0x300 ? 0 : utf8proc_get_property(point)->combining_class; }

}  // namespace

size_t LengthOfBlock(std::string_view text) {
  for (size_t at = kBlock; at + 1 < text.size(); ++at) {
    if (text[at] == ' ' && IsGraphic(text[at - 1]) && IsGraphic(text[at + 1])) return at;
  }
  return text.size();
}

Normaliser::Normaliser(wf_ctx* ctx, const TextStep* steps, abi::CharMap map, bool keeps_ascii)
    : ctx_(ctx), steps_(steps), map_(map), keeps_ascii_(keeps_ascii), points_(ctx), more_(ctx), out_(ctx), copy_(ctx) {
  for (const TextStep* step = steps; *step != TextStep::kEnd; ++step) has_[static_cast<uint8_t>(*step) % has_.size()] = true;
  space_ = Has(TextStep::kMarkSpaces) ? kSpaceMark : " ";
}

bool Normaliser::Run(std::string_view text, Lead lead, std::string_view* result) {
  lost_first_ = false;
  if (!out_.Reserve(space_.size() * (1 + text.size()))) return false;
  std::memcpy(out_.data(), space_.data(), space_.size());
  out_.Resize(space_.size());
  if (IsQuick(text)) {
    if (!RunAscii(text)) return false;
  } else {
    if (!Decode(text)) return false;
    for (const TextStep* step = steps_; *step != TextStep::kEnd; ++step) {
      if (Stopped(ctx_) || !Do(*step)) return false;
    }
    if (Stopped(ctx_) || !Encode()) return false;
  }
  const std::string_view all(out_.data(), out_.size()), made = all.substr(space_.size());
  const bool leads = lead == Lead::kSpace || (lead == Lead::kSpaceIfFirstStays && !lost_first_);
  *result = leads && !made.empty() && !made.starts_with(space_) ? all : made;
  return true;
}

bool Normaliser::IsStopped(uint64_t turn) const { return turn % kElementsPerStopCheck == kElementsPerStopCheck - 1 && Stopped(ctx_); }

// Whether the text is ASCII on which no step works but those of RunAscii.
bool Normaliser::IsQuick(std::string_view text) const {
  if (!Has(TextStep::kMapCharacters)) return IsAscii(text);
  return keeps_ascii_ && std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || IsGraphic(c); });
}

// Most steps leave ASCII as it is.
bool Normaliser::RunAscii(std::string_view text) {
  const bool cleans = Has(TextStep::kClean), cleans_more = Has(TextStep::kNmt);
  const bool lowers = Has(TextStep::kLowercase);
  char* out = out_.end();
  for (char c : text) {
    if ((cleans || cleans_more) && (c < ' ' || c == 0x7f)) {
      if (c == 0 && !cleans) {  // which SentencePiece keeps
      } else if (c != '\t' && c != '\n' && c != '\r' && (c != '\f' || cleans)) {
        lost_first_ = lost_first_ || out == out_.end();
        continue;
      } else {
        c = ' ';
      }
    }
    *out++ = lowers && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  out_.Resize(static_cast<uint64_t>(out - out_.data()));
  const bool has_more = Has(TextStep::kJoinSpaces) || Has(TextStep::kStripStart) || Has(TextStep::kStripEnd) ||
                        Has(TextStep::kMarkSpaces) || Has(TextStep::kMarkWords);
  return !has_more || ArrangeAsciiSpaces();
}

// In place where spaces keep their size, else through a copy.
bool Normaliser::ArrangeAsciiSpaces() {
  std::string_view text = std::string_view(out_.data(), out_.size()).substr(space_.size());
  if (Has(TextStep::kStripStart)) {
    const size_t spaces = SpacesAtStart(text);
    lost_first_ = lost_first_ || spaces != 0;
    text.remove_prefix(spaces);
  }
  if (Has(TextStep::kStripEnd)) text = text.substr(0, WithoutSpacesAtEnd(text));
  const bool marks_words = Has(TextStep::kMarkWords), joins = Has(TextStep::kJoinSpaces);
  if (!copy_.Reserve(text.size())) return false;
  std::copy(text.begin(), text.end(), copy_.data());
  if (!out_.Reserve(space_.size() + kSpaceMark.size() * (1 + text.size()))) return false;
  char* out = out_.data() + space_.size();
  const auto add_mark = [&](std::string_view mark) {
    for (const char c : mark) *out++ = c;
  };
  bool was_space = marks_words;
  for (uint64_t i = 0; i < text.size(); ++i) {
    const char c = copy_[i];
    const bool is_space = marks_words ? IsSpace(c) : c == ' ';
    if (!is_space) {
      if (marks_words && was_space) add_mark(kSpaceMark);
      *out++ = c;
    } else if (!marks_words && !(joins && was_space)) {
      add_mark(space_);
    }
    was_space = is_space;
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
    case TextStep::kMapCharacters:
      return MapCharacters();
    case TextStep::kNmt:
      CleanAsSentencePiece();
      return true;
    case TextStep::kJoinSpaces:
      points_.Resize(static_cast<uint64_t>(
          std::unique(points_.begin(), points_.end(), [](int32_t a, int32_t b) { return a == ' ' && b == ' '; }) - points_.begin()));
      return true;
    case TextStep::kStripStart: {
      int32_t* const first = std::find_if_not(points_.begin(), points_.end(), IsSpace);
      lost_first_ = lost_first_ || first != points_.begin();
      points_.Resize(static_cast<uint64_t>(std::move(first, points_.end(), points_.begin()) - points_.begin()));
      return true;
    }
    case TextStep::kStripEnd:
      while (points_.size() != 0 && IsSpace(points_[points_.size() - 1])) points_.Resize(points_.size() - 1);
      return true;
    case TextStep::kMarkSpaces:
      std::replace(points_.begin(), points_.end(), int32_t{' '}, kSpaceMarkPoint);
      return true;
    case TextStep::kMarkWords:
      return MarkWords();
    case TextStep::kEnd:
      break;
  }
  return true;  // of a table that wfc did not write
}

template <typename Goes>
void Normaliser::Drop(Goes goes) {
  lost_first_ = lost_first_ || (points_.size() != 0 && goes(points_[0]));
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

void Normaliser::CleanAsSentencePiece() {
  Drop([](int32_t x) { return (x >= 1 && x <= 8) || x == 0xb || (x >= 0xe && x <= 0x1f) || x == 0x7f || x == 0x8f || x == 0x9f; });
  for (int32_t& x : points_) {
    const bool is_space = x == '\t' || x == '\n' || x == '\f' || x == '\r' || x == 0x1680 || (x >= 0x200b && x <= 0x200f) || x == 0x2028 ||
                          x == 0x2029 || x == kSpaceMarkPoint || x == 0xfeff || x == 0xfffd;
    if (is_space) x = ' ';
  }
}

// Of what is seen as one character, which is mapped as one when it is short.
uint64_t Normaliser::EndOfCluster(uint64_t begin) {
  utf8proc_int32_t state = 0;
  uint64_t end = begin + 1;
  for (; end < points_.size(); ++end) {
    const int32_t before = points_[end - 1], next = points_[end];
    if (before < 0x300 && next < 0x300 ? before != '\r' || next != '\n' : utf8proc_grapheme_break_stateful(before, next, &state)) break;
  }
  return end;
}

bool Normaliser::PushMapped(std::string_view text, bool* is_mapped) {
  auto mapped = map_.Find(text);
  *is_mapped = mapped.has_value();
  while (mapped && !mapped->empty()) {
    const CodePoint point = nodes::Decode(*mapped);
    if (!more_.Push(point.value)) return false;
    mapped->remove_prefix(point.length);
  }
  return true;
}

bool Normaliser::MapCharacters() {
  constexpr uint64_t kLongest = 5;  // bytes of a cluster that is mapped as one
  more_.Resize(0);
  for (uint64_t at = 0, end = 0, turn = 0; at < points_.size(); at = end) {
    if (IsStopped(turn++)) return false;
    end = EndOfCluster(at);
    std::array<char, 4 * (kLongest + 1)> text{};
    uint64_t length = 0;
    for (uint64_t i = at; i < end && length <= kLongest; ++i) length += nodes::Encode(points_[i], text.data() + length);
    bool is_mapped = false;
    if (end - at > 1 && length <= kLongest && !PushMapped({text.data(), length}, &is_mapped)) return false;
    for (uint64_t i = at; i < end && !is_mapped; ++i) {
      const uint32_t bytes = nodes::Encode(points_[i], text.data());
      bool is_one = false;
      if (!PushMapped({text.data(), bytes}, &is_one) || (!is_one && !more_.Push(points_[i]))) return false;
    }
  }
  std::swap(points_, more_);
  return true;
}

bool Normaliser::MarkWords() {
  more_.Resize(0);
  bool was_space = true;
  for (const int32_t x : points_) {
    const bool is_space = IsSpace(x);
    if (was_space && !is_space && x != kSpaceMarkPoint && !more_.Push(kSpaceMarkPoint)) return false;
    if (!is_space && !more_.Push(x)) return false;
    was_space = is_space;
  }
  std::swap(points_, more_);
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
  more_.Resize(0);
  uint64_t turn = 0;
  for (const int32_t x : points_) {
    if (IsStopped(turn++)) return false;
    if (!Decomposes(x, is_compat)) {
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
