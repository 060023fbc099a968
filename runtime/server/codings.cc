#include "runtime/server/codings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/error_codes.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/text.h"
#include "runtime/protocol/coding/compressor.h"
#include "runtime/protocol/coding/expander.h"
#include "runtime/server/intake.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

using coding::Coding;
using coding::Step;

constexpr size_t kBlockBytes = 16 * 1024;
constexpr http::Header kVary = {"vary", "accept-encoding"};
constexpr http::Header kTaken = {"accept-encoding", "zstd, gzip, deflate"};

constinit thread_local base::PerThread<coding::Expander> expander_of_thread;
constinit thread_local base::PerThread<coding::Compressor> compressor_of_thread;

// Several fields of one name are one list.
std::string_view ListOf(const http::Head& head, std::string_view name, std::string* joined) {
  std::string_view list;
  for (const http::Header& header : head.headers()) {
    if (header.name != name) continue;
    if (list.data() != nullptr) list = *joined = std::string(list) + "," + std::string(header.value);
    if (list.data() == nullptr) list = header.value;
  }
  return list;
}

// What a body is without its coding, as far as it is worth having. kInputParams: it is not coded so; kMemoryCap: it is longer than `most`;
// kRefused: there is no memory; kCancelled: nobody wants it any more.
wf_code Expand(Exchange& exchange, wf_bytes body, uint64_t most) {
  auto& site = static_cast<WorkflowSite&>(*exchange.site);
  coding::Expander& expander = *expander_of_thread;
  Body& expanded = exchange.expanded;
  std::span<const uint8_t> input(body.ptr, body.len);
  bool going = expander.Begin(exchange.coding);
  Step step = going ? Step::kNeedOutput : Step::kNoMemory;
  while (going) {
    if (exchange.elsewhere != nullptr && exchange.elsewhere->abandoned()) return code::kCancelled;
    uint8_t block[kBlockBytes];
    std::span<uint8_t> room(block);
    step = expander.Next(&input, &room);
    const size_t bytes = sizeof block - room.size();
    if (bytes > most - expanded.size()) return code::kMemoryCap;
    const bool has_room = site.GrowClaim(exchange, static_cast<int64_t>(body.len + expanded.size() + bytes));
    if (!has_room || !expanded.Append({block, bytes})) return code::kRefused;
    going = step == Step::kNeedOutput || (step == Step::kEnd && !input.empty());
  }
  if (step == Step::kEnd) return 0;
  return step == Step::kNoMemory ? code::kRefused : code::kInputParams;
}

// With its coding and without it, a body must have room beside nobody; a part is never free, for what idle connections and loops keep.
uint64_t MostOf(const Exchange& exchange, wf_bytes body) {
  constexpr int64_t kNeverFree = 16;  // one part of so many
  const int64_t most = static_cast<WorkflowSite&>(*exchange.site).most_claim();
  const int64_t room = most - most / kNeverFree - static_cast<int64_t>(body.len);
  return std::min(exchange.max_body_bytes, static_cast<uint64_t>(std::max<int64_t>(room, 0)));
}

wf_code ExpandElsewhere(Exchange& exchange, bus::Bus&, wf_bytes body) { return Expand(exchange, body, MostOf(exchange, body)); }

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus&, wf_bytes body, wf_code code) {
  const uint64_t most = MostOf(exchange, body);
  const bool is_zstd = std::exchange(exchange.coding, Coding::kIdentity) == Coding::kZstd;
  exchange.body.Swap(exchange.expanded);
  exchange.expanded.Clear();
  if (code == 0) return site.OnRequest(exchange);
  const std::string what = exchange.grpc.on ? "the message" : "the body";
  if (code == code::kMemoryCap)
    exchange.Refuse(413, code::kInputParams,
                    what + " is larger without its coding than the " + std::to_string(most) + " bytes that are taken");
  else if (code == code::kRefused)
    exchange.RefuseForMemory("there is no memory for " + what + " without its coding");
  else
    exchange.Refuse(400, code::kInputParams,
                    what + " is not coded as `" + (exchange.grpc.on ? "grpc-encoding" : "content-encoding") + "` says, or cut" +
                        (is_zstd ? ", or needs a window above 8 MiB (RFC 9659)" : ""));
  AnswerRefusal(exchange);
}

}  // namespace

