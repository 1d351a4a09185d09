// SPDX-License-Identifier: BSD-3-Clause
// A table for people: columns as wide as their widest cell, and lines no longer than a terminal.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rocetrace {

class Sink;

class Columns {
 public:
  enum class Align : unsigned char { left, right };

  struct Column {
    std::string_view title;
    Align align = Align::right;
    bool shrinks = false;  // may lose its middle when the line is too long
    bool spare = false;    // may go when it still is
  };

  explicit Columns(std::vector<Column> columns) : columns_{std::move(columns)} {}

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  /// One cell per column, ASCII.
  void add(std::vector<std::string> cells);

  /// Writes titles and rows, indented by two; `bold` puts the titles in bold. When `width` columns
  /// do not hold them, first the space between columns gives way, then columns in which no row has
  /// anything but "-", then the cells that may shrink, then the columns that may go.
  void write(Sink& out, unsigned width, bool bold) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` with its middle replaced by ".." when it is longer than `width` (>= 4).
std::string shortened(std::string_view text, std::size_t width);

/// Writes `text` in lines of at most `width` columns, `first` before the first line and as many
/// spaces before the others. Breaks at spaces only.
void write_wrapped(Sink& out, std::string_view first, std::string_view text, unsigned width);

}  // namespace rocetrace
