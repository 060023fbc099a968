#include "runtime/protocol/http1/decoder.h"

#include <llhttp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/base/ascii.h"
#include "runtime/protocol/http/target.h"

namespace wf::http1 {
namespace {

constexpr uint8_t kMaxEmptyLines = 4;
constexpr std::string_view kOtherVersion = "the version of HTTP is not 1.x";

// What llhttp tells while it reads one head, which it gets in one piece: every span is whole.
struct Reading {
  llhttp_t parser;  // first: a callback's llhttp_t* is a Reading*
  std::string_view target;
  base::Growing<http::Header>* headers;
  size_t max_headers;
  uint64_t length;  // llhttp forgets both when it takes the message as complete
  uint16_t flags;
  bool too_many, complete, no_memory;
};

Reading& Of(llhttp_t* parser) { return *reinterpret_cast<Reading*>(parser); }

int OnUrl(llhttp_t* parser, const char* at, size_t length) noexcept {
  Of(parser).target = {at, length};
  return 0;
}

int OnHeaderField(llhttp_t* parser, const char* at, size_t length) noexcept {
  Reading& reading = Of(parser);
  if (reading.headers->size() == reading.max_headers) {
    reading.too_many = true;
    return -1;
  }
  reading.no_memory = !reading.headers->Push({{at, length}, {at + length, 0}});
  return reading.no_memory ? -1 : 0;
}

int OnHeaderValue(llhttp_t* parser, const char* at, size_t length) noexcept {
  Of(parser).headers->back().value = {at, length};
  return 0;
}

// 1: whatever body there is, it is not llhttp's to read.
int OnHeadersComplete(llhttp_t* parser) noexcept {
  Reading& reading = Of(parser);
  reading.complete = true;
  reading.length = parser->content_length;
  reading.flags = parser->flags;
  return 1;
}

llhttp_settings_t MakeSettings() {
  llhttp_settings_t settings;
  llhttp_settings_init(&settings);
  settings.on_url = OnUrl;
  settings.on_header_field = OnHeaderField;
  settings.on_header_value = OnHeaderValue;
  settings.on_headers_complete = OnHeadersComplete;
  return settings;
}
const llhttp_settings_t kSettings = MakeSettings();

using base::EqualIgnoringCase;

// What a byte of a token is in lower case, 0 for one that no token has (RFC 9110 5.6.2). llhttp lets a space through before the colon.
constexpr std::array<char, 256> MakeTokenTable() {
  std::array<char, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")) table[static_cast<uint8_t>(c)] = c;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<uint8_t>(c)] = static_cast<char>(c | 0x20);
  return table;
}
constexpr std::array<char, 256> kToken = MakeTokenTable();

// Lowers a name in place; the bytes are the head's own. False: not a token.
bool LowerName(std::string_view name) {
  bool token = !name.empty();
  for (char& c : std::span(const_cast<char*>(name.data()), name.size())) {
    c = kToken[static_cast<uint8_t>(c)];
    token = token && c != 0;
  }
  return token;
}

// White space and empty lines too: they are told apart once their line is there.
bool MayBegin(uint8_t byte) { return kToken[byte] != 0 || byte == '\r' || byte == '\n' || byte == ' ' || byte == '\t'; }

// Is `option` one of a comma-separated list?
bool Lists(std::string_view list, std::string_view option) {
  while (!list.empty()) {
    if (EqualIgnoringCase(base::TakeUpTo(',', &list), option)) return true;
  }
  return false;
}

// A later minor version is read as the latest known (RFC 9110 2.5), which llhttp does not do.
void LowerVersion(std::span<uint8_t> head) {
  const auto* end = static_cast<const uint8_t*>(std::memchr(head.data(), '\r', head.size()));
  constexpr std::string_view kVersion = " HTTP/1.";
  const size_t size = static_cast<size_t>(end - head.data());
  if (size <= kVersion.size() || std::memcmp(end - kVersion.size() - 1, kVersion.data(), kVersion.size()) != 0) return;
  uint8_t& minor = head[size - 1];
  if (minor > '1' && minor <= '9') minor = '1';
}

bool IsHttp2(std::span<const uint8_t> head) {
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()) == kHttp2Begin;
}

std::string_view RequestLine(std::span<const uint8_t> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.substr(0, text.find('\r'));
}

// llhttp takes those of other protocols too.
bool EndsInHttp(std::span<const uint8_t> head) {
  const std::string_view line = RequestLine(head);
  return line.substr(0, line.rfind('/')).ends_with(" HTTP");
}

// Proxies disagree about what such a line asks for; llhttp takes it.
bool HasSpacesTogether(std::span<const uint8_t> head) {
  const std::string_view line = RequestLine(head);
  return line.ends_with(' ') || line.find("  ") != std::string_view::npos;
}

// A request of HTTP/0.9 is that line alone, behind which its sender waits.
bool HasNoVersion(std::string_view line) {
  constexpr std::string_view kBegin = "GET /";
  return line.starts_with(kBegin) && line.find(' ', kBegin.size()) == std::string_view::npos;
}

bool IsOfOtherVersion(std::span<const uint8_t> head) {
  const std::string_view line = RequestLine(head);
  constexpr std::string_view kBegin = " HTTP/", kWhole = " HTTP/x.y";
  if (line.size() < kWhole.size() || line.substr(line.size() - kWhole.size(), kBegin.size()) != kBegin) return false;
  const char major = line[line.size() - 3];
  return major >= '0' && major <= '9' && major != '1';
}

constexpr std::string_view kNoTarget = "a target is a path, an address of http, or `*` alone";

// llhttp says no more than that it is none.
std::string_view WhyNoTarget(std::span<const uint8_t> head) {
  std::string_view target = RequestLine(head);
  target = target.substr(0, target.rfind(' '));
  target.remove_prefix(std::min(target.find(' '), target.size() - 1) + 1);
  const std::string_view reason = http::WhyNoTarget(target);
  return reason.empty() ? kNoTarget : reason;
}

std::string_view WhyNot(llhttp_errno_t error) {
  switch (error) {
    case HPE_INVALID_METHOD:
      return "the method is not one of HTTP";
    case HPE_INVALID_CONSTANT:
      return "the request line does not end in a version of HTTP";
    case HPE_INVALID_HEADER_TOKEN:
      return "a header's name is not a token, or its value holds a control character";
    case HPE_INVALID_CONTENT_LENGTH:
      return "Content-Length is not a number, or too large";
    case HPE_UNEXPECTED_CONTENT_LENGTH:
      return "Content-Length stands there twice, or beside Transfer-Encoding";
    case HPE_INVALID_TRANSFER_ENCODING:
      return "Transfer-Encoding does not say where the body ends";
    default:
      return "not HTTP/1.1";
  }
}

}  // namespace

