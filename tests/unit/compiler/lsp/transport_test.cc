#include "compiler/lsp/transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wf::lsp {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    close(ends[0]);
    CloseWriter();
  }
  void CloseWriter() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  void Write(std::string_view text) const { EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  std::array<int, 2> ends{-1, -1};
};

void Ignore(std::string_view /*message*/) {}

TEST(Transport, ReadsMessagesCutAnywhere) {
  const std::string stream = "Content-Length: 2\r\n\r\n{}content-length:3\r\nOther: x\r\n\r\n[1]";
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    Pipe pipe;
    std::thread writer([&] {
      pipe.Write(stream.substr(0, cut));
      std::this_thread::yield();
      pipe.Write(stream.substr(cut));
      pipe.CloseWriter();
    });
    Transport transport(pipe.ends[0], -1, Ignore);
    EXPECT_EQ(transport.Read(), "{}");
    EXPECT_EQ(transport.Read(), "[1]");
    EXPECT_EQ(transport.Read(), std::nullopt);
    writer.join();
  }
}

TEST(Transport, PassesOverHeadersWithoutALength) {
  Pipe pipe;
  pipe.Write("noise\r\n\r\nContent-Length: -5\r\n\r\nContent-Length: 1x\r\n\r\n" + std::string(20000, 'x') +
             "\nContent-Length: 1\r\n\r\n7");
  pipe.CloseWriter();
  Transport transport(pipe.ends[0], -1, Ignore);
  EXPECT_EQ(transport.Read(), "7");
  EXPECT_EQ(transport.Read(), std::nullopt);
}

TEST(Transport, EndsInsideAMessage) {
  Pipe pipe;
  pipe.Write("Content-Length: 10\r\n\r\n{}");
  pipe.CloseWriter();
  std::string said;
  EXPECT_EQ(Transport(pipe.ends[0], -1, [&](std::string_view message) { said += message; }).Read(), std::nullopt);
  EXPECT_EQ(said, "the input ends inside a message: 2 of 10 bytes came");
}

TEST(Transport, SaysOnceWhatItPassedOver) {
  const std::string rule = "what the editor sent is passed over, for want of a header `Content-Length: BYTES`; there is ";
  for (const auto& [sent, told] :
       std::vector<std::pair<std::string, std::string>>{{"Content-Length: -5", "`Content-Length: -5`"},
                                                        {"Content-Length: 99999999999999999999", "`Content-Length: 99999999999999999999`"},
                                                        {std::string(90, 'A'), "`" + std::string(80, 'A') + "…`"},
                                                        {"", "none"}}) {
    Pipe pipe;
    pipe.Write(sent + "\r\n\r\n{}\r\n\r\nContent-Length: 1\r\n\r\n7");
    pipe.CloseWriter();
    std::string said;
    Transport transport(pipe.ends[0], -1, [&](std::string_view message) { said += message; });
    EXPECT_EQ(transport.Read(), "7");
    EXPECT_EQ(said, rule + told);
  }
}

TEST(Transport, KnowsWhetherMoreHasArrived) {
  Pipe pipe;
  Transport transport(pipe.ends[0], pipe.ends[1], Ignore);
  EXPECT_FALSE(transport.Waiting());
  transport.Write("{}");
  EXPECT_TRUE(transport.Waiting());
  transport.Write("[]");
  EXPECT_EQ(transport.Read(), "{}");
  EXPECT_TRUE(transport.Waiting());
  EXPECT_EQ(transport.Read(), "[]");
  EXPECT_FALSE(transport.Waiting());
}

}  // namespace
}  // namespace wf::lsp
