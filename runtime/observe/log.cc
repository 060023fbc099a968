#include "runtime/observe/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <utility>

#include "runtime/base/json_text.h"
#include "runtime/base/mutex.h"
#include "runtime/base/text.h"

namespace wf::observe {
namespace {

// What a pipe that says it is writable takes without waiting, and whole.
constexpr size_t kWriteBytes = 4096;
static_assert(kMaxLineBytes < kWriteBytes);

// One writer, one reader; holds whole lines. Lives for ever, since its thread may end before it is drained. Where all has been read the
// next line goes to the beginning, so that of the buffer only what has once waited together is ever resident.
struct Ring {
  std::atomic<uint64_t> written{0}, read{0}, dropped{0};
  uint64_t base = 0;  // written when the buffer was begun anew; the writer's while all is read, else the same for both
  Ring* next = nullptr;
  char bytes[kRingBytes];

  bool Put(std::string_view line) {
    const uint64_t from = written.load(std::memory_order_relaxed), held_bytes = from - read.load(std::memory_order_acquire);
    if (kRingBytes - held_bytes < line.size()) return false;
    if (held_bytes == 0) base = from;
    const size_t at = (from - base) % kRingBytes, first = std::min(line.size(), kRingBytes - at);
    std::memcpy(bytes + at, line.data(), first);
    std::memcpy(bytes, line.data() + first, line.size() - first);
    written.store(from + line.size(), std::memory_order_release);
    return true;
  }
  uint64_t held() const { return written.load(std::memory_order_relaxed) - read.load(std::memory_order_relaxed); }
  // Copies up to `room` of the oldest bytes into `to`; they stay until Drop.
  size_t Copy(char* to, size_t room) const {
    const uint64_t from = read.load(std::memory_order_relaxed);
    const size_t there = written.load(std::memory_order_acquire) - from;
    if (there == 0) return 0;
    const size_t count = std::min(there, room), at = (from - base) % kRingBytes, first = std::min(count, kRingBytes - at);
    std::memcpy(to, bytes + at, first);
    std::memcpy(to + first, bytes, count - first);
    return count;
  }
  size_t CopyLine(char (&to)[kMaxLineBytes]) const {
    const size_t count = Copy(to, kMaxLineBytes);
    return count == 0 ? 0 : std::string_view(to, count).find('\n') + 1;
  }
  void Drop(size_t count) { read.store(read.load(std::memory_order_relaxed) + count, std::memory_order_release); }
};

std::atomic<Ring*> all_rings{nullptr};
std::atomic<uint64_t> dropped_elsewhere{0};  // without a ring, or by the descriptor
std::atomic<Level> most_level{Level::kInfo};

// `asked` is set by whoever wakes and cleared by a drain that has written everything, so that a reader who has stopped is not woken for
// line by line.
std::atomic<base::Waker*> waker{nullptr};
std::atomic<bool> asked{false};

void WakeWhenFilling(const Ring& ring) {
  if (ring.held() < kRingBytes / 4 || asked.load(std::memory_order_relaxed)) return;
  base::Waker* const drain = waker.load(std::memory_order_acquire);
  if (drain != nullptr && !asked.exchange(true, std::memory_order_acq_rel)) drain->Wake();
}

Ring* RingOfThisThread() {
  static thread_local Ring* ring = nullptr;
  if (ring != nullptr) return ring;
  ring = new (std::nothrow) Ring;
  if (ring == nullptr) return nullptr;  // the next line asks again
  ring->next = all_rings.load(std::memory_order_relaxed);
  while (!all_rings.compare_exchange_weak(ring->next, ring, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return ring;
}

// Of the code point that begins with `lead`, in well-formed text.
size_t CodePointBytes(uint8_t lead) { return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

// A line under construction; `full` when it does not fit. Its texts share what the rest of it leaves.
struct Line {
  char bytes[kMaxLineBytes];
  size_t size = 0;
  size_t reserved = 0;  // for what is to come and is not text
  size_t texts = 1;     // to come
  bool full = false;

  void Put(std::string_view text) {
    if (text.size() > kMaxLineBytes - size) {
      full = true;
      return;
    }
    std::memcpy(bytes + size, text.data(), text.size());
    size += text.size();
  }
  void PutNumber(uint64_t number) {
    char digits[24];
    Put({digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  }
  // Cut behind the last code point that fits into its share.
  void PutText(std::string_view text) {
    const size_t room = kMaxLineBytes - std::min(size + reserved, kMaxLineBytes);
    const size_t until = size + room / texts--;
    const auto* at = reinterpret_cast<const uint8_t*>(text.data());
    const uint8_t* end = at + text.size();
    while (at < end) {
      const uint8_t* bad = base::FindBadUtf8(at, end);
      while (at < bad) {
        const size_t count = CodePointBytes(*at);
        std::string_view piece(reinterpret_cast<const char*>(at), count);
        base::JsonEscape escape;
        if (base::NeedsJsonEscape(*at)) piece = (escape = base::EscapeJson(*at)).view();
        if (size + piece.size() > until) return;
        Put(piece);
        at += count;
      }
      if (at < end) {
        constexpr std::string_view kReplacement = "\xef\xbf\xbd";
        if (size + kReplacement.size() > until) return;
        Put(kReplacement);
        ++at;
      }
    }
  }
};

void PutTime(Line* line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  line->Put({text, size});
  const long ms = now.tv_nsec / 1'000'000;
  const char rest[5] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10), static_cast<char>('0' + ms % 10),
                        'Z'};
  line->Put({rest, 5});
}

// Bytes on their way to the descriptor. One drain at a time.
struct Outlet {
  base::Mutex mutex;
  char bytes[kWriteBytes] WF_GUARDED_BY(mutex);
  size_t size WF_GUARDED_BY(mutex) = 0, written WF_GUARDED_BY(mutex) = 0;
  uint64_t told_dropped WF_GUARDED_BY(mutex) = 0, taken WF_GUARDED_BY(mutex) = 0;  // bytes, by the descriptor
  uint64_t telling WF_GUARDED_BY(mutex) = 0;  // of told_dropped, by the line in `bytes`; it is alone there
  bool cut WF_GUARDED_BY(mutex) = false;      // the descriptor ends in a part of a line

  // What comes next is a line of its own, also behind one that a full disk has cut.
  void Put(std::string_view line) WF_REQUIRES(mutex) {
    if (cut && size == 0) bytes[size++] = '\n';
    std::memcpy(bytes + size, line.data(), line.size());
    size += line.size();
  }

  // The descriptor takes nothing of what is left: a disk is full, nobody reads there any more.
  void Lose() WF_REQUIRES(mutex) {
    const size_t lead = cut && written == 0 ? 1 : 0;
    const auto lines = static_cast<uint64_t>(std::count(bytes + written + lead, bytes + size, '\n'));
    if (telling == 0) dropped_elsewhere.fetch_add(lines, std::memory_order_relaxed);
    told_dropped -= std::exchange(telling, 0);
    if (written > 0) cut = bytes[written - 1] != '\n';
    size = written = 0;
  }

  // Everything in `bytes` is out. False: the descriptor takes nothing for now.
  bool Empty(int fd, int wait_ms) WF_REQUIRES(mutex) {
    while (written < size) {
      pollfd ready{fd, POLLOUT, 0};
      const int n = poll(&ready, 1, wait_ms);
      if (n == 0 || (n < 0 && errno != EINTR)) return false;
      if (n < 0) continue;
      const ssize_t part = write(fd, bytes + written, size - written);
      if (part < 0 && (errno == EAGAIN || errno == EINTR)) return false;
      if (part <= 0) return Lose(), true;
      written += static_cast<size_t>(part);
      taken += static_cast<uint64_t>(part);
    }
    if (size > 0) cut = false;
    size = written = 0;
    telling = 0;
    return true;
  }
};
Outlet outlet;

template <typename Describe>
void Compose(Line* line, Level level, std::string_view message, Describe&& describe) {
  constexpr std::string_view kLevels[] = {"error", "warning", "info", "debug"};
  line->Put("{\"time\":\"");
  PutTime(line);
  line->Put("\",\"level\":\"");
  line->Put(kLevels[static_cast<size_t>(level)]);
  line->Put("\",\"message\":\"");
  line->PutText(message);
  line->Put("\"");
  describe();
  line->Put("}\n");
}

// The most that a field takes besides its text; names are ours and need no escapes.
size_t RestBytes(const Field& field) {
  constexpr size_t kMostDigits = 20;
  return field.name.size() + sizeof ",\"\":\"\"" - 1 + (field.kind == Field::Kind::kText ? 0 : kMostDigits);
}

void PutField(const Field& field, Line* line) {
  line->Put(",\"");
  line->Put(field.name);
  line->Put("\":");
  line->reserved -= RestBytes(field);
  if (field.kind == Field::Kind::kText) {
    line->Put("\"");
    ++line->reserved;
    line->PutText(field.text);
    --line->reserved;
    line->Put("\"");
  } else {
    if (field.kind == Field::Kind::kNegative) line->Put("-");
    line->PutNumber(field.number);
  }
}

void ComposeDropped(uint64_t count) WF_REQUIRES(outlet.mutex) {
  Line line;
  Compose(&line, Level::kWarning, "log lines were dropped", [&line, count] {
    line.Put(",\"count\":");
    line.PutNumber(count);
  });
  outlet.Put({line.bytes, line.size});
}

// The ring whose oldest line is the oldest of all: lines begin with their time, of a fixed width. Null: all are empty.
Ring* OldestRing() {
  constexpr size_t kTimeBytes = sizeof "{\"time\":\"2026-01-02T03:04:05.678Z" - 1;
  Ring* oldest = nullptr;
  char least[kTimeBytes], time[kTimeBytes];
  for (Ring* ring = all_rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    if (ring->Copy(time, kTimeBytes) < kTimeBytes || (oldest != nullptr && std::memcmp(time, least, kTimeBytes) >= 0)) continue;
    oldest = ring;
    std::memcpy(least, time, kTimeBytes);
  }
  return oldest;
}

// False: the descriptor takes nothing for now.
bool WriteAll(int fd, int wait_ms) WF_REQUIRES(outlet.mutex) {
  if (!outlet.Empty(fd, wait_ms)) return false;
  asked.store(false, std::memory_order_release);
  char line[kMaxLineBytes];
  while (Ring* const ring = OldestRing()) {
    const size_t size = ring->CopyLine(line);
    if (size > kWriteBytes - outlet.size && !outlet.Empty(fd, wait_ms)) {
      asked.store(true, std::memory_order_release);
      return false;
    }
    outlet.Put({line, size});
    ring->Drop(size);
  }
  if (!outlet.Empty(fd, wait_ms)) {
    asked.store(true, std::memory_order_release);
    return false;
  }
  const uint64_t dropped = DroppedLogLines();
  if (dropped == outlet.told_dropped) return true;
  outlet.telling = dropped - outlet.told_dropped;
  ComposeDropped(outlet.telling);
  outlet.told_dropped = dropped;
  return outlet.Empty(fd, wait_ms);
}

Drained Drain(int fd, int wait_ms) {
  const base::MutexLock lock(outlet.mutex);
  const uint64_t before = outlet.taken;
  if (WriteAll(fd, wait_ms)) return Drained::kAll;
  return outlet.taken == before ? Drained::kNothing : Drained::kSome;
}

}  // namespace

void PrepareLog() noexcept { RingOfThisThread(); }
void SetLogLevel(Level level) noexcept { most_level.store(level, std::memory_order_relaxed); }
bool LogsAt(Level level) noexcept { return level <= most_level.load(std::memory_order_relaxed); }
uint64_t DroppedLogLines() noexcept {
  uint64_t count = dropped_elsewhere.load(std::memory_order_relaxed);
  for (const Ring* ring = all_rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next)
    count += ring->dropped.load(std::memory_order_relaxed);
  return count;
}

void Log(Level level, std::string_view message, std::initializer_list<Field> fields) noexcept {
  if (!LogsAt(level)) return;
  Line line;
  line.reserved = sizeof "\"}\n" - 1;
  for (const Field& field : fields) {
    line.reserved += RestBytes(field);
    line.texts += field.kind == Field::Kind::kText ? 1 : 0;
  }
  Compose(&line, level, message, [&line, &fields] {
    for (const Field& field : fields) PutField(field, &line);
  });
  Ring* const ring = RingOfThisThread();
  if (ring == nullptr)
    dropped_elsewhere.fetch_add(1, std::memory_order_relaxed);
  else if (line.full || !ring->Put({line.bytes, line.size}))
    ring->dropped.store(ring->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  else
    WakeWhenFilling(*ring);
}

void SetLogWaker(base::Waker* drain) noexcept {
  waker.store(drain, std::memory_order_release);
  asked.store(false, std::memory_order_release);
}

Drained DrainLogs(int fd) noexcept { return Drain(fd, 0); }
void FlushLogs(int fd, int wait_ms) noexcept { Drain(fd, wait_ms); }

}  // namespace wf::observe
