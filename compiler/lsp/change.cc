#include "compiler/lsp/change.h"

#include <algorithm>

namespace wf::lsp {

void ApplyChange(const json::Value& change, std::string& text) {
  const json::Object* object = change.getAsObject();
  const auto added = object != nullptr ? object->getString("text") : std::nullopt;
  if (!added) return;
  const json::Object* range = object->getObject("range");
  if (range == nullptr) {
    text = added->str();
    return;
  }
  const uint32_t start = ByteOf(text, ReadPosition(range->getObject("start")));
  const uint32_t end = ByteOf(text, ReadPosition(range->getObject("end")));
  text.replace(std::min(start, end), std::max(start, end) - std::min(start, end), added->str());
}

}  // namespace wf::lsp
