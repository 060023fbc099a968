#include "compiler/ir/constants.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/type.h"

namespace wf::ir {
namespace {

TEST(ConstantTable, HasEqualValuesOnceAndTellsThoseApartThatBeginAlike) {
  TypeTable types;
  const TypeId text = types.String(), list = types.List(text);
  const std::string begin(100'000, 'x');
  ConstantTable table;
  for (int i = 0; i < 40; ++i) {
    const Value word = Value::Text(begin + std::to_string(i));
    EXPECT_EQ(table.Add(types, text, word), static_cast<size_t>(2 * i));
    EXPECT_EQ(table.Add(types, list, Value::Items({word, Value::Text("")})), static_cast<size_t>(2 * i + 1));
  }
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(table.Add(types, text, Value::Text(begin + std::to_string(i))), static_cast<size_t>(2 * i));
    EXPECT_EQ(table.Add(types, list, Value::Items({Value::Text(begin + std::to_string(i)), Value::Text("")})),
              static_cast<size_t>(2 * i + 1));
  }
  EXPECT_EQ(table.size(), 80U);
}

TEST(ConstantTable, ReadsATextThatValuesShareOnce) {
  TypeTable types;
  const TypeId list = types.List(types.String());
  const Value shared = Value::Text(std::string(20'000'000, 'x'));
  ConstantTable table;
  for (int i = 0; i < 40; ++i) {  // terabytes, mention by mention
    std::vector<Value> items(12'000, shared);
    items.push_back(Value::Text(std::to_string(i)));
    EXPECT_EQ(table.Add(types, list, Value::Items(std::move(items))), static_cast<size_t>(i));
  }
}

}  // namespace
}  // namespace wf::ir
