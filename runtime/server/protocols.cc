#include "runtime/server/protocols.h"

namespace wf::server {
namespace {

constexpr const ProtocolRow* kRows[] = {
#define PROTOCOL(id, row) &row,
#include "runtime/server/protocols.def"
};

}  // namespace

const ProtocolRow& RowOf(Protocol protocol) { return *kRows[static_cast<size_t>(protocol)]; }

}  // namespace wf::server
