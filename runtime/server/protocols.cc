#include "runtime/server/protocols.h"

#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/exchange.h"

namespace wf::server {
namespace {

protocol::Answer WritePlain(Exchange& exchange, wf_sink* body, std::vector<http1::Header>* headers) {
  return plain::WriteAnswer(*exchange.bus, body, headers);
}

protocol::Answer WriteOip(Exchange& exchange, wf_sink* body, std::vector<http1::Header>*) {
  return oip::WriteAnswer(*exchange.bus, *exchange.infer, exchange.oip.model, body);
}

constexpr ProtocolRow kRows[] = {
#define PROTOCOL(id, name, write_error, status_of, write_answer) {name, write_error, status_of, write_answer},
#include "runtime/server/protocols.def"
};

}  // namespace

const ProtocolRow& RowOf(Protocol protocol) { return kRows[static_cast<size_t>(protocol)]; }

}  // namespace wf::server