Event Decoder::Fail(int status, std::string_view reason) {
  state_ = State::kError;
  status_ = status;
  reason_ = reason;
  return Event::kError;
}

Event Decoder::Next(std::span<const uint8_t>* input, http::Head* head) {
  switch (state_) {
    case State::kHead:
      return NextOfHead(input, head);
    case State::kLength:
      if (left_ == 0) break;
      if (input->empty()) return Event::kNeedMore;
      body_ = input->first(static_cast<size_t>(std::min<uint64_t>(left_, input->size())));
      *input = input->subspan(body_.size());
      left_ -= body_.size();
      return Event::kBody;
    case State::kChunks: {
      const Chunks::Step step = chunks_.Next(input, &body_);
      if (step == Chunks::Step::kNeedMore) return Event::kNeedMore;
      if (step == Chunks::Step::kChunk) return Event::kChunk;
      if (step == Chunks::Step::kData) return Event::kBody;
      if (step == Chunks::Step::kError) return Fail(chunks_.status(), chunks_.reason());
      break;
    }
    case State::kEnd:
      break;
    case State::kError:
      return Event::kError;
    case State::kHttp2:
      return Event::kHttp2;
  }
  state_ = State::kHead;
  started_ = false;
  empty_lines_ = 0;
  return Event::kEnd;
}

