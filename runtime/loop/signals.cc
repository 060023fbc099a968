#include "runtime/loop/signals.h"

#include <uv.h>

#include <string>

#include "runtime/base/system_error.h"

namespace wf::loop {

struct Signals::Handle {
  uv_signal_t handle;
};

Signals::Signals(Loop& loop, Listener& listener) : loop_(loop), listener_(listener) {}
Signals::~Signals() = default;

base::Status Signals::Watch(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    uv_signal_t& handle = handles_.emplace_back(std::make_unique<Handle>())->handle;
    uv_signal_init(loop_.uv(), &handle);
    handle.data = this;
    const auto on_signal = [](uv_signal_t* raised, int number) noexcept {
      static_cast<Signals*>(raised->data)->listener_.OnSignal(number);
    };
    if (const int error = uv_signal_start(&handle, on_signal, signal); error != 0) {
      return {base::kInternal, std::string("cannot watch a signal: ") + base::TextOfErrno(-error)};
    }
    uv_unref(reinterpret_cast<uv_handle_t*>(&handle));
  }
  return {};
}

}  // namespace wf::loop
