#pragma once

#include <functional>

namespace wf::bench {

// The least that a server of two threads does: one waits for requests by epoll and hands them over, the other does `work` for each, and the
// first sends a constant answer. Nothing is parsed: a request is what one read brings, so clients send each in one piece and wait for its
// answer. Prints its port in a line, then serves for ever. What a server with a pool is measured against where both share one core: what
// the switches between its threads cost is the system's.
[[noreturn]] void ServeBare(const std::function<void()>& work);

}  // namespace wf::bench
