#include "tests/unit/runtime/protocol/oip/infer.h"

#include <vector>

namespace wf::test {

Infer::Infer(const wf_plan& plan)
    : plan_(plan),
      index_(plan),
      catalogue_(1, plan.n_tasks),
      engine_(plan, index_, {clock_, mailbox_, queue_, memory_}, {.schedule = sched::Schedule::kInline}) {
  engine_.SetCatalogue(catalogue_);
  scratch_.plan_ = &plan;
  scratch_.main.bus = &scratch_;
  scratch_.main.arena = &scratch_.arena;
  scratch_.main.head.stop = &scratch_.stop_word;
  scratch_.arena.Open(memory_, scratch_.budget, 4096 - 64);
}

Infer::~Infer() { scratch_.arena.FreeAll(); }

Infer::Reply Infer::Call(uint32_t workflow, std::string_view text) {
  reply_ = {};
  std::vector<uint8_t> body(text.begin(), text.end());
  body.resize(text.size() + 64);
  const wf_workflow& row = plan_.workflows[workflow];
  scratch_.main.failure = nullptr;
  const wf_code read = request_.Read(scratch_.ctx(), plan_, row, {body.data(), text.size()});
  bus::Bus* const bus =
      engine_.Create({.workflow = &row, .client = this, .samples = read == 0 ? request_.samples() : 1, .received_at = clock_.Now()});
  if (bus == nullptr) return reply_;
  wf_code code = request_.KeepTexts(*bus);
  bus->log_id_ = request_.id();
  bus->metadata = request_.parameters();
  if (read != 0) {
    const bus::Failure& failure = scratch_.main.TakeFailure(read);
    code = bus->main.Fail(failure.code, 0, failure.message).code;
  } else if (code == 0) {
    code = request_.Fill(*bus);
  }
  scratch_.arena.Reset(true);
  if (code != 0)
    engine_.Reject(*bus, code);
  else
    engine_.Start(*bus);
  mailbox_.Drain();
  return reply_;
}

void Infer::OnAnswered(bus::Bus& bus) noexcept {
  wf_sink body;
  const protocol::Answer answer = oip::WriteAnswer(bus, request_, "M", 1, &body);
  reply_ = {answer.status, answer.code, {}, std::string(bus.log_id()), bus.samples(), request_.timeout_ns()};
  for (const base::SinkPiece& piece : body.Pieces()) reply_.text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  engine_.Release(bus);
}

}  // namespace wf::test
