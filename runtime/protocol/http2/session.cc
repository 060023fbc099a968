#include "runtime/protocol/http2/session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "runtime/base/ascii.h"
#include "runtime/base/check.h"
#include "runtime/base/reserve.h"
#include "runtime/protocol/http/target.h"
#include "runtime/protocol/http2/blocks.h"
#include "runtime/protocol/http2/callbacks.h"

namespace wf::http2 {
namespace {

// nghttp2's own bounds beside ours.
constexpr size_t kMaxContinuations = 8, kMaxSettings = 32, kMaxAcks = 1000;
constexpr uint64_t kNoLimit = 1'000'000'000;
constexpr uint32_t kMaxFrameBytes = 16'384;  // what SETTINGS_MAX_FRAME_SIZE is where nobody sets it

void* Allocate(size_t bytes, void* held) { return static_cast<Held*>(held)->Take(bytes); }
void Free(void* block, void* held) { static_cast<Held*>(held)->Give(block); }
void* AllocateZeros(size_t count, size_t bytes, void* held) {
  void* const block = Allocate(count * bytes, held);
  return block == nullptr ? nullptr : std::memset(block, 0, count * bytes);
}
void* Reallocate(void* block, size_t bytes, void* held) { return static_cast<Held*>(held)->Resize(block, bytes); }

int64_t ContentLength(const http::Head& head, bool ended) {
  const std::string_view text = head.Find("content-length");
  int64_t length = 0;
  if (ended || text.empty()) return ended ? 0 : -1;
  return std::from_chars(text.data(), text.data() + text.size(), length).ec == std::errc() ? length : INT64_MAX;
}

// What nghttp2 leaves open. Empty: nothing is wrong with it. CONNECT has no scheme.
std::string_view WhyNoRequest(const http::Head& head, std::string_view authority, std::string_view scheme) {
  if (!scheme.empty() && !http::IsScheme(scheme)) return http::kOtherScheme;
  const std::string_view host = head.Find("host");
  if (!authority.empty() && !host.empty() && !base::EqualIgnoringCase(authority, host))
    return "the header Host names another host than :authority";
  const std::string_view named = authority.empty() ? host : authority;
  if (!named.empty() && !http::IsHost(named)) return "the authority holds no name or address of a host";
  if (head.SaysTwo("content-type")) return http::kTwoTypes;
  return http::WhyNoTarget(head.target);
}

}  // namespace

struct Pool::Parts {
  Parts() {
    base::Reserve::Insist([this] { return nghttp2_session_callbacks_new(&callbacks) == 0 ? callbacks : nullptr; });
    base::Reserve::Insist([this] { return nghttp2_option_new(&option) == 0 ? option : nullptr; });
    Callbacks::SetAll(callbacks);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_continuations(option, kMaxContinuations);
    nghttp2_option_set_max_settings(option, kMaxSettings);
    nghttp2_option_set_max_outbound_ack(option, kMaxAcks);
    nghttp2_option_set_stream_reset_rate_limit(option, kNoLimit, kNoLimit);  // ours counts resets with the rest
  }
  ~Parts() {
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
  }
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  Blocks blocks;
  std::vector<FrameHead> in_read;  // of the bytes being read, those that have fields
};

Pool::Pool() : parts_(std::make_unique<Parts>()) {}

Pool::~Pool() { DropIdle(); }

void Pool::DropIdle() noexcept {
  while (idle_ != nullptr) delete std::exchange(idle_, idle_->next_);
  idle_count_ = 0;
  parts_->blocks.DropKept();
}

Stream* Pool::Take() noexcept {
  if (idle_ == nullptr) return new (std::nothrow) Stream;
  Stream* const stream = idle_;
  idle_ = stream->next_;
  --idle_count_;
  stream->next_ = nullptr;
  return stream;
}

void Pool::Give(Stream& stream) noexcept {
  if (idle_count_ == kMaxIdle || base::Reserve::memory_is_short()) {
    delete &stream;
    return;
  }
  stream.user = nullptr;
  stream.head_ = nullptr;
  stream.head_passes_ = {};
  stream.refused_ = stream.ended_ = stream.answer_ended_ = stream.lingers_ = false;
  stream.lingered_ = 0;
  stream.body_.Clear();
  stream.trailers_.Clear();
  stream.untaken_ = 0;
  stream.sent_ = 0;
  stream.sent_before_ = UINT64_MAX;
  stream.due_at_ms_ = 0;
  stream.previous_ = nullptr;
  stream.next_ = idle_;
  idle_ = &stream;
  ++idle_count_;
}

Session::Session(Pool& pool, User& user) : pool_(pool), user_(user), held_(pool.parts_->blocks), budget_(0) {}

bool Session::Open(const Limits& limits) noexcept {
  limits_ = limits;
  budget_ = base::Budget(limits.control_frames);
  frames_ = FrameHeads();
  repeats_.Open();
  writer_.Open();
  before_ack_.Clear();
  unacknowledged_ = 0;
  table_bytes_ = list_bytes_ = UINT32_MAX;
  stream_ends_ = StreamEnds();
  idle_resets_ = IdleResets();
  passes_ = 0;
  in_block_ = of_fields_ = broken_ = ended_ = false;
  why_ = {};
  ends_ = 0;
  greeted_ = sent_since_ping_ = breached_ = warned_ = false;
  Pool::Parts& parts = *pool_.parts_;
  nghttp2_mem memory = {&held_, Allocate, Free, AllocateZeros, Reallocate};  // copied
  if (nghttp2_session_server_new3(&session_, parts.callbacks, this, parts.option, &memory) != 0) {
    held_.GiveAll();
    session_ = nullptr;
    return false;
  }
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.head.head_bytes)},
                                             {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  return nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0 &&
         nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, static_cast<int32_t>(limits.connection_window)) == 0;
}

