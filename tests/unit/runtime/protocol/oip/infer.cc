#include "tests/unit/runtime/protocol/oip/infer.h"

#include <algorithm>
#include <cstring>

#include "runtime/protocol/oip/message_answer.h"
#include "runtime/protocol/oip/message_reader.h"

namespace wf::test {

Infer::Infer(const wf_plan& plan)
    : plan_(plan),
      index_(plan),
      catalogue_(1, plan.n_tasks),
      engine_(plan, index_, {clock_, mailbox_, queue_, memory_}, {.schedule = sched::Schedule::kInline}),
      scratch_(plan) {
  engine_.SetCatalogue(catalogue_);
}

// The byte at `aligned` is aligned to 64.
void Infer::PutBody(std::string_view text, uint64_t aligned) {
  constexpr uint64_t kAlign = 64;
  memory_of_body_.assign(kAlign + text.size() + kAlign, 0);
  uint8_t* const body =
      memory_of_body_.data() + (kAlign - (reinterpret_cast<uintptr_t>(memory_of_body_.data()) + aligned) % kAlign) % kAlign;
  std::copy(text.begin(), text.end(), body);
  body_ = {body, text.size()};
}

Infer::Reply Infer::Call(uint32_t workflow, std::string_view text, int64_t json_bytes) {
  PutBody(text, static_cast<uint64_t>(std::max<int64_t>(json_bytes, 0)));
  is_message_ = false;
  return Serve(workflow, oip::ReadRest(&request_, scratch_.ctx(), plan_, plan_.workflows[workflow], {body_, json_bytes}));
}

Infer::Reply Infer::CallMessage(uint32_t workflow, std::string_view message) {
  PutBody(message, 0);
  is_message_ = true;
  return Serve(workflow, oip::ReadMessage(&request_, scratch_.ctx(), plan_, plan_.workflows[workflow], body_));
}

Infer::Reply Infer::Serve(uint32_t workflow, wf_code read) {
  reply_ = {};
  const wf_workflow& row = plan_.workflows[workflow];
  bus::Bus* const bus =
      engine_.Create({.workflow = &row, .client = this, .samples = read == 0 ? request_.samples() : 1, .received_at = clock_.Now()});
  if (bus == nullptr) return reply_;
  wf_code code = request_.KeepTexts(*bus);
  bus->log_id_ = request_.id();
  bus->metadata = request_.parameters();
  if (read != 0) {
    const bus::Failure& failure = scratch_.TakeFailure(read);
    code = bus->main.Fail(failure.code, 0, failure.message).code;
  } else if (code == 0) {
    reply_.fill_bytes = request_.fill_bytes();
    code = request_.Fill(*bus);
  }
  scratch_.Reset();
  if (code != 0)
    engine_.Reject(*bus, code);
  else
    engine_.Start(*bus);
  mailbox_.Drain();
  return reply_;
}

int Infer::CountBorrowed(const bus::Bus& bus) const {
  int count = 0;
  for (uint32_t s = 0; s < bus.samples(); ++s) {
    for (uint32_t i = 0; i < bus.workflow().n_in; ++i) {
      const wf_port& port = bus.workflow().in[i];
      if (plan_.types[port.type].kind != WF_T_TENSOR) continue;
      wf_tensor tensor;
      std::memcpy(&tensor, static_cast<const std::byte*>(bus.frame(s)) + plan_.slots[port.slot].offset, sizeof tensor);
      const auto* data = static_cast<const uint8_t*>(tensor.data);
      count += data >= body_.ptr && data < body_.ptr + body_.len ? 1 : 0;
    }
  }
  return count;
}

void Infer::WriteRest(bus::Bus& bus, wf_sink* body) {
  std::vector<http::Header> headers;
  const protocol::Answer answer = oip::WriteAnswer(bus, request_, {"M", 1}, body, &headers);
  reply_.status = answer.status;
  reply_.code = answer.code;
  reply_.content_type = answer.content_type;
  if (!headers.empty()) reply_.json_bytes = headers[0].value;
}

void Infer::WriteMessage(bus::Bus& bus, wf_sink* body) {
  protocol::ErrorText error;
  if (oip::WriteMessage(bus, request_, {"M", 1}, body, &error)) return;
  reply_.code = error.code;
  reply_.text = error.message;
}

void Infer::OnAnswered(bus::Bus& bus) noexcept {
  wf_sink body;
  Write(bus, &body);
  reply_.log_id = bus.log_id();
  reply_.samples = bus.samples();
  reply_.timeout_ns = request_.timeout_ns();
  reply_.borrowed = bus.failure() == nullptr ? CountBorrowed(bus) : 0;
  for (const base::SinkPiece& piece : body.Pieces()) reply_.text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  engine_.Release(bus);
}

}  // namespace wf::test
