#include "runtime/protocol/oip/outcome.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace wf::oip {

std::string_view Keep(bus::Bus& bus, std::string_view text, std::string_view more) {
  auto* const kept = static_cast<char*>(wf_alloc(bus.ctx(), text.size() + more.size() + 1, 1));
  if (kept == nullptr) return {};
  std::copy(more.begin(), more.end(), std::copy(text.begin(), text.end(), kept));
  return {kept, text.size() + more.size()};
}

std::vector<const bus::Annotation*> StandingAnnotations(const bus::Bus& bus) {
  std::vector<const bus::Annotation*> standing;
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    const auto same = std::find_if(standing.begin(), standing.end(), [at](const bus::Annotation* other) { return other->key == at->key; });
    if (same == standing.end())
      standing.push_back(at);
    else if (at->place > (*same)->place)
      *same = at;
  }
  return standing;
}

protocol::ErrorText FailureOf(bus::Bus& bus, const bus::Failure& failure, const InferRequest& request) {
  const protocol::CodeInfo info = protocol::InfoOf(bus.plan(), failure.code);
  protocol::ErrorText error = {failure.code, info.name, base::Cut(failure.message, protocol::kMostMessage)};
  if (request.stacked() && failure.task != WF_NONE) {
    base::TextBuilder begin;
    begin << "sample " << failure.sample << ": ";
    const std::string_view kept = Keep(bus, begin.view(), error.text());
    if (!kept.empty()) error.message = kept;
  }
  error.path = bus.PathOf(failure);
  error.data_id = bus.data_id();
  error.log_id = bus.log_id();
  return error;
}

}  // namespace wf::oip
