#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/server/exchange.h"

// What a request goes through between its head and the site, and a refusal on its way back: the same whatever version of HTTP it came by.
// Each call may leave a refusal in the exchange; when it is answered is the session's to say.
namespace wf::server {

void TakeHead(Exchange& exchange) noexcept;                      // asks the site; makes room for a body whose length is known
void AnnounceBody(Exchange& exchange, uint64_t bytes) noexcept;  // so much more is on its way: refuses what the site does not take
void TakeBody(Exchange& exchange, std::span<const uint8_t> part) noexcept;  // what nobody reads counts as discarded
void TakeEnd(Exchange& exchange) noexcept;                                  // gives a request that is not refused to the site

inline constexpr int64_t kBodyCheckMs = 5'000;
inline constexpr std::string_view kSlowBody = "the body of the request arrives too slowly";
inline constexpr std::string_view kMemoryShort = "the process has no memory left";
// So often while a body comes. False: it is slow, and now refused.
bool LookAtBody(Exchange& exchange, int64_t least_rate) noexcept;  // bytes a second
bool RefuseLate(Exchange& exchange) noexcept;                      // whose deadline has passed; false: it has not

// Nobody waits for the answer any more, which has not been given.
void TellGone(Exchange& exchange) noexcept;

// REQUIRES: the exchange is refused, or about to be by the session.
void AnswerRefusal(Exchange& exchange) noexcept;

}  // namespace wf::server
