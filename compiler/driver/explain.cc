#include "compiler/driver/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/diag/render.h"

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

}  // namespace

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
