// SPDX-License-Identifier: BSD-3-Clause
// Tables and paragraphs for people. See columns.hpp.

#include "report/columns.hpp"

#include <algorithm>
#include <cassert>

#include "report/sink.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kNarrowest = 13;  // what a cell shrinks to

std::string padded(std::string_view text, std::size_t width, Columns::Align align) {
  std::string cell = shortened(text, width);
  const std::size_t spaces = width - std::min(width, cell.size());
  cell.insert(align == Columns::Align::left ? cell.size() : 0, spaces, ' ');
  return cell;
}

// Which columns are shown, and how wide they are.
struct Layout {
  Layout(const Columns& table, std::size_t room) : columns{table.columns()}, width{room} {
    for (const Columns::Column& column : columns) widths.push_back(column.title.size());
    for (const auto& row : table.rows())
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (std::size_t i = 0; i < columns.size(); ++i) shown.push_back(i);
    if (total() > width) between = 1;
  }

  std::size_t total() const {
    std::size_t sum = kIndent + between * (shown.size() - 1);
    for (const std::size_t i : shown) sum += widths[i];
    return sum;
  }

  // From the right, while the line is too long.
  void leave_out(auto&& may_go) {
    for (std::size_t at = shown.size(); at > 0 && total() > width; --at)
      if (shown.size() > 1 && may_go(shown[at - 1]))
        shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(at - 1));
  }

  // The widest one that may shrink gives way first, so that two addresses end up equally wide.
  void shrink() {
    while (total() > width) {
      std::size_t* widest = nullptr;
      for (const std::size_t i : shown) {
        if (!columns[i].shrinks || widths[i] <= kNarrowest) continue;
        if (!widest || widths[i] > *widest) widest = &widths[i];
      }
      if (!widest) return;
      --*widest;
    }
  }

  const std::vector<Columns::Column>& columns;
  std::size_t width;
  std::vector<std::size_t> widths{};
  std::vector<std::size_t> shown{};
  std::size_t between = 2;
};

}  // namespace

std::string shortened(std::string_view text, std::size_t width) {
  if (text.size() <= width || width < 4) return std::string{text};
  const std::size_t tail = (width - 2) / 2;
  std::string cell{text.substr(0, width - 2 - tail)};
  cell += "..";
  cell += text.substr(text.size() - tail);
  return cell;
}

void Columns::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void Columns::write(Sink& out, unsigned width, bool bold) const {
  Layout layout{*this, width};
  layout.leave_out([&](std::size_t i) {
    return !rows_.empty() &&
           std::ranges::all_of(rows_, [&](const auto& row) { return row[i] == "-"; });
  });
  layout.shrink();
  layout.leave_out([&](std::size_t i) { return columns_[i].spare; });

  const auto write_line = [&](const auto& cell_text) {
    std::string line(kIndent, ' ');
    for (const std::size_t i : layout.shown) {
      if (i != layout.shown.front()) line.append(layout.between, ' ');
      line += padded(cell_text(i), layout.widths[i], columns_[i].align);
    }
    while (line.ends_with(' ')) line.pop_back();
    out.text(line);
  };
  if (bold) out.text("\x1b[1m");
  write_line([&](std::size_t i) { return columns_[i].title; });
  if (bold) out.text("\x1b[0m");
  out.put('\n');
  for (const auto& row : rows_) {
    write_line([&](std::size_t i) { return std::string_view{row[i]}; });
    out.put('\n');
  }
}

void write_wrapped(Sink& out, std::string_view first, std::string_view text, unsigned width) {
  out.text(first);
  std::size_t column = first.size();
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    const std::string_view next = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (next.empty()) continue;
    if (!line_is_empty && column + 1 + next.size() > width) {
      out.put('\n');
      out.text(std::string(first.size(), ' '));
      column = first.size();
      line_is_empty = true;
    }
    if (!line_is_empty) {
      out.put(' ');
      ++column;
    }
    out.text(next);
    column += next.size();
    line_is_empty = false;
  }
  out.put('\n');
}

}  // namespace rocetrace