void Session::Close() noexcept {
  if (session_ == nullptr) return;
  while (first_ != nullptr) CloseStream(*first_);
  if (!broken_) nghttp2_session_del(session_);
  held_.GiveAll();
  session_ = nullptr;
  field_bytes_ = 0;
  writer_.Open();
  before_ack_.Clear();
}

Stream* Session::Find(int32_t id) noexcept {
  if (latest_ != nullptr && latest_->id_ == id) return latest_;
  latest_ = broken_ ? nullptr : static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id));
  return latest_;
}

// What was not taken of a body never will be: the window of the connection has room for it again.
void Session::CloseStream(Stream& stream) noexcept {
  user_.OnClosed(stream);
  if (reading_ == &stream) reading_ = nullptr;
  if (latest_ == &stream) latest_ = nullptr;
  if (!broken_) nghttp2_session_set_stream_user_data(session_, stream.id_, nullptr);
  body_blocks_ -= stream.body_.block_bytes();
  if (stream.untaken_ != 0) Ask([&] { return nghttp2_session_consume_connection(session_, stream.untaken_); });
  (stream.previous_ == nullptr ? first_ : stream.previous_->next_) = stream.next_;
  if (stream.next_ != nullptr) stream.next_->previous_ = stream.previous_;
  --open_;
  pool_.Give(stream);
}

// Nobody reads it: its window stays as it is, so that it ends, that of the connection has room for others.
void Session::Drop(size_t bytes) noexcept {
  Ask([&] { return nghttp2_session_consume_connection(session_, bytes); });
}

void Session::set_head_limits(const http::Limits& limits) noexcept {
  if (limits == limits_.head || reading_ != nullptr) return;  // one that has begun goes by those before, and the next ones a read later
  limits_.head = limits;
  constexpr uint32_t kNone = 0;
  repeats_.Pass(kNone);  // a head that is known was short enough for those before
}

