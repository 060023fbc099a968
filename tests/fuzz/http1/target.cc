// HTTP/1.1 from a peer that means no good. The first byte says where the input is cut in two: the events must not depend on it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "runtime/protocol/http/reply.h"
#include "runtime/protocol/http1/decoder.h"

namespace {

using wf::http::Head;
using wf::http1::Decoder;
using wf::http1::Event;

// The events as text; neighbouring parts of a body are one.
std::string EventsOf(std::span<const uint8_t> input, size_t cut) {
  Decoder decoder;
  Head head;
  std::string events;
  for (const std::span<const uint8_t> part : {input.first(cut), input.subspan(cut)}) {
    const std::vector<uint8_t> copy(part.begin(), part.end());  // so that reading past the part is seen
    std::span<const uint8_t> left(copy);
    for (Event event = decoder.Next(&left, &head); event != Event::kNeedMore; event = decoder.Next(&left, &head)) {
      if (event == Event::kHead) {
        events += "\nhead " + std::string(head.method_name) + " " + std::string(head.path) + " " + std::to_string(head.content_length) +
                  (head.keep_alive ? " keep" : " close");
        for (const auto& header : head.headers()) {
          if (!wf::http::IsToken(header.name) || !wf::http::IsHeaderText(header.value)) std::abort();
        }
        std::string_view decoded;
        std::vector<char> storage;
        wf::http::PercentDecode(head.path, wf::http::Part::kPath, &decoded, &storage);
        events += "\nbody ";
      }
      if (event == Event::kBody) events.append(decoder.body().begin(), decoder.body().end());
      if (event == Event::kEnd) events += "\nend";
      if (event == Event::kHttp2) return events + "\nhttp2";
      if (event == Event::kError) return events + "\nerror " + std::to_string(decoder.status());
    }
    if (!left.empty()) std::abort();
  }
  return events;
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> input(data + 1, size - 1);
  const size_t cut = input.empty() ? 0 : data[0] % (input.size() + 1);
  if (EventsOf(input, cut) != EventsOf(input, input.size())) std::abort();
  // A head that came twice is known when it comes again, unless it comes in parts.
  std::vector<uint8_t> thrice;
  for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), input.begin(), input.end());
  if (EventsOf(thrice, 2 * input.size() + cut) != EventsOf(thrice, thrice.size())) std::abort();
  return 0;
}