void TakeCoding(Exchange& exchange) noexcept {
  std::string joined;
  const std::string_view name = ListOf(exchange.head, "content-encoding", &joined);
  if (name.empty()) return;
  const std::optional<Coding> coding = coding::CodingOfAll(name);
  if (coding) {
    exchange.coding = *coding;
    return;
  }
  base::TextBuilder message;
  message << "a body coded `";
  message.Quote(name) << "`; send it as it is, or with zstd, gzip or deflate";
  exchange.fields.Add(kTaken.name, kTaken.value);
  exchange.Refuse(415, code::kInputParams, message.view());
}

void TakeCodingOff(WorkflowSite& site, Exchange& exchange, wf_bytes body) noexcept {
  const uint64_t most = MostOf(exchange, body), most_here = std::min<uint64_t>(most, site.shared().large_bytes);
  bus::Bus& scratch = site.TakeScratch();
  if (body.len < most_here) {
    const wf_code code = Expand(exchange, body, most_here);
    if (code != code::kMemoryCap || most == most_here) return GoOn(site, exchange, scratch, body, code);
    exchange.expanded.Clear();
  }
  if (site.ReadElsewhere(exchange, body, ExpandElsewhere, GoOn)) return;
  GoOn(site, exchange, scratch, body, Expand(exchange, body, most));
}

bool WantsCoding(const Exchange& exchange, uint64_t bytes, uint64_t from) noexcept {
  if (exchange.grpc.on) return exchange.grpc.coded && exchange.grpc.coding_is_taken;
  if (from == 0 || bytes < from) return false;
  std::string joined;
  return coding::Choose(ListOf(exchange.head, kTaken.name, &joined)) != Coding::kIdentity;
}

void CodeAnswer(const Exchange& exchange, uint64_t from, wf_sink* body, std::vector<http::Header>* headers) {
  if (exchange.grpc.on || from == 0 || body->size() < from || body->failed()) return;
  headers->push_back(kVary);
  std::string joined;
  const Coding coding = coding::Choose(ListOf(exchange.head, kTaken.name, &joined));
  wf_sink coded;
  if (coding == Coding::kIdentity || !Compress(coding, *body, &coded)) return;
  body->Replace(coded);
  headers->push_back({"content-encoding", coding::NameOf(coding)});
}

void ReplyCoded(Exchange& exchange, uint64_t from, http::ReplyHead head, wf_sink& body) noexcept {
  std::vector<http::Header> headers(head.headers.begin(), head.headers.end());
  CodeAnswer(exchange, from, &body, &headers);
  head.headers = headers;
  exchange.session->Reply(exchange, head, body);
}

void DropCoders() noexcept {
  if (coding::Expander* const expander = expander_of_thread.IfMade(); expander != nullptr) expander->DropKept();
  if (coding::Compressor* const compressor = compressor_of_thread.IfMade(); compressor != nullptr) compressor->DropKept();
}

bool Compress(Coding coding, wf_sink& whole, wf_sink* coded) {
  coding::Compressor& compressor = *compressor_of_thread;
  if (!compressor.Begin(coding)) return false;
  const std::span<const base::SinkPiece> pieces = whole.Pieces();
  for (size_t i = 0; i < pieces.size();) {
    if (!base::SinkScope::IsWantedHere()) return false;
    std::span<const uint8_t> input(pieces[i].data, pieces[i].bytes);
    Step step = Step::kNeedOutput;
    while (step == Step::kNeedOutput) {
      uint8_t* const at = coded->Reserve(wf_sink::kMaxReserve);
      if (at == nullptr || coded->size() >= whole.size()) return false;
      std::span<uint8_t> room(at, wf_sink::kMaxReserve);
      step = compressor.Next(&input, i + 1 == pieces.size(), &room);
      coded->Commit(room.data());
    }
    if (step == Step::kEnd) return coded->size() < whole.size();
    if (step != Step::kNeedInput) return false;
    ++i;
  }
  return false;
}

}  // namespace wf::server