bool Session::Receive(std::span<const uint8_t> bytes, int64_t now_ms) noexcept {
  if (broken_) return false;
  now_ms_ = now_ms;
  std::vector<FrameHead>& heads = pool_.parts_->in_read;
  heads.clear();
  const FrameHeads::Part before = frames_.part();
  frames_.Feed(bytes, [&](const FrameHead& head) {
    const bool is_idle_reset = head.type == NGHTTP2_RST_STREAM && stream_ends_.IsIdle(head.stream);
    OnFrameHead(head);
    if (head.type == NGHTTP2_HEADERS || head.type == NGHTTP2_CONTINUATION || is_idle_reset) heads.push_back(head);
  });
  const int64_t read = ReadAll(before, bytes);
  CountField(bytes.size());
  for (; ends_ > 0; --ends_) Spend();
  if (read >= 0) return !ended_ && nghttp2_session_want_read(session_) != 0;
  broken_ = broken_ || read == NGHTTP2_ERR_NOMEM || read == NGHTTP2_ERR_CALLBACK_FAILURE;
  if (broken_) return false;
  if (read == NGHTTP2_ERR_FLOODED || read == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
    Terminate(NGHTTP2_ENHANCE_YOUR_CALM, http::Breach::kLimit, "too many frames that wait for an answer, or continuations of a head");
  } else if (read == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
    Terminate(NGHTTP2_PROTOCOL_ERROR, http::Breach::kProtocol, "the connection does not begin with the preface of HTTP/2");
  } else {
    EndWith(NGHTTP2_INTERNAL_ERROR);
  }
  return false;
}

// Of a read of so many bytes.
void Session::CountField(size_t bytes) noexcept {
  constexpr size_t kMostBytes = 64 * 1024;  // more ends the connection
  const bool is_whole = !in_block_ && !(of_fields_ && frames_.to_come() > 0);
  const std::vector<FrameHead>& heads = pool_.parts_->in_read;
  const auto begins = std::find_if(heads.rbegin(), heads.rend(), [](const FrameHead& head) { return head.type == NGHTTP2_HEADERS; });
  const size_t before = begins == heads.rend() ? 0 : begins->payload_at;  // what stands before the head is no part of it
  field_bytes_ = is_whole ? 0 : std::min(field_bytes_ + bytes - std::min(before, bytes), kMostBytes);
}

// nghttp2 gets the head of a frame once it is whole: `before` is what came of one with earlier bytes. Thus a frame can be passed over.
int64_t Session::ReadAll(const FrameHeads::Part& before, std::span<const uint8_t> bytes) noexcept {
  const size_t behind = frames_.part().size;
  if (behind >= bytes.size()) return 0;
  std::span<const uint8_t> first(before.bytes.data(), before.size);
  size_t from = std::min(passes_, bytes.size());
  passes_ -= from;
  int64_t read = 0;
  for (const FrameHead& head : pool_.parts_->in_read) {
    const bool is_reset = head.type == NGHTTP2_RST_STREAM;
    if (!is_reset && !IsRepeated(head, bytes)) continue;
    if (head.payload_at >= kFrameHeadBytes) {  // it begins here
      const size_t at = head.payload_at - kFrameHeadBytes;
      read = Read(first);
      if (read >= 0) read = Read(bytes.subspan(from, at - from));
      if (read < 0) return read;
      first = {};
      from = at;
    }
    if (is_reset && !IsPassedOver(head)) continue;
    if (!is_reset) read = ReadStandIn(head);
    if (read < 0) return read;
    first = {};
    from = std::min(bytes.size(), head.payload_at + head.length);
    passes_ = head.payload_at + head.length - from;
  }
  read = Read(first);
  return read < 0 ? read : Read(bytes.subspan(from, bytes.size() - behind - from));
}

bool Session::IsPassedOver(const FrameHead& head) noexcept {
  constexpr uint32_t kResetBytes = 4;  // another length is a mistake of its own
  return head.length == kResetBytes && idle_resets_.Take();
}

int64_t Session::Read(std::span<const uint8_t> bytes) noexcept {
  if (broken_) return NGHTTP2_ERR_NOMEM;
  return bytes.empty() ? 0 : nghttp2_session_mem_recv(session_, bytes.data(), bytes.size());
}

