#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "runtime/base/mutex.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"

namespace wf::nodes {
namespace {

using abi::View;
using Pattern = std::shared_ptr<const re2::RE2>;

constexpr uint64_t kMatchesPerStopCheck = 256;
constexpr int kMostGroups = 10;  // of a match that replace_all looks at: \0 to \9

re2::StringPiece Piece(std::string_view text) { return {text.data() == nullptr ? "" : text.data(), text.size()}; }
std::string_view TextOf(re2::StringPiece piece) { return {piece.data(), piece.size()}; }

// \C takes one byte of a character, and what it matches is no text.
bool TakesBytes(std::string_view pattern) {
  for (size_t at = pattern.find('\\'); at != std::string_view::npos; at = pattern.find('\\', at)) {
    const std::string_view escape = pattern.substr(at, 2);
    if (escape == "\\C") return true;
    at = escape == "\\Q" ? pattern.find("\\E", at + 2) : at + 2;  // between the two all is literal
    if (at == std::string_view::npos) return false;
  }
  return false;
}

// The patterns that were used last, compiled, since that takes some ten times as long as to look through a short text.
// Thread: thread-safe.   Owns: patterns; those that are in use live on.   Bounds: kMost patterns of at most WF_MAX_PATTERN_BYTES of memory.
class Patterns {
 public:
  static Patterns& OfProcess() {
    static Patterns& patterns = *new Patterns;
    return patterns;
  }

  Pattern Find(std::string_view text) {
    if (Pattern known = Known(text); known != nullptr) return known;
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(WF_MAX_PATTERN_BYTES);
    auto made = std::make_shared<const re2::RE2>(Piece(text), options);
    if (made->ok()) Keep(made);
    return made;
  }

 private:
  Pattern Known(std::string_view text) {
    const base::MutexLock lock(mutex_);
    for (size_t i = 0; i < kMost && patterns_[i] != nullptr; ++i) {
      if (patterns_[i]->pattern() != text) continue;
      std::rotate(&patterns_[0], &patterns_[i], &patterns_[i] + 1);
      return patterns_[0];
    }
    return nullptr;
  }
  void Keep(Pattern pattern) {
    const base::MutexLock lock(mutex_);
    std::rotate(patterns_.begin(), patterns_.end() - 1, patterns_.end());
    patterns_[0].swap(pattern);  // what was there is freed without the mutex
  }

  static constexpr size_t kMost = 64;
  base::Mutex mutex_;
  std::array<Pattern, kMost> patterns_ WF_GUARDED_BY(mutex_);  // the last used first
};

// The matches of a pattern in a text, from the left, none within another: an empty one may stand at the end of the one before, but not at
// that of an empty one.
// Thread: confined to the call.   Borrows: text.
class Matches {
 public:
  Matches(wf_ctx* ctx, std::string_view text, const wf_bytes* pattern)
      : ctx_(ctx), text_(text), pattern_(Patterns::OfProcess().Find(View(*pattern))) {
    const bool takes_bytes = TakesBytes(View(*pattern));
    failed_ = takes_bytes || !pattern_->ok();
    if (failed_) Fail(ctx, code::kType, "pattern: %s", takes_bytes ? "invalid escape sequence: \\C" : pattern_->error().c_str());
  }
  bool failed() const { return failed_; }  // recorded, or the job is to stop
  const re2::RE2& pattern() const { return *pattern_; }
  std::string_view text() const { return text_; }

  // False: there is no other, or it has failed.
  bool Next(re2::StringPiece* groups, int count) {
    if (failed_ || from_ > text_.size()) return false;
    if (count_++ % kMatchesPerStopCheck == kMatchesPerStopCheck - 1 && Stopped(ctx_)) {
      failed_ = true;
      return false;
    }
    if (!pattern_->Match(Piece(text_), from_, text_.size(), re2::RE2::UNANCHORED, groups, count)) return false;
    const size_t end = EndOf(groups[0]);
    from_ = groups[0].empty() ? end + LengthAt(end) : end;
    return true;
  }
  size_t StartOf(re2::StringPiece piece) const { return static_cast<size_t>(piece.data() - Piece(text_).data()); }
  size_t EndOf(re2::StringPiece piece) const { return StartOf(piece) + piece.size(); }

 private:
  size_t LengthAt(size_t at) const {  // of the character there
    size_t length = 1;
    while (at + length < text_.size() && (static_cast<uint8_t>(text_[at + length]) & 0xc0) == 0x80) ++length;
    return length;
  }

