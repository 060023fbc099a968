#include "runtime/net/post.h"

#include <uv.h>

#include <algorithm>
#include <charconv>

#include "runtime/base/ascii.h"
#include "runtime/base/check.h"

namespace wf::net {
namespace {

constexpr size_t kMostAnswer = 4096;

// Of an answer as far as it has come; 0: not HTTP.
int StatusOf(std::string_view answer) {
  constexpr std::string_view kBegin = "HTTP/1.";
  constexpr size_t kStatusAt = kBegin.size() + 2;
  int status = 0;
  if (!answer.starts_with(kBegin) || answer.size() < kStatusAt + 3) return 0;
  std::from_chars(answer.data() + kStatusAt, answer.data() + kStatusAt + 3, status);
  return status;
}

// Heads of 1xx, which say that an answer will come (RFC 9110 15.2).
void DropInterim(std::string* answer) {
  constexpr std::string_view kHeadEnd = "\r\n\r\n";
  constexpr int kClass = 100;
  for (size_t end = 0; StatusOf(*answer) / kClass == 1 && (end = answer->find(kHeadEnd)) != std::string::npos;)
    answer->erase(0, end + kHeadEnd.size());
}

// In seconds, of an answer as far as it has come; -1: none. A date is passed over: it would ask for clocks that agree.
int64_t RetryAfterOf(std::string_view answer) {
  constexpr std::string_view kName = "retry-after:", kLineEnd = "\r\n";
  std::string_view head = answer.substr(0, answer.find("\r\n\r\n"));
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find(kLineEnd));
    head.remove_prefix(std::min(line.size() + kLineEnd.size(), head.size()));
    if (!base::EqualIgnoringCase(line.substr(0, kName.size()), kName)) continue;
    const std::string_view value = base::Trim(line.substr(kName.size()));
    if (value.empty() || !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) return -1;
    int64_t seconds = 0;
    return std::from_chars(value.data(), value.data() + value.size(), seconds).ec == std::errc() ? seconds : INT64_MAX;
  }
  return -1;
}

}  // namespace

// Lives until libuv has let go of it, which may be after nobody waits any more.
struct Poster::Attempt {
  explicit Attempt(Poster& owner) : poster(&owner), lookups(owner.lookups_) {}
  ~Attempt() {
    if (found != nullptr) uv_freeaddrinfo(found);
  }

  void LookUp(uv_loop_t* of, const PostTarget& target) noexcept;
  void Connect() noexcept;
  void TryNext() noexcept;
  void Send() noexcept;
  void Leave() noexcept;
  void End(int status) noexcept;

  Poster* poster;  // null: nobody waits
  const std::shared_ptr<int> lookups;
  uv_loop_t* loop = nullptr;
  std::string text, answer;
  uv_getaddrinfo_t lookup{};
  uv_tcp_t tcp{};
  uv_connect_t connect{};
  uv_write_t write{};
  addrinfo *found = nullptr, *at = nullptr;
  char buffer[1024];
  bool looking_up = false, open = false, closing = false;
};

void Poster::Attempt::LookUp(uv_loop_t* of, const PostTarget& target) noexcept {
  loop = of;
  lookup.data = this;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const auto on_found = [](uv_getaddrinfo_t* request, int status, addrinfo* result) noexcept {
    Attempt& self = *static_cast<Attempt*>(request->data);
    --*self.lookups;
    self.looking_up = false;
    self.found = self.at = result;
    if (self.poster == nullptr)
      delete &self;
    else if (status != 0)
      self.End(0);
    else
      self.Connect();
  };
  looking_up = uv_getaddrinfo(loop, &lookup, on_found, target.host.c_str(), std::to_string(target.port).c_str(), &hints) == 0;
  if (!looking_up) return End(0);
  ++*lookups;
}

void Poster::Attempt::Connect() noexcept {
  uv_tcp_init(loop, &tcp);
  open = true;
  tcp.data = connect.data = write.data = this;
  const auto on_connected = [](uv_connect_t* request, int status) noexcept {
    Attempt& self = *static_cast<Attempt*>(request->data);
    if (self.closing) return;
    if (status == 0)
      self.Send();
    else
      self.TryNext();
  };
  if (uv_tcp_connect(&connect, &tcp, at->ai_addr, on_connected) != 0) TryNext();
}

// A name may stand for several addresses, of which some take no connections.
void Poster::Attempt::TryNext() noexcept {
  at = at->ai_next;
  if (at == nullptr) return End(0);
  closing = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&tcp), [](uv_handle_t* handle) noexcept {
    Attempt& self = *static_cast<Attempt*>(handle->data);
    self.open = self.closing = false;
    if (self.poster == nullptr)
      delete &self;
    else
      self.Connect();
  });
}

void Poster::Attempt::Send() noexcept {
  uv_buf_t whole = uv_buf_init(text.data(), static_cast<unsigned>(text.size()));
  const auto on_sent = [](uv_write_t* request, int status) noexcept {
    Attempt& self = *static_cast<Attempt*>(request->data);
    if (status != 0 && !self.closing) self.End(StatusOf(self.answer));
  };
  const auto on_alloc = [](uv_handle_t* handle, size_t, uv_buf_t* room) noexcept {
    Attempt& self = *static_cast<Attempt*>(handle->data);
    *room = uv_buf_init(self.buffer, sizeof self.buffer);
  };
  const auto on_read = [](uv_stream_t* handle, ssize_t count, const uv_buf_t* part) noexcept {
    Attempt& self = *static_cast<Attempt*>(handle->data);
    if (count > 0) self.answer.append(part->base, static_cast<size_t>(count));
    DropInterim(&self.answer);
    if (count < 0 || self.answer.size() >= kMostAnswer || self.answer.find("\r\n\r\n") != std::string::npos)
      self.End(StatusOf(self.answer));
  };
  auto* const stream = reinterpret_cast<uv_stream_t*>(&tcp);
  if (uv_write(&write, stream, &whole, 1, on_sent) != 0 || uv_read_start(stream, on_alloc, on_read) != 0) End(0);
}

// Frees this as soon as libuv allows.
void Poster::Attempt::Leave() noexcept {
  poster = nullptr;
  if (looking_up || closing) return;  // which frees it when it is over
  if (!open) {
    delete this;
    return;
  }
  closing = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&tcp), [](uv_handle_t* handle) noexcept { delete static_cast<Attempt*>(handle->data); });
}

void Poster::Attempt::End(int status) noexcept {
  Poster& told = *poster;
  const int64_t retry_after_s = RetryAfterOf(answer);
  told.attempt_ = nullptr;
  Leave();
  told.user_.OnPosted(status, retry_after_s);
}

void Poster::Post(std::string_view content_type, wf_sink& body) noexcept {
  WF_CHECK(!busy());
  attempt_ = new Attempt(*this);
  std::string& text = attempt_->text;
  const bool six = target_.host.find(':') != std::string::npos;
  text = "POST " + target_.path + " HTTP/1.1\r\nhost: " + (six ? "[" + target_.host + "]" : target_.host) + ":" +
         std::to_string(target_.port) + "\r\ncontent-type: " + std::string(content_type) +
         "\r\ncontent-length: " + std::to_string(body.size()) + "\r\nconnection: close\r\n\r\n";
  for (const base::SinkPiece& piece : body.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  body.Clear();
  attempt_->LookUp(loop_.uv(), target_);
}

void Poster::Drop() noexcept {
  if (attempt_ != nullptr) attempt_->Leave();
  attempt_ = nullptr;
}

}  // namespace wf::net
