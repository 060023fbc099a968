#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/protocol/http1/decoder.h"
#include "tests/unit/support/source_path.h"

namespace wf::http1 {
namespace {

struct Transcript {
  std::string input;
  std::vector<std::string> events;
};

std::string Unescape(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'r':
        bytes += '\r';
        break;
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case '0':
        bytes += '\0';
        break;
      case 'x': {
        int value = 0;
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
        bytes += static_cast<char>(value);
        i += 2;
        break;
      }
      default:
        bytes += text[i];
    }
  }
  return bytes;
}

Transcript Load(const std::filesystem::path& path) {
  Transcript transcript;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("> ")) {
      std::string_view text = std::string_view(line).substr(2);
      int times = 1;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), times);
      if (error == std::errc() && end < text.data() + text.size() && *end == '*')
        text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
      else
        times = 1;
      const std::string bytes = Unescape(text);
      for (int i = 0; i < times; ++i) transcript.input += bytes;
    } else if (line.starts_with("= ")) {
      transcript.events.push_back(Unescape(std::string_view(line).substr(2)));
    } else {
      EXPECT_TRUE(line.empty() || line.starts_with("#") || line.starts_with("~ ") || line.starts_with("! ")) << path << ": " << line;
    }
  }
  return transcript;
}

std::string Describe(const http::Head& head) {
  std::string text = "head " + std::string(head.method_name) + " " + std::string(head.path);
  if (!head.query.empty()) text += " ?" + std::string(head.query);
  text += head.content_length < 0 ? " chunked" : " length=" + std::to_string(head.content_length);
  text += head.keep_alive ? " keep-alive" : " close";
  if (head.expects_continue) text += " continue";
  for (const http::Header& header : head.headers()) {
    if (header.name.starts_with("x-")) text += " " + std::string(header.name) + "=" + std::string(header.value);
  }
  return text;
}

// The events of `input` when it arrives in parts that end at `cuts`; neighbouring body parts are one.
std::vector<std::string> EventsOf(const std::string& input, const std::vector<size_t>& cuts) {
  Decoder decoder;
  http::Head head;
  std::vector<std::string> events;
  std::string body;
  uint64_t announced = 0;
  size_t from = 0;
  for (const size_t to : cuts) {
    // An own copy of each part: reading past its end is an error that the sanitizer sees.
    const std::vector<uint8_t> part(input.begin() + static_cast<ptrdiff_t>(from), input.begin() + static_cast<ptrdiff_t>(to));
    std::span<const uint8_t> left(part);
    for (Event event = decoder.Next(&left, &head); event != Event::kNeedMore; event = decoder.Next(&left, &head)) {
      announced = event == Event::kChunk ? decoder.chunk_bytes() : 0;
      if (event == Event::kBody) body.append(decoder.body().begin(), decoder.body().end());
      if (event != Event::kBody && event != Event::kChunk && !body.empty()) {
        events.push_back("body " + (body.size() > 40 ? std::to_string(body.size()) + " bytes" : body));
        body.clear();
      }
      if (event == Event::kHead) events.push_back(Describe(head));
      if (event == Event::kEnd) events.push_back("end");
      if (event == Event::kHttp2) {
        events.push_back("http2");
        return events;
      }
      if (event == Event::kError) {
        events.push_back("error " + std::to_string(decoder.status()) + " " + std::string(decoder.reason()));
        return events;
      }
    }
    EXPECT_TRUE(left.empty());
    from = to;
  }
  if (!body.empty()) events.push_back("body " + body);
  if (announced != 0) events.push_back("chunk " + std::to_string(announced));
  return events;
}

std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/protocol/http1"))) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Http1Transcript : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Http1Transcript, GivesTheSameEventsAtEverySplit) {
  const Transcript transcript = Load(GetParam());
  const std::string& input = transcript.input;
  ASSERT_EQ(EventsOf(input, {input.size()}), transcript.events);
  std::vector<size_t> single;
  for (size_t i = 1; i <= input.size(); ++i) single.push_back(i);
  ASSERT_EQ(EventsOf(input, single), transcript.events) << "byte by byte";
  const size_t step = input.size() > 4096 ? 1 + input.size() / 150 : 1;
  for (size_t cut = 0; cut <= input.size(); cut += step)
    ASSERT_EQ(EventsOf(input, {cut, input.size()}), transcript.events) << "cut at " << cut;
}

INSTANTIATE_TEST_SUITE_P(All, Http1Transcript, testing::ValuesIn(Files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace wf::http1
