#include "compiler/driver/layers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace wf::driver {
namespace {

constexpr int kOrderSweeps = 12, kPlaceSweeps = 12;
constexpr double kWireHeight = 10;

// A box, or the passage of a box's wires through a column.
struct Cell {
  double height = 0, middle = 0;
  double weight = 1;
  std::vector<size_t> before, after;  // cells of the neighbouring columns
};

// How many of the numbers added are above one (a Fenwick tree).
class Counts {
 public:
  explicit Counts(size_t end) : sums_(end + 1, 0) {}
  void Add(size_t number) {
    ++total_;
    for (size_t at = number + 1; at < sums_.size(); at += at & -at) ++sums_[at];
  }
  size_t CountAbove(size_t number) const {
    size_t above = total_;
    for (size_t at = number + 1; at > 0; at -= at & -at) above -= sums_[at];
    return above;
  }

 private:
  std::vector<size_t> sums_;
  size_t total_ = 0;
};

class Arranger {
 public:
  explicit Arranger(Layers& layers) : layers_(layers) {}
  void Run();

 private:
  void MakeCells();
  void Connect(const Layers::Wire& wire);
  size_t Crossings() const;
  void Order();
  void OrderBy(bool before);
  void PlaceBy(size_t column, bool before);
  void Pack();
  void PlaceColumns();
  void Route();
  double Gap(size_t upper, size_t lower) const;

  Layers& layers_;
  std::vector<Cell> cells_;                             // boxes first, by their numbers
  std::vector<std::vector<size_t>> columns_;            // cells from top to bottom
  std::map<std::pair<size_t, size_t>, size_t> passed_;  // box and column to the passage of its wires there
  std::set<std::pair<size_t, size_t>> joined_;          // boxes, by their numbers
};

void Arranger::MakeCells() {
  for (const Layers::Box& box : layers_.boxes) {
    columns_.resize(std::max(columns_.size(), box.column + 1));
    columns_[box.column].push_back(cells_.size());
    cells_.push_back({.height = box.height});
  }
  for (const Layers::Wire& wire : layers_.wires) Connect(wire);
}

void Arranger::Connect(const Layers::Wire& wire) {
  const size_t target = layers_.boxes[wire.to].column;
  if (layers_.boxes[wire.from].column >= target || !joined_.insert({wire.from, wire.to}).second) return;
  size_t last = wire.from;
  const auto join = [&](size_t cell) {
    cells_[last].after.push_back(cell);
    cells_[cell].before.push_back(last);
  };
  for (size_t column = layers_.boxes[wire.from].column + 1; column < target; ++column) {
    const auto [row, is_new] = passed_.try_emplace({wire.from, column}, cells_.size());
    if (is_new) {
      columns_[column].push_back(cells_.size());
      cells_.push_back({.height = kWireHeight, .weight = 4});
      join(row->second);
    }
    last = row->second;
  }
  join(wire.to);
}

// Pairs of wires between neighbouring columns that cross.
size_t Arranger::Crossings() const {
  size_t total = 0;
  std::vector<size_t> place(cells_.size());
  for (const auto& column : columns_) {
    for (size_t at = 0; at < column.size(); ++at) place[column[at]] = at;
  }
  for (size_t number = 0; number + 1 < columns_.size(); ++number) {
    Counts ends(columns_[number + 1].size());  // in the next column, of the wires from top to bottom; their inversions cross
    for (const size_t cell : columns_[number]) {
      for (const size_t next : cells_[cell].after) total += ends.CountAbove(place[next]);
      for (const size_t next : cells_[cell].after) ends.Add(place[next]);
    }
  }
  return total;
}

// Sorts every column by the mean place of what each cell is joined to on one side.
void Arranger::OrderBy(bool before) {
  std::vector<double> place(cells_.size());
  const auto number = [&](const std::vector<size_t>& column) {
    for (size_t at = 0; at < column.size(); ++at) place[column[at]] = static_cast<double>(at) / static_cast<double>(column.size());
  };
  for (const auto& column : columns_) number(column);
  for (size_t step = 0; step < columns_.size(); ++step) {
    auto& column = columns_[before ? step : columns_.size() - 1 - step];
    std::vector<std::pair<double, size_t>> keys;
    for (const size_t cell : column) {
      const auto& joined = before ? cells_[cell].before : cells_[cell].after;
      double sum = 0;
      for (const size_t other : joined) sum += place[other];
      keys.emplace_back(joined.empty() ? place[cell] : sum / static_cast<double>(joined.size()), cell);
    }
    std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t at = 0; at < column.size(); ++at) column[at] = keys[at].second;
    number(column);
  }
}

void Arranger::Order() {
  auto best = columns_;
  size_t fewest = Crossings();
  for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
    OrderBy(sweep % 2 == 0);
    const size_t crossings = Crossings();
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = columns_;
  }
  columns_ = std::move(best);
}

