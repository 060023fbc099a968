#include "runtime/kernels/text/tokens.h"

#include <re2/re2.h>
#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace wf::kernels {
namespace {

using base::Result;
using base::Status;
using Use = std::function<void(std::string_view)>;

constexpr int64_t kMostPatternBytes = int64_t{1} << 20;

// Bytes of the character that `text`, which is not empty, begins with; a byte that is no UTF-8 is one.
size_t FirstCharacter(std::string_view text) {
  utf8proc_int32_t point = -1;
  const auto size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()), &point);
  return size <= 0 ? 1 : static_cast<size_t>(size);
}

bool HasCharacters(std::string_view text, int64_t least) {
  for (; least > 0 && !text.empty(); --least) text.remove_prefix(FirstCharacter(text));
  return least <= 0;
}

class Patterns final : public Tokeniser {
 public:
  Patterns(bool splits, int64_t least) : splits_(splits), least_(least) {}

  Status Add(const std::string& pattern) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMostPatternBytes);
    patterns_.push_back(std::make_unique<re2::RE2>(pattern, options));
    if (patterns_.back()->ok()) return Status::Ok();
    return Status(base::kUnimplemented, "a pattern that is none of RE2: " + patterns_.back()->error());
  }

  void ForEach(std::string_view text, const Use& use) const override {
    std::vector<std::string_view> parts = {text};
    for (const auto& pattern : patterns_) {
      std::vector<std::string_view> next;
      for (const std::string_view part : parts) Take(*pattern, part, next);
      parts = std::move(next);
    }
    for (const std::string_view part : parts) use(part);
  }

 private:
  void Keep(std::string_view token, std::vector<std::string_view>& out) const {
    if (HasCharacters(token, least_)) out.push_back(token);
  }

  void Take(const re2::RE2& pattern, std::string_view text, std::vector<std::string_view>& out) const {
    if (text.empty()) return;
    const re2::StringPiece whole(text.data(), text.size());
    re2::StringPiece match;
    size_t at = 0;
    while (at < text.size() && pattern.Match(whole, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
      const size_t begin = static_cast<size_t>(match.data() - text.data()), end = begin + match.size();
      Keep(splits_ ? text.substr(at, begin - at) : text.substr(begin, end - begin), out);
      at = match.empty() ? end + (end < text.size() ? FirstCharacter(text.substr(end)) : 1) : end;
    }
    if (splits_ && at < text.size()) Keep(text.substr(at), out);
  }

  const bool splits_;
  const int64_t least_;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
};

class Characters final : public Tokeniser {
 public:
  void ForEach(std::string_view text, const Use& use) const override {
    while (!text.empty()) {
      const size_t size = FirstCharacter(text);
      use(text.substr(0, size));
      text.remove_prefix(size);
    }
  }
};

}  // namespace

Result<std::unique_ptr<Tokeniser>> Tokeniser::Make(std::span<const std::string> separators, const std::string& expression, int64_t least) {
  if (separators.size() == 1 && separators[0].empty()) return std::unique_ptr<Tokeniser>(std::make_unique<Characters>());
  auto patterns = std::make_unique<Patterns>(!separators.empty(), least);
  for (const std::string& each : separators) WF_RETURN_IF_ERROR(patterns->Add(each));
  if (separators.empty()) WF_RETURN_IF_ERROR(patterns->Add(expression));
  return std::unique_ptr<Tokeniser>(std::move(patterns));
}

}  // namespace wf::kernels
