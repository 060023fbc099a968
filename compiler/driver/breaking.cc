#include "compiler/driver/breaking.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/quote.h"
#include "compiler/driver/interface_of.h"
#include "compiler/interface/compare.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"

namespace wf::driver {
namespace {

using interface::Change;
using interface::Impact;

std::string_view WordFor(Impact impact) {
  switch (impact) {
    case Impact::kBreaking:
      return "breaking";
    case Impact::kAddition:
      return "addition";
    case Impact::kDetail:
    case Impact::kNone:
      break;
  }
  return "detail";
}

std::string_view VerdictFor(Impact worst) {
  switch (worst) {
    case Impact::kBreaking:
      return "major";
    case Impact::kAddition:
      return "minor";
    case Impact::kDetail:
    case Impact::kNone:
      break;
  }
  return "patch";
}

std::string Text(const std::vector<Change>& changes, const std::string& input) {
  std::string text;
  for (const Change& change : changes) {
    const std::string place =
        change.place.line == 0 ? input : fmt::format("{}:{}:{}", change.place.file, change.place.line, change.place.column);
    text += fmt::format("{}: {}: {}{}{}\n", place, WordFor(change.impact), change.where, change.where.empty() ? "" : ": ", change.message);
  }
  const auto count = [&](Impact impact) -> uint64_t {
    return std::count_if(changes.begin(), changes.end(), [&](const Change& change) { return change.impact == impact; });
  };
  const std::string_view verdict = VerdictFor(Worst(changes));
  if (changes.empty()) return fmt::format("the interface is the same: {}\n", verdict);
  return text + fmt::format("{} breaking, {}, {}: {}\n", count(Impact::kBreaking), base::Counted(count(Impact::kAddition), "addition"),
                            base::Counted(count(Impact::kDetail), "detail"), verdict);
}

std::string Json(const std::vector<Change>& changes) {
  std::string rows;
  for (const Change& change : changes) {
    rows += fmt::format(R"({}{{"impact":"{}","where":{},"message":{})", rows.empty() ? "" : ",", WordFor(change.impact),
                        base::QuoteJson(change.where), base::QuoteJson(change.message));
    if (change.place.line != 0) {
      rows +=
          fmt::format(R"(,"file":{},"line":{},"column":{})", base::QuoteJson(change.place.file), change.place.line, change.place.column);
    }
    rows += "}";
  }
  return fmt::format(R"({{"verdict":"{}","changes":[{}]}})", VerdictFor(Worst(changes)), rows) + "\n";
}

}  // namespace

int ReportBreaking(const Options& options, Console& console) {
  const auto old = InterfaceOf(options.against, options, console);
  const auto now = InterfaceOf(options.inputs.front(), options, console);
  if (!old || !now) return kProgramHasErrors;
  const std::vector<Change> changes = interface::Compare(*old, *now);
  console.out << (options.format == Format::kJson ? source::SeenJson(Json(changes)) : Text(changes, options.inputs.front()));
  return Worst(changes) == Impact::kBreaking ? kProgramHasErrors : kFine;
}

}  // namespace wf::driver