// Moves lines from the input to the head until the empty one.
Event Decoder::NextOfHead(std::span<const uint8_t>* input, http::Head* head) {
  if (!started_ && repeats_.Take(input, head)) {
    started_ = true;
    return BeginBody(static_cast<uint64_t>(std::max<int64_t>(head->content_length, 0)), head->content_length < 0);
  }
  auto& bytes = head->bytes_;
  while (!input->empty()) {
    if (!started_) {
      head->Clear();
      started_ = true;
      line_ = 0;
    }
    if (bytes.empty() && !MayBegin(input->front())) {
      constexpr uint8_t kTlsHandshake = 0x16;
      return Fail(400, input->front() == kTlsHandshake ? "TLS where plain HTTP is spoken" : "no request of HTTP begins like this");
    }
    const auto* lf = static_cast<const uint8_t*>(std::memchr(input->data(), '\n', input->size()));
    const size_t count = lf == nullptr ? input->size() : static_cast<size_t>(lf - input->data()) + 1;
    if (line_ == 0 && bytes.size() + count > limits_.request_line_bytes) return Fail(414, "the request line is too long");
    if (bytes.size() + count > limits_.head_bytes) return Fail(431, "the headers are too large");
    if (!bytes.Append(input->first(count))) return Fail(http::kNoMemory, http::kNoMemoryForHead);
    *input = input->subspan(count);
    if (lf == nullptr) break;
    bool done = false;
    const Event event = TakeLine(head, &done);
    if (done || event == Event::kError) return event;
  }
  return Event::kNeedMore;
}

// A head that is known was short enough for the limits before.
void Decoder::set_limits(const http::Limits& limits) {
  if (limits == limits_) return;
  limits_ = limits;
  repeats_ = Repeats();
}

// One line, its LF included, is at the end of the head's bytes.
Event Decoder::TakeLine(http::Head* head, bool* done) {
  auto& bytes = head->bytes_;
  const uint8_t* line = bytes.data() + line_;
  const size_t size = bytes.size() - line_;
  if (size < 2 || line[size - 2] != '\r') return Fail(400, "a line ends in LF without CR");
  if (size == 2) {
    if (line_ != 0) {
      *done = true;
      return Parse(head);
    }
    bytes.Clear();
    started_ = false;  // RFC 9112 2.2: as if it had not come
    if (++empty_lines_ > kMaxEmptyLines) return Fail(400, "empty lines instead of a request");
    return Event::kNeedMore;
  }
  if (std::memchr(line, '\r', size - 2) != nullptr) return Fail(400, "a CR without LF");
  if (line[0] == ' ' || line[0] == '\t') return Fail(400, line_ == 0 ? "the request line begins with white space" : "a folded header line");
  if (line_ == 0 && HasNoVersion({reinterpret_cast<const char*>(line), size - 2})) return Fail(505, kOtherVersion);
  line_ = bytes.size();
  return Event::kNeedMore;
}

Event Decoder::Parse(http::Head* head) {
  if (IsHttp2(head->bytes_) && empty_lines_ == 0) {
    state_ = State::kHttp2;
    return Event::kHttp2;
  }
  if (HasSpacesTogether(head->bytes_)) return Fail(400, "the parts of the request line stand one space apart");
  if (IsOfOtherVersion(head->bytes_)) return Fail(505, kOtherVersion);
  const bool again = repeats_.Note(head->bytes_);
  LowerVersion(head->bytes_);
  Reading reading;
  reading.headers = &head->headers_;
  reading.max_headers = limits_.headers;
  reading.too_many = reading.complete = reading.no_memory = false;
  reading.length = 0;
  reading.flags = 0;
  llhttp_init(&reading.parser, HTTP_REQUEST, &kSettings);
  const auto* text = reinterpret_cast<const char*>(head->bytes_.data());
  const llhttp_errno_t error = llhttp_execute(&reading.parser, text, head->bytes_.size());
  if (reading.no_memory) return Fail(http::kNoMemory, http::kNoMemoryForHead);
  if (reading.too_many) return Fail(431, "too many headers");
  // A request to upgrade is answered as if it had not asked (RFC 9110 7.8), so the pause for it is no error.
  if (error != HPE_OK && error != HPE_PAUSED_UPGRADE) {
    if (error == HPE_INVALID_VERSION) return Fail(505, kOtherVersion);
    return Fail(400, error == HPE_INVALID_URL ? WhyNoTarget(head->bytes_) : WhyNot(error));
  }
  if (!reading.complete) return Fail(400, "not HTTP/1.1");
  if (reading.parser.http_major != 1) return Fail(505, kOtherVersion);  // a line without one is 0.9
  if (!EndsInHttp(head->bytes_)) return Fail(400, WhyNot(HPE_INVALID_CONSTANT));
  head->method_name = {text, std::string_view(text, head->bytes_.size()).find(' ')};
  head->method = http::MethodOf(head->method_name);
  head->target = reading.target;
  if (SplitTarget(head) == Event::kError) return Event::kError;
  head->http_1_0 = reading.parser.http_minor == 0;
  for (http::Header& header : head->headers_) {
    if (!LowerName(header.name)) return Fail(400, "a header's name is not a token");
    header.value = base::Trim(header.value);
  }
  const Event event = Check(head, reading.length, (reading.flags & F_CHUNKED) != 0, (reading.flags & F_CONTENT_LENGTH) != 0);
  if (again && event == Event::kHead && reading.length <= INT64_MAX) repeats_.Learn(*head);
  return event;
}

