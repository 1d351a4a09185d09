// SPDX-License-Identifier: BSD-3-Clause
// Where a report goes: buffered, and every write checked.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// Thrown when the reader of a pipe went away: there is nobody left to write for.
struct PipeClosed {};

/// Output to standard output, to a file or to memory. A file appears under its name, whole, when
/// commit() is called, and not at all when it is not; what is not a regular file (a device, a pipe)
/// is written in place. Throws std::runtime_error with the name and the system's reason.
class Sink {
 public:
  static Sink standard_output();
  static Sink file(const std::string& path);
  /// Appends to `text` at commit() and whenever the buffer is full.
  static Sink memory(std::string& text);

  Sink(Sink&& other) noexcept;
  Sink& operator=(Sink&&) = delete;
  ~Sink();

  void put(char c) {
    reserve(1);
    *at_++ = c;
  }
  void text(std::string_view text) {
    if (text.size() > room()) return long_text(text);
    at_ = std::copy(text.begin(), text.end(), at_);
  }
  template <std::integral T>
  void number(T value) {
    const fmt::format_int digits{value};
    text({digits.data(), digits.size()});
  }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
    text({line.data(), line.size()});
  }

  /// At least `size` (<= kReserve) bytes to write at once; tell used() where they ended.
  char* reserve(std::size_t size) {
    if (size > room()) flush();
    return at_;
  }
  void used(char* end) { at_ = end; }
  static constexpr std::size_t kReserve = 4096;

  /// Writes what is buffered, and gives a file its name.
  void commit();

 private:
  Sink(int descriptor, std::string name, std::string temporary, std::string* memory);

  std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }
  void flush();
  void long_text(std::string_view text);
  void write(const char* bytes, std::size_t size);

  std::unique_ptr<char[]> buffer_;
  char* at_;
  char* end_;
  int descriptor_;         // -1 for memory
  std::string name_;       // for messages; the final name of a file
  std::string temporary_;  // empty when written in place
  std::string* memory_;
};

}  // namespace rocetrace
