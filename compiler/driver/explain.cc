#include "compiler/driver/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/diag/render.h"

namespace wf::driver {

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
  return page != pages.end() && page->number == number ? std::string(page->text) : std::string();
}

std::string ListOfCodes() {
  std::string list;
  for (const diag::CodeInfo& info : diag::AllCodes()) {
    list += fmt::format("{} {:<7} {}\n", diag::CodeName(info.code), diag::SeverityName(info.severity), info.message);
  }
  return list;
}

}  // namespace wf::driver