bool Session::IsRepeated(const FrameHead& head, std::span<const uint8_t> bytes) noexcept {
  const bool whole = (head.flags & ~NGHTTP2_FLAG_END_STREAM) == NGHTTP2_FLAG_END_HEADERS && head.type == NGHTTP2_HEADERS &&
                     head.payload_at >= kFrameHeadBytes && head.length <= bytes.size() - head.payload_at;
  if (whole) return repeats_.Take(bytes.subspan(head.payload_at, head.length), head.stream);
  repeats_.Pass(head.stream);
  return false;
}

int64_t Session::ReadStandIn(const FrameHead& head) noexcept {
  const std::span<const uint8_t> block = repeats_.stand_in();
  const auto byte = [&head](int shift) { return static_cast<uint8_t>(head.stream >> shift); };
  std::array<uint8_t, kFrameHeadBytes + Repeats::kMostStandIn> frame = {
      0, 0, static_cast<uint8_t>(block.size()), head.type, head.flags, byte(24), byte(16), byte(8), byte(0)};
  std::ranges::copy(block, frame.begin() + kFrameHeadBytes);
  repeats_one_ = true;
  const int64_t read = Read(std::span(frame).first(kFrameHeadBytes + block.size()));
  repeats_one_ = false;
  return read;
}

void Session::Note(int result) noexcept { broken_ = nghttp2_is_fatal(result) != 0; }

void Session::Terminate(uint32_t error, http::Breach breach, std::string_view why) noexcept {
  if (!ended_) why_ = why;
  TellBreach(breach, why);
  EndWith(error);
}

void Session::EndWith(uint32_t error) noexcept {
  ended_ = true;
  reading_ = nullptr;  // its head is the user's, who gives up what is under way
  Ask([&] { return nghttp2_session_terminate_session(session_, error); });
}

void Session::TellBreach(http::Breach breach, std::string_view why) noexcept {
  if (!std::exchange(breached_, true)) user_.OnBreach(breach, why);
}

// What nghttp2 takes, or passes over, and RFC 9113 does not: frames that are too large behind HEADERS (4.2), PRIORITY of the connection
// (6.3), what comes for a stream that the peer itself has ended, and one that it had passed over (5.1, 5.1.1).
Session::Mistake Session::MistakeOf(const FrameHead& head) noexcept {
  constexpr Mistake kNone = {};
  if (head.length > kMaxFrameBytes) return {NGHTTP2_FRAME_SIZE_ERROR, "a frame of more than 16,384 bytes"};
  if (in_block_ != (head.type == NGHTTP2_CONTINUATION))
    return {NGHTTP2_PROTOCOL_ERROR, in_block_ ? "another frame before the last CONTINUATION of a head" : "CONTINUATION behind no HEADERS"};
  if (head.type == NGHTTP2_HEADERS || in_block_) in_block_ = (head.flags & NGHTTP2_FLAG_END_HEADERS) == 0;
  if (head.type == NGHTTP2_PRIORITY && head.stream == 0) return {NGHTTP2_PROTOCOL_ERROR, "PRIORITY of stream 0"};
  if (head.type > NGHTTP2_RST_STREAM || head.type == NGHTTP2_PRIORITY) return kNone;
  const auto kind = head.type == NGHTTP2_DATA      ? StreamEnds::Kind::kData
                    : head.type == NGHTTP2_HEADERS ? StreamEnds::Kind::kHeaders
                                                   : StreamEnds::Kind::kReset;
  const StreamEnds::Told told = stream_ends_.Take(kind, head.stream, (head.flags & NGHTTP2_FLAG_END_STREAM) != 0);
  if (told == StreamEnds::Told::kPassedOver) return {NGHTTP2_PROTOCOL_ERROR, "a frame of a stream that was passed over"};
  return told == StreamEnds::Told::kEnded ? Mistake{NGHTTP2_STREAM_CLOSED, "a frame of a stream that its client has ended"} : kNone;
}