// Between the middles of neighbours in a column.
double Arranger::Gap(size_t upper, size_t lower) const { return (cells_[upper].height + cells_[lower].height) / 2 + layers_.row_gap; }

// Moves the cells of a column to the mean height of what they are joined to, as near as their order and size allow: the weighted least
// squares under `next >= this + gap` (pooling adjacent violators).
void Arranger::PlaceBy(size_t column, bool before) {
  struct Pool {
    double sum, weight;
    size_t count;
    double mean() const { return sum / weight; }
  };
  const std::vector<size_t>& cells = columns_[column];
  std::vector<Pool> pools;
  std::vector<double> offset(cells.size(), 0);
  for (size_t at = 0; at < cells.size(); ++at) {
    const Cell& cell = cells_[cells[at]];
    if (at > 0) offset[at] = offset[at - 1] + Gap(cells[at - 1], cells[at]);
    const auto& joined = before ? cell.before : cell.after;
    double wanted = 0;
    for (const size_t other : joined) wanted += cells_[other].middle;
    wanted = joined.empty() ? cell.middle : wanted / static_cast<double>(joined.size());
    const double weight = joined.empty() ? 0.1 : cell.weight;
    pools.push_back({(wanted - offset[at]) * weight, weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().weight + last.weight, pools.back().count + last.count};
    }
  }
  size_t at = 0;
  for (const Pool& pool : pools) {
    for (size_t member = 0; member < pool.count; ++member, ++at) cells_[cells[at]].middle = pool.mean() + offset[at];
  }
}

void Arranger::Pack() {
  for (const auto& column : columns_) {
    double middle = 0;
    for (size_t at = 0; at < column.size(); ++at) {
      if (at > 0) middle += Gap(column[at - 1], column[at]);
      cells_[column[at]].middle = middle;
    }
  }
  for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
    for (size_t step = 0; step < columns_.size(); ++step) {
      PlaceBy(sweep % 2 == 0 ? step : columns_.size() - 1 - step, sweep % 2 == 0);
    }
  }
  double top = std::numeric_limits<double>::max(), bottom = 0;
  for (const Cell& cell : cells_) top = std::min(top, cell.middle - cell.height / 2);
  for (Cell& cell : cells_) {
    cell.middle -= top;
    bottom = std::max(bottom, cell.middle + cell.height / 2);
  }
  layers_.height = bottom;
}

void Arranger::PlaceColumns() {
  double x = 0;
  for (size_t number = 0; number < columns_.size(); ++number) {
    const auto& column = columns_[number];
    double width = number < layers_.least_widths.size() ? layers_.least_widths[number] : 0;
    for (const size_t cell : column) width = std::max(width, cell < layers_.boxes.size() ? layers_.boxes[cell].width : 0);
    layers_.columns.push_back({x, x + width});
    for (const size_t cell : column) {
      if (cell >= layers_.boxes.size()) continue;
      Layers::Box& box = layers_.boxes[cell];
      box.x = x + (width - box.width) / 2;
      box.y = cells_[cell].middle - box.height / 2;
    }
    x += width + layers_.column_gap;
  }
  layers_.width = layers_.columns.empty() ? 0 : layers_.columns.back().right;
}

void Arranger::Route() {
  std::map<size_t, std::vector<Layers::Wire*>> entering;
  for (Layers::Wire& wire : layers_.wires) {
    const Layers::Box &from = layers_.boxes[wire.from], &to = layers_.boxes[wire.to];
    wire.points = {{from.x + from.width, from.y + from.height / 2}};
    for (size_t column = from.column + 1; column < to.column; ++column) {
      const double y = cells_[passed_.at({wire.from, column})].middle;
      wire.points.push_back({layers_.columns[column].left, y});
      wire.points.push_back({layers_.columns[column].right, y});
    }
    entering[wire.to].push_back(&wire);
  }
  for (auto& [target, wires] : entering) {  // each at a height of its own
    const Layers::Box& box = layers_.boxes[target];
    std::stable_sort(wires.begin(), wires.end(), [](const auto* a, const auto* b) { return a->points.back().y < b->points.back().y; });
    for (size_t at = 0; at < wires.size(); ++at) {
      const double share = static_cast<double>(at + 1) / static_cast<double>(wires.size() + 1);
      wires[at]->points.push_back({box.x, box.y + box.height * share});
    }
  }
}

void Arranger::Run() {
  MakeCells();
  Order();
  Pack();
  PlaceColumns();
  Route();
}

}  // namespace

size_t Steps(const Layers& layers) {
  size_t steps = 0;
  for (const Layers::Wire& wire : layers.wires) {
    const size_t from = layers.boxes[wire.from].column, to = layers.boxes[wire.to].column;
    steps += from < to ? to - from : 1;
  }
  return steps;
}

void Arrange(Layers& layers) { Arranger(layers).Run(); }

}  // namespace wf::driver