// Path and query. An absolute form (RFC 9112 3.2.2) names the host a second time, which says nothing here.
Event Decoder::SplitTarget(http::Head* head) {
  std::string_view rest = head->target;
  const size_t colon = rest.starts_with('/') ? std::string_view::npos : rest.find("://");
  if (colon != std::string_view::npos) {
    if (!http::IsScheme(rest.substr(0, colon))) return Fail(400, http::kOtherScheme);
    rest.remove_prefix(colon + 3);
    const size_t authority = std::min(rest.find_first_of("/?#"), rest.size());
    if (!http::IsHost(rest.substr(0, authority))) return Fail(400, "the target names no host");
    rest.remove_prefix(authority);
  } else if (rest.starts_with('*') && rest != "*") {
    return Fail(400, kNoTarget);
  }
  if (const std::string_view reason = http::WhyNoTarget(rest); !reason.empty()) return Fail(400, reason);
  head->SetPathAndQuery(rest);
  return Event::kHead;
}

// What llhttp leaves open: Host, the codings of Transfer-Encoding, Connection, Expect.
Event Decoder::Check(http::Head* head, uint64_t length, bool chunked, bool has_length) {
  const bool http_1_1 = !head->http_1_0;
  int hosts = 0, codings = 0;
  bool close = false, keep = false;
  for (const http::Header& header : head->headers_) {
    if (header.name == "host") {
      ++hosts;
      if (!header.value.empty() && !http::IsHost(header.value)) return Fail(400, "the header Host holds no name or address of a host");
    } else if (header.name == "transfer-encoding") {
      ++codings;
      if (!EqualIgnoringCase(header.value, "chunked")) return Fail(501, "a transfer coding other than `chunked`");
    } else if (header.name == "connection") {
      close = close || Lists(header.value, "close");
      keep = keep || Lists(header.value, "keep-alive");
    } else if (header.name == "expect") {
      if (!EqualIgnoringCase(header.value, "100-continue")) return Fail(417, "an expectation other than `100-continue`");
      head->expects_continue = http_1_1;
    }
  }
  if (hosts > 1) return Fail(400, "more than one header Host");
  if (head->SaysTwo("content-type")) return Fail(400, http::kTwoTypes);
  if (http_1_1 && hosts == 0) return Fail(400, "the header Host is missing");
  if (codings > 1 || (codings == 1 && (has_length || !http_1_1 || !chunked)))
    return Fail(400, "Transfer-Encoding where it cannot be trusted");
  head->keep_alive = !close && (http_1_1 || keep);
  head->content_length = chunked ? -1 : static_cast<int64_t>(std::min<uint64_t>(length, INT64_MAX));
  return BeginBody(length, chunked);
}

Event Decoder::BeginBody(uint64_t length, bool chunked) {
  left_ = length;
  chunks_ = Chunks();
  state_ = chunked ? State::kChunks : State::kLength;
  return Event::kHead;
}

}  // namespace wf::http1
