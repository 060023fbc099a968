#include "compiler/load/answers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace wf::load {
namespace {

using Step = Answers::Step;

// Statuses of the answers in `text`, given in pieces of `size` bytes; -1 where it is wrong.
std::vector<int> Read(std::string_view text, size_t size) {
  Answers answers;
  std::vector<int> statuses;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    std::span<const char> input(text.data(), std::min(size, text.size()));
    while (!input.empty()) {
      const Step step = answers.Next(&input);
      if (step == Step::kNeedMore) break;
      statuses.push_back(step == Step::kAnswer ? answers.status() : -1);
      if (step == Step::kWrong) return statuses;
    }
  }
  return statuses;
}

TEST(Answers, AreTakenOffOneAfterTheOtherWhateverThePieces) {
  const std::string text =
      "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many Requests\r\ntransfer-encoding: "
      "chunked\r\n\r\n2\r\nno\r\n0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
  for (size_t size = 1; size <= text.size(); ++size) EXPECT_EQ(Read(text, size), (std::vector<int>{200, 429, 204})) << size;
}

TEST(Answers, KeepTheBeginningOfABody) {
  Answers answers;
  const std::string text = "HTTP/1.1 422 No\r\nconnection: close\r\ncontent-length: 5000\r\n\r\n" + std::string(5000, 'x');
  std::span<const char> input(text.data(), text.size());
  ASSERT_EQ(answers.Next(&input), Step::kAnswer);
  EXPECT_EQ(answers.body(), std::string(Answers::kKept, 'x'));
  EXPECT_FALSE(answers.keeps_open());
}

TEST(Answers, EndWithTheConnectionWhereNoLengthIsSaid) {
  Answers answers;
  const std::string text = "HTTP/1.0 200 OK\r\n\r\nall of it";
  std::span<const char> input(text.data(), text.size());
  ASSERT_EQ(answers.Next(&input), Step::kNeedMore);
  EXPECT_EQ(answers.End(), Step::kAnswer);
  EXPECT_FALSE(answers.keeps_open());
}

TEST(Answers, AreWrongWhenCutOrNotHttp) {
  EXPECT_EQ(Read("SSH-2.0-OpenSSH\r\n", 100), std::vector<int>{-1});
  Answers cut;
  const std::string text = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc";
  std::span<const char> input(text.data(), text.size());
  ASSERT_EQ(cut.Next(&input), Step::kNeedMore);
  EXPECT_EQ(cut.End(), Step::kWrong);
  cut.Reset();
  EXPECT_EQ(cut.End(), Step::kWrong);  // nothing came at all
}

}  // namespace
}  // namespace wf::load
