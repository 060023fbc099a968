#include "compiler/format/align.h"

#include <algorithm>

namespace wf::format {
namespace {

struct Place {
  size_t at;      // of the comment in the text
  size_t line;    // its number
  size_t column;  // in characters
};

std::vector<Place> PlacesOf(const std::string& text, const std::vector<size_t>& comments) {
  std::vector<Place> places;
  size_t line = 0, column = 0, at = 0;
  for (const size_t comment : comments) {
    for (; at < comment; ++at) {
      const bool ends = text[at] == '\n';
      line += ends ? 1 : 0;
      column = ends ? 0 : column + ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 ? 1 : 0);
    }
    places.push_back({comment, line, column});
  }
  return places;
}

}  // namespace

std::string AlignComments(std::string text, const std::vector<size_t>& comments) {
  const std::vector<Place> places = PlacesOf(text, comments);
  std::string aligned;
  size_t done = 0;
  for (size_t first = 0; first < places.size();) {
    size_t last = first + 1, column = places[first].column;
    for (; last < places.size() && places[last].line == places[last - 1].line + 1; ++last) column = std::max(column, places[last].column);
    for (; first < last; ++first) {
      aligned.append(text, done, places[first].at - done);
      aligned.append(column - places[first].column, ' ');
      done = places[first].at;
    }
  }
  return done == 0 ? std::move(text) : aligned.append(text, done);
}

}  // namespace wf::format
