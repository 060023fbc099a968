#include "compiler/driver/json_cursor.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

TEST(JsonCursor, ReadsMembersAsTheyStand) {
  JsonCursor cursor(R"({"a":{"x":[1,"}"]},"b":"c\n\"d\"","e":3})");
  EXPECT_TRUE(cursor.Take('{'));
  EXPECT_EQ(cursor.Key(), "a");
  EXPECT_EQ(cursor.Value(), R"({"x":[1,"}"]})");
  EXPECT_TRUE(cursor.Take(','));
  EXPECT_EQ(cursor.Key(), "b");
  EXPECT_EQ(cursor.String(), "c\n\"d\"");
  EXPECT_TRUE(cursor.ok());
}

TEST(JsonCursor, CharactersOfTwoEscapesAreOne) { EXPECT_EQ(JsonCursor(R"("\u00e9\ud83d\ude00")").String(), "\u00e9\U0001f600"); }

TEST(JsonCursor, WhatDoesNotFitYieldsNothing) {
  for (const char* text : {"", "1", R"("open)", R"("\ud83d")", R"("\x")"}) {
    JsonCursor cursor(text);
    EXPECT_EQ(cursor.String(), "") << text;
    EXPECT_FALSE(cursor.ok()) << text;
  }
}

}  // namespace
}  // namespace wf::driver