  wf_ctx* ctx_;
  std::string_view text_;
  Pattern pattern_;
  size_t from_ = 0;
  uint64_t count_ = 0;
  bool failed_ = false;
};

// `by` with \0 to \9 as what the groups hold; it has been checked.
bool AddReplacement(std::string_view by, const re2::StringPiece* groups, TextBuilder& out) {
  size_t done = 0;
  for (size_t at = by.find('\\'); at != by.npos; at = by.find('\\', done)) {
    if (!out.Add(by.substr(done, at - done))) return false;
    const char next = by[at + 1];
    if (!out.Add(next == '\\' ? std::string_view("\\") : TextOf(groups[next - '0']))) return false;
    done = at + 2;
  }
  return out.Add(by.substr(done));
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_matches(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* pattern, uint8_t* does) noexcept {
  using namespace wf::nodes;
  Matches matches(ctx, View(*text), pattern);
  if (matches.failed()) return WF_FAILED;
  *does = matches.pattern().Match(Piece(matches.text()), 0, text->len, re2::RE2::UNANCHORED, nullptr, 0) ? 1 : 0;
  return 0;
}

extern "C" wf_code wf_n_find_all(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* pattern, wf_list* found) noexcept {
  using namespace wf::nodes;
  Matches matches(ctx, View(*text), pattern);
  Scratch<wf_bytes> all(ctx);
  for (re2::StringPiece match; matches.Next(&match, 1);) {
    if (!all.Push(BytesOf(TextOf(match)))) return WF_FAILED;
  }
  if (matches.failed()) return WF_FAILED;
  *found = {all.data(), all.size()};
  return 0;
}

extern "C" wf_code wf_n_split_all(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* pattern, wf_list* parts) noexcept {
  using namespace wf::nodes;
  Matches matches(ctx, View(*text), pattern);
  Scratch<wf_bytes> all(ctx);
  const std::string_view whole = matches.text();
  size_t done = 0;
  for (re2::StringPiece match; matches.Next(&match, 1); done = matches.EndOf(match)) {
    if (!all.Push(BytesOf(whole.substr(done, matches.StartOf(match) - done)))) return WF_FAILED;
  }
  if (matches.failed() || !all.Push(BytesOf(whole.substr(done)))) return WF_FAILED;
  *parts = {all.data(), all.size()};
  return 0;
}

extern "C" wf_code wf_n_groups(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* pattern, wf_list* groups) noexcept {
  using namespace wf::nodes;
  Matches matches(ctx, View(*text), pattern);
  if (matches.failed()) return WF_FAILED;
  const auto count = static_cast<uint64_t>(matches.pattern().NumberOfCapturingGroups()) + 1;
  Scratch<re2::StringPiece> pieces(ctx);
  Scratch<wf_bytes> texts(ctx);
  if (!pieces.Reserve(count) || !texts.Reserve(count)) return WF_FAILED;
  if (matches.Next(pieces.data(), static_cast<int>(count))) {
    pieces.Resize(count);
    for (const re2::StringPiece& piece : pieces) texts.Push(BytesOf(TextOf(piece)));
  }
  *groups = {texts.data(), texts.size()};
  return 0;
}

extern "C" wf_code wf_n_replace_all(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* pattern, const wf_bytes* by,
                                    wf_bytes* result) noexcept {
  using namespace wf::nodes;
  Matches matches(ctx, View(*text), pattern);
  if (matches.failed()) return WF_FAILED;
  const int last = re2::RE2::MaxSubmatch(Piece(View(*by))), groups_there = matches.pattern().NumberOfCapturingGroups();
  if (last > groups_there) return Fail(ctx, wf::code::kType, "the replacement wants group %d, and the pattern has %d", last, groups_there);
  std::string error;
  if (!matches.pattern().CheckRewriteString(Piece(View(*by)), &error))
    return Fail(ctx, wf::code::kType, "the replacement has a \\ with neither a digit nor another \\ behind it");
  const int count = 1 + last;
  const std::string_view whole = matches.text();
  std::array<re2::StringPiece, kMostGroups> groups;
  TextBuilder out(ctx);
  size_t done = 0;
  for (; matches.Next(groups.data(), count); done = matches.EndOf(groups[0])) {
    if (!out.Add(whole.substr(done, matches.StartOf(groups[0]) - done)) || !AddReplacement(View(*by), groups.data(), out)) return WF_FAILED;
  }
  if (matches.failed() || !out.Add(whole.substr(done))) return WF_FAILED;
  *result = out.Take();
  return 0;
}
