#include "compiler/driver/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace wf::driver {
namespace {

Layers Random(unsigned seed, size_t columns, size_t boxes, size_t wires) {
  std::mt19937 random(seed);
  Layers layers;
  for (size_t at = 0; at < boxes; ++at) {
    layers.boxes.push_back(
        {.column = at < columns ? at : random() % columns, .width = 40.0 + random() % 80, .height = 20.0 + random() % 60});
  }
  while (layers.wires.size() < wires) {
    const size_t from = random() % boxes, to = random() % boxes;
    if (layers.boxes[from].column < layers.boxes[to].column) layers.wires.push_back({from, to, {}});
  }
  Arrange(layers);
  return layers;
}

bool Overlap(const Layers::Box& a, const Layers::Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(Layers, KeepBoxesApartAndInside) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Layers layers = Random(seed, 6, 30, 45);
    for (size_t a = 0; a < layers.boxes.size(); ++a) {
      const Layers::Box& box = layers.boxes[a];
      EXPECT_GE(box.x, 0);
      EXPECT_GE(box.y, -0.01);
      EXPECT_LE(box.x + box.width, layers.width + 0.01);
      EXPECT_LE(box.y + box.height, layers.height + 0.01);
      for (size_t b = a + 1; b < layers.boxes.size(); ++b) EXPECT_FALSE(Overlap(box, layers.boxes[b])) << seed;
    }
  }
}

TEST(Layers, BeginAtTheTop) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Layers layers = Random(seed, 6, 30, 45);
    double top = layers.height;
    for (const Layers::Box& box : layers.boxes) top = std::min(top, box.y);
    for (const Layers::Wire& wire : layers.wires) {
      for (const Layers::Point& point : wire.points) top = std::min(top, point.y);
    }
    EXPECT_LE(top, 10) << seed;
  }
}

TEST(Layers, LeadWiresFromBoxToBoxAndAroundOthers) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Layers layers = Random(seed, 6, 30, 45);
    for (const Layers::Wire& wire : layers.wires) {
      const Layers::Box &from = layers.boxes[wire.from], &to = layers.boxes[wire.to];
      ASSERT_EQ(wire.points.size(), 2 * (to.column - from.column));
      EXPECT_DOUBLE_EQ(wire.points.front().x, from.x + from.width);
      EXPECT_DOUBLE_EQ(wire.points.back().x, to.x);
      for (size_t at = 1; at + 1 < wire.points.size(); at += 2) {
        const Layers::Point begin = wire.points[at], end = wire.points[at + 1];
        EXPECT_DOUBLE_EQ(begin.y, end.y);
        for (const Layers::Box& box : layers.boxes) {
          const bool beside = end.x <= box.x || box.x + box.width <= begin.x;
          EXPECT_TRUE(beside || begin.y < box.y || begin.y > box.y + box.height) << "a wire runs through a box, seed " << seed;
        }
      }
    }
  }
}

// Two chains whose boxes are named in opposite orders.
TEST(Layers, UncrossWhatNeedNotCross) {
  Layers layers;
  for (const size_t column : {0, 0, 1, 1}) layers.boxes.push_back({.column = column, .width = 50, .height = 20});
  layers.wires = {{0, 3, {}}, {1, 2, {}}};
  Arrange(layers);
  EXPECT_EQ(layers.boxes[0].y < layers.boxes[1].y, layers.boxes[3].y < layers.boxes[2].y);
}

TEST(Layers, DrawAChainStraight) {
  Layers layers;
  for (size_t column = 0; column < 5; ++column)
    layers.boxes.push_back({.column = column, .width = 50, .height = 20.0 + 10.0 * static_cast<double>(column)});
  for (size_t at = 0; at < 4; ++at) layers.wires.push_back({at, at + 1, {}});
  Arrange(layers);
  for (const Layers::Wire& wire : layers.wires) EXPECT_NEAR(wire.points[0].y, wire.points[1].y, 0.01);
}

TEST(Layers, CountTheColumnsThatWiresGoOnBy) {
  Layers layers;
  for (const size_t column : {0, 1, 3}) layers.boxes.push_back({.column = column, .width = 9, .height = 9});
  layers.wires = {{0, 2, {}}, {1, 2, {}}, {2, 0, {}}};
  EXPECT_EQ(Steps(layers), 6u);
}

// A box that very many read, twice each: neither costs the square.
TEST(Layers, BearManyWiresFromOneBox) {
  Layers layers;
  layers.boxes.push_back({.column = 0, .width = 9, .height = 9});
  for (size_t at = 1; at <= 50'000; ++at) {
    layers.boxes.push_back({.column = 1, .width = 9, .height = 9});
    for (int twice = 0; twice < 2; ++twice) layers.wires.push_back({0, at, {}});
  }
  Arrange(layers);
  EXPECT_EQ(layers.wires.back().points.size(), 2u);
}

TEST(Layers, BearWiresBackAndNothingAtAll) {
  Layers none;
  Arrange(none);
  EXPECT_EQ(none.width, 0);
  Layers back;
  back.boxes = {{.column = 1, .width = 9, .height = 9}, {.column = 0, .width = 9, .height = 9}, {.column = 1, .width = 9, .height = 9}};
  back.wires = {{0, 1, {}}, {0, 2, {}}};
  Arrange(back);
  EXPECT_EQ(back.wires[0].points.size(), 2u);
}

}  // namespace
}  // namespace wf::driver
