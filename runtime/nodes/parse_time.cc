// Times as RFC 3339 writes them (https://www.rfc-editor.org/rfc/rfc3339, section 5.6).

#include <chrono>
#include <string_view>

#include "runtime/abi/view.h"
#include "runtime/base/text.h"
#include "runtime/base/units.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"

namespace wf::nodes {
namespace {

using base::kNsPerSecond;

// Reads from the left; what is not there ends it.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Digits(size_t count, int64_t* number) {
    *number = 0;
    for (; count > 0; --count) {
      if (!AtDigit()) return false;
      *number = *number * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return true;
  }
  bool One(std::string_view of) {
    if (rest_.empty() || of.find(rest_.front()) == of.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Of a second, at least one digit of it.
  bool Fraction(int64_t* ns) {
    *ns = 0;
    if (!AtDigit()) return false;
    for (int64_t unit = kNsPerSecond / 10; AtDigit(); unit /= 10) {
      *ns += (rest_.front() - '0') * unit;
      rest_.remove_prefix(1);
    }
    return true;
  }
  bool AtDigit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

struct Time {
  int64_t year, month, day, hour, minute, second, ns = 0, offset_hours = 0, offset_minutes = 0;
  bool is_west = false;
};

bool Read(Reader& in, Time* time) {
  const bool has_date = in.Digits(4, &time->year) && in.One("-") && in.Digits(2, &time->month) && in.One("-") && in.Digits(2, &time->day);
  if (!has_date || !in.One("Tt ")) return false;
  const bool has_time =
      in.Digits(2, &time->hour) && in.One(":") && in.Digits(2, &time->minute) && in.One(":") && in.Digits(2, &time->second);
  if (!has_time || (in.One(".") && !in.Fraction(&time->ns))) return false;
  if (in.One("Zz")) return in.left() == 0;
  time->is_west = in.One("-");
  if (!time->is_west && !in.One("+")) return false;
  return in.Digits(2, &time->offset_hours) && in.One(":") && in.Digits(2, &time->offset_minutes) && in.left() == 0;
}

// What of it is no part of a calendar; null: nothing.
const char* ProblemOf(const Time& time) {
  using namespace std::chrono;
  const auto number = [](int64_t part) { return static_cast<unsigned>(part); };
  if (!year_month_day(year(static_cast<int>(time.year)), month(number(time.month)), day(number(time.day))).ok())
    return "there is no such day";
  if (time.second == 60) return "leap seconds are not counted";
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return "there is no such time of day";
  return time.offset_hours > 23 || time.offset_minutes > 59 ? "there is no such offset" : nullptr;
}

// Nothing fits beyond 1677-09-21 and 2262-04-11.
bool Count(const Time& time, int64_t* ns) {
  using namespace std::chrono;
  const sys_days days =
      year_month_day(year(static_cast<int>(time.year)), month(static_cast<unsigned>(time.month)), day(static_cast<unsigned>(time.day)));
  const int64_t offset = (time.offset_hours * 60 + time.offset_minutes) * (time.is_west ? 60 : -60);
  int64_t seconds = days.time_since_epoch().count() * int64_t{86'400} + time.hour * 3600 + time.minute * 60 + time.second + offset,
          part = time.ns;
  if (seconds < 0) {  // towards 0, so that what fits does so on the way
    ++seconds;
    part -= kNsPerSecond;
  }
  int64_t whole = 0;
  return !__builtin_mul_overflow(seconds, kNsPerSecond, &whole) && !__builtin_add_overflow(whole, part, ns);
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_parse_time(wf_ctx* ctx, const wf_bytes* text, int64_t* ns) noexcept {
  using namespace wf::nodes;
  const std::string_view all = wf::abi::View(*text);
  Reader in(all);
  Time time{};
  wf::base::TextBuilder problem;
  if (!Read(in, &time)) {
    problem << "expected a time as `2026-11-27T06:40:00Z`, found `";
    problem.Quote(all) << "`: byte " << uint64_t{all.size() - in.left()} << " does not fit";
  } else if (const char* const what = ProblemOf(time)) {
    (problem << "`").Quote(all) << "`: " << what;
  } else if (Count(time, ns)) {
    return 0;
  } else {
    (problem << "`").Quote(all) << "` is not between 1677-09-21T00:12:43.145224192Z and 2262-04-11T23:47:16.854775807Z";
  }
  return Fail(ctx, wf::code::kInputParams, problem.view());
}