// What asks for nothing that would be paid for elsewhere. nghttp2 tells only of what it takes: frames of other types, and those of streams
// that are gone, it passes over. Clients ping for each answer that comes, to measure the line: that is free.
void Session::OnFrameHead(const FrameHead& head) noexcept {
  greeted_ = true;
  of_fields_ = head.type == NGHTTP2_HEADERS || head.type == NGHTTP2_CONTINUATION;
  if (const Mistake mistake = MistakeOf(head); mistake.error != NGHTTP2_NO_ERROR)
    return Terminate(mistake.error, http::Breach::kProtocol, mistake.why);
  switch (head.type) {
    case NGHTTP2_PING:
      if (sent_since_ping_ && (head.flags & NGHTTP2_FLAG_ACK) == 0) {
        sent_since_ping_ = false;
        return;
      }
      break;
    case NGHTTP2_DATA:
      if (head.length != 0) return;
      if ((head.flags & NGHTTP2_FLAG_END_STREAM) == 0) break;
      ++ends_;
      return;
    case NGHTTP2_HEADERS:
    case NGHTTP2_WINDOW_UPDATE:
      return;
    case NGHTTP2_SETTINGS:
      if ((head.flags & NGHTTP2_FLAG_ACK) != 0) return;
      break;
    case NGHTTP2_RST_STREAM: {  // of a request that is answered: it spares us the rest
      const Stream* const stream = Find(static_cast<int32_t>(head.stream));
      if (stream != nullptr && stream->lingers_) return;
      break;
    }
    default:
      break;
  }
  Spend();
}

// That a stream took: nothing but padding is nothing, the end of a body is something.
void Session::OnDataFrame(size_t length, size_t padding, bool ends) noexcept {
  if (ends && length == 0) --ends_;
  if (!ends && length != 0 && length == padding) Spend();
}

// A client of gRPC that cancels a lot is asked to go on with another connection before this one ends under its other calls. Of other
// clients many lose what is under way with the question, too.
void Session::Spend() noexcept {
  if (budget_.Spend(now_ms_)) {
    if (budget_.is_low() && idle_resets_.speaks_grpc() && !std::exchange(warned_, true)) Warn();
    return;
  }
  Terminate(NGHTTP2_ENHANCE_YOUR_CALM, http::Breach::kLimit, "more resets, pings and their like than `limits.control_frames`");
}

void Session::FinishRepeated(Stream& stream) noexcept {
  http::Head& head = *stream.head_;
  stream.head_ = nullptr;
  reading_ = nullptr;
  if (!head.CopyOf(repeats_.head())) return RefuseHead(stream, http::kNoMemory, http::kNoMemoryForHead);
  head.content_length = stream.ended_ ? 0 : repeats_.length();
  user_.OnHead(stream);
}

// The pseudo fields come first, and each at most once: nghttp2 has seen to that.
void Session::FinishHead(Stream& stream) noexcept {
  http::Head& head = *stream.head_;
  stream.head_ = nullptr;
  reading_ = nullptr;
  if (!stream.head_passes_.empty())
    return RefuseHead(stream, stream.head_passes_ == http::kNoMemoryForHead ? http::kNoMemory : 431, stream.head_passes_);
  std::string_view authority, scheme;
  size_t pseudo = 0;
  for (const http::Header& header : head.headers()) {
    if (!header.name.starts_with(':')) break;
    ++pseudo;
    if (header.name == ":method") head.method_name = header.value;
    if (header.name == ":path") head.target = header.value;
    if (header.name == ":authority") authority = header.value;
    if (header.name == ":scheme") scheme = header.value;
  }
  head.method = http::MethodOf(head.method_name);
  head.SetPathAndQuery(head.target);
  head.keep_alive = true;
  head.content_length = ContentLength(head, stream.ended_);
  head.DropFirst(pseudo);
  if (!head.JoinCookies()) return RefuseHead(stream, http::kNoMemory, http::kNoMemoryForHead);
  if (!idle_resets_.OnRequest(head.Find("content-type").starts_with("application/grpc"))) {
    stream.refused_ = true;  // it is not begun
    return Terminate(NGHTTP2_PROTOCOL_ERROR, http::Breach::kProtocol, "RST_STREAM of a stream that is idle");
  }
  if (head.method_name.size() + head.target.size() > limits_.head.request_line_bytes)
    return RefuseHead(stream, 414, "the method and the path are too long");
  for (const http::Header& header : head.headers()) {
    if (header.name != "expect") continue;
    if (!base::EqualIgnoringCase(header.value, "100-continue")) return RefuseHead(stream, 417, "an expectation other than `100-continue`");
    head.expects_continue = true;
  }
  if (const std::string_view reason = WhyNoRequest(head, authority, scheme); !reason.empty()) return RefuseHead(stream, 400, reason);
  if (!authority.empty() && head.Find("host").data() == nullptr) head.AddLast({"host", authority});
  if (repeats_.wants(static_cast<uint32_t>(stream.id_))) repeats_.Learn(head, scheme);
  user_.OnHead(stream);
}

