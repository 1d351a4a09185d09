// SPDX-License-Identifier: GPL-2.0-or-later
// A line of text that needs no memory of its own, so that a longjmp over it loses nothing, and no
// format strings, which cost more than the rest of a packet.

#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dissector {

/// What does not fit is left out.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), kRoom - size_);
    std::memcpy(chars_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  Line& operator<<(uint32_t number) {
    std::array<char, 10> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  /// 0x000012: the low 24 bits of a QP number.
  Line& qp(uint32_t number) {
    std::array<char, 8> text = {'0', 'x'};
    for (std::size_t i = 0; i < 6; i++)
      text[i + 2] = "0123456789abcdef"[number >> (20 - 4 * i) & 15];
    return *this << std::string_view(text.data(), text.size());
  }
  void cut(std::size_t size) { size_ = std::min(size, size_); }

  std::size_t size() const { return size_; }
  const char* c_str() {
    chars_[size_] = '\0';
    return chars_.data();
  }

 private:
  static constexpr std::size_t kRoom = 511;
  std::array<char, kRoom + 1> chars_;
  std::size_t size_ = 0;
};

}  // namespace dissector
