#include "compiler/parse/direction.h"

#include <fmt/format.h>

#include <vector>

#include "compiler/base/utf8.h"

namespace wf::parse {
namespace {

// All of them are three bytes that begin so.
constexpr std::string_view kLead = "\xE2\x80", kOtherLead = "\xE2\x81";
constexpr size_t kLength = 3;

struct Found {
  char32_t character;
  size_t at;
};

std::vector<Found> FindAll(std::string_view token) {
  std::vector<Found> found;
  for (size_t at = token.find('\xE2'); at != token.npos; at = token.find('\xE2', at + 1)) {
    const std::string_view rest = token.substr(at);
    if (!rest.starts_with(kLead) && !rest.starts_with(kOtherLead)) continue;
    const char32_t character = source::DecodeUtf8(rest).value;
    if (source::TurnsDirection(character)) found.push_back({character, at});
  }
  return found;
}

const char* NameOf(Kind kind) { return kind == Kind::kComment ? "a comment" : "a string"; }

}  // namespace

bool CheckDirection(std::string_view token, const source::Span& span, Kind kind, diag::Emitter& emitter) {
  const std::vector<Found> all = FindAll(token);
  if (all.empty()) return true;
  const auto place = [&](const Found& one) {
    const uint32_t begin = span.begin + static_cast<uint32_t>(one.at);
    return source::Span{span.file, begin, begin + static_cast<uint32_t>(kLength)};
  };
  const auto escape = [](const Found& one) { return fmt::format("\\u{{{:X}}}", static_cast<uint32_t>(one.character)); };
  auto built = emitter.Emit(place(all.front()), diag::kTurnedText,
                            {fmt::format("U+{:04X}", static_cast<uint32_t>(all.front().character)), NameOf(kind)});
  if (kind == Kind::kString) {
    built.Help("where the text needs it, it is written `" + escape(all.front()) + "`");
    for (const Found& one : all) built.Fix(place(one), escape(one));
  } else if (kind == Kind::kRawString) {
    built.Help("a string without `r` has it as `" + escape(all.front()) + "`");
  } else {
    built.Help("take it out");
    for (const Found& one : all) built.Fix(place(one), "");
  }
  return false;
}

}  // namespace wf::parse
