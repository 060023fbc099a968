#include "compiler/driver/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wf::driver {
namespace {

constexpr size_t kMaxCells = size_t{16} << 20;
constexpr size_t kContext = 3;

using Lines = std::vector<std::string_view>;

Lines LinesOf(std::string_view text) {  // each with its line break, which the last may lack
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char what;  // ' ', '-', '+'
  std::string_view line;
};

// The lines of both in order, with the longest common part kept.
std::vector<Edit> Middle(const Lines& a, const Lines& b) {
  std::vector<Edit> edits;
  size_t i = 0, j = 0;
  if (a.size() * b.size() <= kMaxCells) {
    const size_t width = b.size() + 1;
    std::vector<uint32_t> common((a.size() + 1) * width);  // of the lines from i and from j on
    for (size_t row = a.size(); row-- > 0;) {
      for (size_t column = b.size(); column-- > 0;) {
        const uint32_t skip = std::max(common[(row + 1) * width + column], common[row * width + column + 1]);
        common[row * width + column] = a[row] == b[column] ? common[(row + 1) * width + column + 1] + 1 : skip;
      }
    }
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        edits.push_back({' ', a[i++]});
        ++j;
      } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
        edits.push_back({'-', a[i++]});
      } else {
        edits.push_back({'+', b[j++]});
      }
    }
  }
  for (; i < a.size(); ++i) edits.push_back({'-', a[i]});
  for (; j < b.size(); ++j) edits.push_back({'+', b[j]});
  return edits;
}

std::vector<Edit> EditsOf(Lines a, Lines b) {
  std::vector<Edit> edits, tail;
  const auto [a_end, b_end] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  for (auto line = a.begin(); line != a_end; ++line) edits.push_back({' ', *line});
  a.erase(a.begin(), a_end);
  b.erase(b.begin(), b_end);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    tail.push_back({' ', a.back()});
    a.pop_back();
    b.pop_back();
  }
  const std::vector<Edit> middle = Middle(a, b);
  edits.insert(edits.end(), middle.begin(), middle.end());
  edits.insert(edits.end(), tail.rbegin(), tail.rend());
  return edits;
}

std::string Range(size_t begin, size_t count) { return fmt::format("{},{}", count == 0 ? begin : begin + 1, count); }

// The hunk of edits[first, last); `a` and `b`: lines of both texts before it.
std::string Hunk(const std::vector<Edit>& edits, size_t first, size_t last, size_t a, size_t b) {
  std::string text;
  size_t a_count = 0, b_count = 0;
  for (size_t at = first; at < last; ++at) {
    a_count += edits[at].what != '+' ? 1 : 0;
    b_count += edits[at].what != '-' ? 1 : 0;
    text += edits[at].what;
    text += edits[at].line;
    if (!edits[at].line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  }
  return fmt::format("@@ -{} +{} @@\n{}", Range(a, a_count), Range(b, b_count), text);
}

}  // namespace

std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return "";
  const std::vector<Edit> edits = EditsOf(LinesOf(before), LinesOf(after));
  std::string text = fmt::format("--- {}\n+++ {}\n", name, name);
  size_t a = 0, b = 0, done = 0;  // lines of both texts before edits[done]
  const auto advance = [&](size_t to) {
    for (; done < to; ++done) {
      a += edits[done].what != '+' ? 1 : 0;
      b += edits[done].what != '-' ? 1 : 0;
    }
  };
  for (size_t at = 0; at < edits.size();) {
    if (edits[at].what == ' ') {
      ++at;
      continue;
    }
    const size_t first = std::max(done, at < kContext ? 0 : at - kContext);
    size_t last = at;  // after the last change of the hunk
    for (size_t next = at; next < edits.size() && next < last + 2 * kContext + 1; ++next) {
      if (edits[next].what != ' ') last = next + 1;
    }
    const size_t end = std::min(edits.size(), last + kContext);
    advance(first);
    text += Hunk(edits, first, end, a, b);
    advance(end);
    at = end;
  }
  return text;
}

}  // namespace wf::driver
