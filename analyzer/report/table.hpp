// SPDX-License-Identifier: BSD-3-Clause
// Rows of one kind, either stored or made one at a time.
//
// A trace may hold more than a million half-flows, and a full row of each would cost more memory
// than the tracker that knows them. Such a table is given a size and a function that fills a row.

#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace rocetrace {

template <class Row>
class Table {
 public:
  /// Makes row `index` (from 0) in `row`, which holds the contents of an earlier call: every field
  /// has to be assigned. Called any number of times for any index, and must give the same each
  /// time.
  using Fill = std::function<void(std::size_t index, Row& row)>;

  Table() = default;
  Table(std::vector<Row> rows) : rows_{std::move(rows)}, size_{rows_.size()} {}
  /// What `fill` refers to must outlive the table.
  Table(std::size_t size, Fill fill) : fill_{std::move(fill)}, size_{size} {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// A copy of one row; index < size().
  Row at(std::size_t index) const {
    assert(index < size_);
    if (!fill_) return rows_[index];
    Row row;
    fill_(index, row);
    return row;
  }

  /// Calls visit(const Row&) for each row, in order. The reference is good during the call only.
  template <class Visit>
  void each(Visit&& visit) const {
    if (!fill_) {
      for (const Row& row : rows_) visit(row);
      return;
    }
    Row row;
    for (std::size_t index = 0; index < size_; ++index) {
      fill_(index, row);
      visit(std::as_const(row));
    }
  }

 private:
  std::vector<Row> rows_;
  Fill fill_;
  std::size_t size_ = 0;
};

/// Calls visit(const Row&) for each row, however the rows are kept.
template <class Row, class Visit>
void each_row(const Table<Row>& rows, Visit&& visit) {
  rows.each(visit);
}
template <class Row, class Visit>
void each_row(const std::vector<Row>& rows, Visit&& visit) {
  for (const Row& row : rows) visit(row);
}

}  // namespace rocetrace
