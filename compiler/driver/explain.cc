#include "compiler/driver/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/diag/render.h"
#include "runtime/base/error_codes.h"

namespace wf::driver {
namespace {

// A page holds the bytes of a file that is not text as `@byte(ff)`, for those who try its programs: readers are told that there is one.
std::string WithoutBinaries(std::string_view page) {
  constexpr std::string_view kFence = "```";
  std::string shown;
  while (!page.empty()) {
    const size_t begin = page.find(kFence), end = begin == page.npos ? page.npos : page.find("\n```", begin + kFence.size());
    if (end == page.npos) break;
    const std::string_view block = page.substr(begin, end + 4 - begin), head = block.substr(0, block.find('\n'));
    const std::string_view name = head.substr(head.rfind(' ') + 1);
    shown += page.substr(0, begin);
    if (block.find("@byte(") == block.npos || name.ends_with(".wf") || head.find(' ') == head.rfind(' '))
      shown += block;
    else
      shown += fmt::format("with `{}` beside it, which is not text", name);
    page.remove_prefix(end + 4);
  }
  return shown.append(page);
}

struct AnswerCode {
  int32_t first, last;
  std::string_view name, text;  // no name: one of the class that covers it
};
constexpr AnswerCode kAnswerCodes[] = {
#define CODE(first, last, constant, name, status, text) {first, last, name, text},
#define PART(code, constant, text) {code, code, "", text},
#include "runtime/base/error_codes.def"
};

}  // namespace

std::string AnswerOf(std::string_view digits, bool exact) {
  int32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code);
  if (error != std::errc() || end != digits.data() + digits.size()) return "";
  const auto is_it = [&](const AnswerCode& row) { return code == row.first || (!exact && code > row.first && code <= row.last); };
  if (std::ranges::none_of(kAnswerCodes, is_it)) return "";
  std::string_view name, text, part;
  for (const AnswerCode& row : kAnswerCodes) {
    if (code < row.first || code > row.last) continue;
    if (row.name.empty()) part = row.text;
    if (row.name.empty() || !name.empty()) continue;
    name = row.name;
    text = row.text;
  }
  if (code::IsOfProgram(code)) return fmt::format("An answer with the code {}: {}.\n", code, text);
  return fmt::format("An answer with the code {} (`{}`): {}{}{}.\n", code, name, text, part.empty() ? "" : "; ", part);
}

int ParseCode(std::string_view text) {
  if (text.starts_with("WF") || text.starts_with("wf")) text.remove_prefix(2);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && text.size() == 4 ? number : 0;
}

std::string ErrorPageOf(diag::Code code) {
  const auto pages = ErrorPages();
  const auto number = static_cast<int>(code);
  const auto page = std::lower_bound(pages.begin(), pages.end(), number, [](const ErrorPage& p, int wanted) { return p.number < wanted; });
  return page != pages.end() && page->number == number ? WithoutBinaries(page->text) : std::string();
}

std::string ListOfCodes() {
  std::string list;
  for (const diag::CodeInfo& info : diag::AllCodes()) {
    list += fmt::format("{} {:<7} {}\n", diag::CodeName(info.code), diag::SeverityName(info.severity), diag::AnyMessage(info));
  }
  return list;
}

}  // namespace wf::driver
