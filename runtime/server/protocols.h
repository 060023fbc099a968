#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/base/status.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/http1/head.h"

namespace wf::server {

struct Exchange;

enum class Protocol : uint8_t {
#define PROTOCOL(id, name, write_error, status_of, write_answer) id,
#include "runtime/server/protocols.def"
};

// How a protocol says what all of them say.
struct ProtocolRow {
  std::string_view name;  // the label of metrics
  void (*write_error)(const protocol::ErrorText& error, wf_sink* body);
  int (*status_of)(base::StatusCode code);
  // What the exchange's bus came to. `headers` are views into the bus.
  protocol::Answer (*write_answer)(Exchange& exchange, wf_sink* body, std::vector<http1::Header>* headers);
};

inline constexpr int kProtocols = 0
#define PROTOCOL(id, name, write_error, status_of, write_answer) +1
#include "runtime/server/protocols.def"
    ;

const ProtocolRow& RowOf(Protocol protocol);

}  // namespace wf::server
