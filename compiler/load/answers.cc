#include "compiler/load/answers.h"

#include <llhttp.h>

#include <algorithm>

namespace wf::load {

struct Answers::State {
  llhttp_t parser{};
  llhttp_settings_t settings{};
  std::string body;
  bool begun = false, complete = false, keeps_open = false;
  int status = 0;
};

Answers::Answers() : state_(std::make_unique<State>()) {
  static constexpr auto state_of = [](llhttp_t* parser) { return static_cast<State*>(parser->data); };
  llhttp_settings_init(&state_->settings);
  state_->settings.on_message_begin = [](llhttp_t* parser) {
    state_of(parser)->body.clear();
    state_of(parser)->begun = true;
    return 0;
  };
  state_->settings.on_body = [](llhttp_t* parser, const char* at, size_t bytes) {
    std::string& body = state_of(parser)->body;
    body.append(at, std::min(bytes, kKept - body.size()));
    return 0;
  };
  state_->settings.on_message_complete = [](llhttp_t* parser) -> int {
    State& state = *state_of(parser);
    state.begun = false;
    if (parser->status_code < 200) return 0;
    state.complete = true;
    state.status = parser->status_code;
    state.keeps_open = llhttp_should_keep_alive(parser) != 0;
    return HPE_PAUSED;
  };
  Reset();
}
Answers::~Answers() = default;
Answers::Answers(Answers&&) noexcept = default;
Answers& Answers::operator=(Answers&&) noexcept = default;

void Answers::Reset() {
  llhttp_init(&state_->parser, HTTP_RESPONSE, &state_->settings);
  state_->parser.data = state_.get();
  state_->begun = state_->complete = false;
}

Answers::Step Answers::Next(std::span<const char>* input) {
  state_->complete = false;
  const llhttp_errno_t error = llhttp_execute(&state_->parser, input->data(), input->size());
  if (error == HPE_OK) {
    *input = {};
    return Step::kNeedMore;
  }
  if (error != HPE_PAUSED || !state_->complete) return Step::kWrong;
  *input = input->subspan(static_cast<size_t>(llhttp_get_error_pos(&state_->parser) - input->data()));
  llhttp_resume(&state_->parser);
  return Step::kAnswer;
}

Answers::Step Answers::End() {
  state_->complete = false;
  const bool begun = state_->begun;
  const llhttp_errno_t error = llhttp_finish(&state_->parser);
  return begun && state_->complete && (error == HPE_OK || error == HPE_PAUSED) ? Step::kAnswer : Step::kWrong;
}

int Answers::status() const { return state_->status; }
bool Answers::keeps_open() const { return state_->keeps_open; }
const std::string& Answers::body() const { return state_->body; }
const char* Answers::reason() const { return llhttp_get_error_reason(&state_->parser); }

}  // namespace wf::load
