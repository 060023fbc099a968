#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace wf::http {

// Why a server ends a connection: nothing more can be read of it, or it asks for more than it may.
enum class Breach : uint8_t {
  kProtocol,  // what came is not the protocol
  kLimit,     // more came than a limit lets the peer send: of a head, of what frames a body, of what costs it nothing
  kSlow,      // a head, a body or the first frame did not come in time, or an answer was not taken
};
inline constexpr std::string_view kBreaches[] = {"protocol", "limit", "slow"};  // as metrics name them
inline constexpr size_t kBreachCount = std::size(kBreaches);

}  // namespace wf::http