// A block of a few bytes may unpack to many, which cost what they are: each so many of them are one mistake more.
void Session::RefuseHead(Stream& stream, int status, std::string_view reason) noexcept {
  constexpr size_t kMistakeBytes = 4 * 1024;
  stream.refused_ = true;
  if (status == http::kNoMemory) return user_.OnBadHead(stream, status, reason);
  for (size_t paid = 0; paid <= block_bytes_; paid += kMistakeBytes) Spend();
  user_.OnBadHead(stream, status, reason);
}

void Session::DropHead() noexcept {
  if (reading_ == nullptr || !reading_->head_passes_.empty()) return;
  reading_->head_passes_ = http::kNoMemoryForHead;
  reading_->head_->Free();
}

void Session::Consume(Stream& stream, size_t bytes) noexcept {
  stream.untaken_ -= bytes;
  Ask([&] { return nghttp2_session_consume(session_, stream.id_, bytes); });
}

void Session::Reset(Stream& stream) noexcept {
  Ask([&] { return nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, NGHTTP2_CANCEL); });
}

void Session::Warn() noexcept {
  Ask([&] { return nghttp2_submit_shutdown_notice(session_); });
}

void Session::GoAway() noexcept {
  Ask([&] {
    return nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR, nullptr,
                                 0);
  });
}

void Session::Fail() noexcept { Terminate(NGHTTP2_PROTOCOL_ERROR, http::Breach::kSlow, "the head of a request did not arrive in time"); }

void Session::ResetStalled(uint64_t least) noexcept {
  const auto has_waited = [](const Stream& stream) { return !stream.body_.empty() && stream.sent_before_ != UINT64_MAX; };
  uint64_t sent = 0;
  ForEach([&](Stream& stream) { sent += has_waited(stream) ? stream.sent_ - stream.sent_before_ : 0; });
  ForEach([&](Stream& stream) {
    if (has_waited(stream) && (stream.sent_ == stream.sent_before_ || sent < least)) Reset(stream);
    stream.sent_before_ = stream.body_.empty() ? UINT64_MAX : stream.sent_;
  });
}

void Session::ResetOverdue(int64_t now_ms, int64_t most_ms) noexcept {
  const auto now = static_cast<uint64_t>(now_ms);
  ForEach([&](Stream& stream) {
    if (stream.body_.empty()) {
      stream.due_at_ms_ = 0;
    } else if (stream.due_at_ms_ == 0 || stream.sent_ >= stream.due_sent_) {
      stream.due_at_ms_ = now + static_cast<uint64_t>(most_ms);
      stream.due_sent_ = stream.sent_ + stream.body_.size();
    } else if (now >= stream.due_at_ms_) {
      Reset(stream);
    }
  });
}

// RFC 9113 (8.1) allows the reset as soon as the answer has left, but clients that are still sending lose the answer over it.
void Session::ResetLingering() noexcept {
  constexpr int kMostCalls = 2;
  ForEach([this](Stream& stream) {
    if (!stream.lingers_ || ++stream.lingered_ != kMostCalls) return;
    Ask([&] { return nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, NGHTTP2_NO_ERROR); });
  });
}

}  // namespace wf::http2
