#include "compiler/interface/proto.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/base/field_number.h"

namespace wf::interface {
namespace {

Port PortOf(const std::string& name) { return {.name = name, .type = {.dtype = ir::DType::kI64}, .place = {}}; }

// "int64 a = 5" of a message with these fields.
std::string NumberIn(std::vector<Port> ports, const std::string& name) {
  Service service{.name = "S", .calls = {{.name = "W", .in = std::move(ports), .place = {}}}, .place = {}};
  const std::string text = Proto({}, service);
  const size_t at = text.find("int64 " + name + " = ");
  return at == std::string::npos ? "" : text.substr(at, text.find('[', at) - at);
}

TEST(FieldNumber, StaysWhateverStandsBeside) {
  const std::string alone = NumberIn({PortOf("a")}, "a");
  ASSERT_NE(alone, "");
  EXPECT_EQ(NumberIn({PortOf("b"), PortOf("a"), PortOf("c")}, "a"), alone);
}

// Two names whose numbers are the same.
std::pair<std::string, std::string> Twins() {
  std::vector<std::pair<uint32_t, std::string>> numbers;
  for (int i = 0; i < 5'000; ++i) numbers.emplace_back(source::FieldNumber("f" + std::to_string(i)), "f" + std::to_string(i));
  std::sort(numbers.begin(), numbers.end());
  const auto twin = std::adjacent_find(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  return twin == numbers.end() ? std::pair<std::string, std::string>() : std::pair(twin->second, (twin + 1)->second);
}

TEST(FieldNumber, TellsApartTwoThatMeet) {
  const auto [first, second] = Twins();
  ASSERT_NE(first, "");
  const auto number = [](const std::string& field) { return field.substr(field.find('=')); };
  const std::vector<Port> one = {PortOf(first), PortOf(second)}, other = {PortOf(second), PortOf(first)};
  EXPECT_NE(number(NumberIn(one, first)), number(NumberIn(one, second)));
  EXPECT_EQ(NumberIn(one, first), NumberIn(other, first));
}

}  // namespace
}  // namespace wf::interface
