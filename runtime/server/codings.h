#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocol/coding/coding.h"
#include "runtime/protocol/http/reply.h"
#include "runtime/server/exchange.h"
#include "runtime/server/workflow_site.h"

// Codings (gzip, deflate, zstd) of what comes and of what leaves, for bodies of HTTP and messages of gRPC alike.
namespace wf::server {

// Of a body that is going to be read: what `content-encoding` says, or a refusal.
void TakeCoding(Exchange& exchange) noexcept;

// Takes the coding off `body`, which is all that came, and goes on with WorkflowSite::OnRequest, now or later; what cannot be taken off, or
// is longer without than bodies may be, is answered. Work for longer than a loop may stand still is done elsewhere.
void TakeCodingOff(WorkflowSite& site, Exchange& exchange, wf_bytes body) noexcept;

// Does its client want the answer coded, when it has so many bytes? `from`: of HTTP, those from which on it is; 0: none.
bool WantsCoding(const Exchange& exchange, uint64_t bytes, uint64_t from) noexcept;
// Codes an answer of HTTP where that is wanted and makes it shorter, and adds the fields that say so. On any thread.
void CodeAnswer(const Exchange& exchange, uint64_t from, wf_sink* body, std::vector<http::Header>* headers);
// Session::Reply with an answer that no workflow gave, coded likewise.
void ReplyCoded(Exchange& exchange, uint64_t from, http::ReplyHead head, wf_sink& body) noexcept;

// False: it would not be shorter, or there is no memory; what `coded` holds then is worth nothing. On any thread.
bool Compress(coding::Coding coding, wf_sink& whole, wf_sink* coded);

void DropCoders() noexcept;  // what this thread keeps of them for bodies to come goes back to the system

}  // namespace wf::server
