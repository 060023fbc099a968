#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/base/status.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/http/head.h"

namespace wf::server {

struct Exchange;
class WorkflowSite;

enum class Protocol : uint8_t {
#define PROTOCOL(id, row) id,
#include "runtime/server/protocols.def"
};

inline constexpr int kProtocols = 0
#define PROTOCOL(id, row) +1
#include "runtime/server/protocols.def"
    ;

// What a protocol does its own way.
// Thread: that of the site's loop, but for write_answer.   Errors: all of them become answers.
struct ProtocolRow {
  std::string_view name;  // the label of metrics
  // Is the path this protocol's? `path` is decoded, empty when it cannot be. True: the exchange is admitted to a workflow, refused, or left
  // to `start` to answer.
  bool (*take_head)(WorkflowSite& site, Exchange& exchange, std::string_view path);
  // The request is complete. Ends in WorkflowSite::Begin, or in an answer.
  void (*start)(WorkflowSite& site, Exchange& exchange, wf_bytes body);
  // What the exchange's bus came to; `headers` are views into the bus. On any thread.
  protocol::Answer (*write_answer)(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers);
  // What a call came to that has no bus, or whose bus does not matter: a body, or fields of the exchange.
  void (*write_error)(Exchange& exchange, const protocol::ErrorText& error, base::StatusCode status, wf_sink* body);
  int (*status_of)(base::StatusCode code);  // of HTTP; of one that has no such statuses, what stands for them in the log
  http::Header retry_soon;                  // of answers that are for load
};

#define PROTOCOL(id, row) extern const ProtocolRow row;
#include "runtime/server/protocols.def"

inline constexpr http::Header kRetryAfter = {"retry-after", "1"};

const ProtocolRow& RowOf(Protocol protocol);

}  // namespace wf::server
