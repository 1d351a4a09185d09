// SPDX-License-Identifier: BSD-3-Clause
// Buffered, checked output. See sink.hpp.

#include "report/sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace rocetrace {
namespace {

constexpr std::size_t kBufferSize = 1 << 18;

[[noreturn]] void fail(const std::string& name, const char* what, int error) {
  throw std::runtime_error{fmt::format("{}: {}: {}", name, what, std::strerror(error))};
}

// The file behind symbolic links, so that a rename replaces it and not the link.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                         &std::free};
  return real ? std::string{real.get()} : path;
}

}  // namespace

Sink::Sink(int descriptor, std::string name, std::string temporary, std::string* memory)
    : buffer_{new char[kBufferSize]},
      at_{buffer_.get()},
      end_{buffer_.get() + kBufferSize},
      descriptor_{descriptor},
      name_{std::move(name)},
      temporary_{std::move(temporary)},
      memory_{memory} {}

Sink Sink::standard_output() {
  return {STDOUT_FILENO, "standard output", {}, nullptr};
}

Sink Sink::memory(std::string& text) {
  return {-1, "memory", {}, &text};
}

Sink Sink::file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail(path, "cannot open", errno);
    return {descriptor, path, {}, nullptr};
  }
  std::string name = resolved(path);
  std::string temporary = fmt::format("{}.{}.part", name, ::getpid());
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path, "cannot create", errno);
  return {descriptor, std::move(name), std::move(temporary), nullptr};
}

Sink::Sink(Sink&& other) noexcept
    : buffer_{std::move(other.buffer_)},
      at_{other.at_},
      end_{other.end_},
      descriptor_{std::exchange(other.descriptor_, -1)},
      name_{std::move(other.name_)},
      temporary_{std::exchange(other.temporary_, {})},
      memory_{std::exchange(other.memory_, nullptr)} {}

Sink::~Sink() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Sink::write(const char* bytes, std::size_t size) {
  if (memory_) {
    memory_->append(bytes, size);
    return;
  }
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw PipeClosed{};
      fail(name_, "cannot write", errno);
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void Sink::flush() {
  const std::size_t size = static_cast<std::size_t>(at_ - buffer_.get());
  at_ = buffer_.get();
  write(buffer_.get(), size);
}

void Sink::long_text(std::string_view text) {
  flush();
  if (text.size() > kBufferSize / 2) return write(text.data(), text.size());
  at_ = std::copy(text.begin(), text.end(), at_);
}

void Sink::commit() {
  flush();
  if (temporary_.empty()) return;
  // A file system may tell only now that it had no room.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(name_, "cannot write", errno);
  if (::rename(temporary_.c_str(), name_.c_str()) != 0) fail(name_, "cannot rename", errno);
  temporary_.clear();
}

}  // namespace rocetrace
