#pragma once

#include <cstddef>
#include <vector>

namespace wf::driver {

// A drawing of boxes in columns with wires between them, from left to right.
struct Layers {
  struct Box {
    size_t column = 0;
    double width = 0, height = 0;
    double x = 0, y = 0;  // set by Arrange: the upper left corner
  };
  struct Point {
    double x, y;
  };
  struct Wire {
    size_t from = 0, to = 0;    // boxes
    std::vector<Point> points;  // set by Arrange: an even number; lines 0-1, 2-3, .. curve, those between are straight
    bool dashed = false;        // of no matter to Arrange
  };
  struct Column {
    double left, right;
  };
  double column_gap = 56, row_gap = 18;
  std::vector<double> least_widths;  // of columns; those that are not named need none
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  std::vector<Column> columns;  // set by Arrange, like what follows
  double width = 0, height = 0;
};

// Columns that the wires go on by, all in all: a wire back is one.
size_t Steps(const Layers& layers);

// Places the boxes of each column below each other so that wires cross seldom and run straight where they can; wires pass columns between
// boxes, those from one box together. (Sugiyama's method: ordering by barycentres, then the least squares that keep boxes apart.)
// Cost: that of Steps, about 1 s and 100 MB for 200,000.
void Arrange(Layers& layers);

}  // namespace wf::driver
