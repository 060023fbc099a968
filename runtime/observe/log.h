#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace wf::observe {

enum class Level : uint8_t { kError, kWarning, kInfo, kDebug };

struct Field {
  std::string_view name;
  std::string_view text;
  int64_t number = 0;
  bool is_number = false;

  Field(std::string_view field_name, std::string_view value) : name(field_name), text(value) {}
  Field(std::string_view field_name, const char* value) : name(field_name), text(value) {}
  Field(std::string_view field_name, int64_t value) : name(field_name), number(value), is_number(true) {}
};

// One JSON object per line: {"time":..,"level":"info","message":..,<fields>}. A line goes to the ring of the calling thread and is written
// by DrainLogs; it is dropped, and counted, when the ring is full or the line is longer than 2 KiB. Thread: thread-safe.   Bounds: 64 KiB
// per thread that has logged.   Cost: no lock, no allocation but a thread's first time.
void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {}) noexcept;
void SetLogLevel(Level level) noexcept;
bool LogsAt(Level level) noexcept;

// Writes what has collected to `fd`. Called by the admin thread and at the end.
void DrainLogs(int fd) noexcept;
uint64_t DroppedLogLines() noexcept;

}  // namespace wf::observe
