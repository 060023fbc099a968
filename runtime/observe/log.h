#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "runtime/base/mailbox.h"

namespace wf::observe {

enum class Level : uint8_t { kError, kWarning, kInfo, kDebug };

struct Field {
  std::string_view name;
  std::string_view text;
  uint64_t number = 0;
  enum class Kind : uint8_t { kText, kNumber, kNegative } kind = Kind::kText;

  Field(std::string_view field_name, std::string_view value) : name(field_name), text(value) {}
  Field(std::string_view field_name, const char* value) : name(field_name), text(value) {}
  Field(std::string_view field_name, uint64_t value) : name(field_name), number(value), kind(Kind::kNumber) {}
  Field(std::string_view field_name, int64_t value)
      : name(field_name),
        number(value < 0 ? UINT64_C(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
        kind(value < 0 ? Kind::kNegative : Kind::kNumber) {}
  Field(std::string_view field_name, int32_t value) : Field(field_name, int64_t{value}) {}
};

// One JSON object per line: {"time":..,"level":"info","message":..,<fields>}; ids go into the fields `data_id` and `log_id`. Texts come
// from anywhere: what is not UTF-8 is replaced, control characters are escaped. The line goes to the ring of the calling thread; a drain
// writes it. It is dropped, and counted, when the ring is full; texts are cut so that every line fits into kMaxLineBytes, escapes counted.
// Thread: thread-safe.   Bounds: kRingBytes per thread that has logged, of which as much is resident as has once waited for a drain.
// Cost: no lock, never waits; allocates a thread's first time only.
void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {}) noexcept;
void PrepareLog() noexcept;  // the ring of this thread is made now, so that its lines need no memory later: one may tell that there is none
inline constexpr uint64_t kRingBytes = 1024 * 1024, kMaxLineBytes = 3072;

void SetLogLevel(Level level) noexcept;  // lines above it cost one load
bool LogsAt(Level level) noexcept;

// Whom a thread wakes, once until the next drain, when a quarter of its ring is full; null: nobody. It outlives every thread that logs, or
// is taken away when they have ended.
void SetLogWaker(base::Waker* drain) noexcept;

// Writes whole lines to `fd`, the oldest of all threads first, for as long as it takes them at once, and what does not fit stays in the
// rings: a reader of stderr that has stopped stops nobody here. Lines that were dropped since the last drain are told in a line of their
// own. Thread: the admin thread.   Cost: one poll and one write per 4 KiB.
enum class Drained : uint8_t { kAll, kSome, kNothing };  // not all: nobody is woken until a later drain has written the rest
Drained DrainLogs(int fd) noexcept;
// The same, waiting for the reader for at most `wait_ms`: at the end of the process.
void FlushLogs(int fd, int wait_ms) noexcept;

uint64_t DroppedLogLines() noexcept;

}  // namespace wf::observe
