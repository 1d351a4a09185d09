// SPDX-License-Identifier: BSD-3-Clause
#include "capture/standard_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace rocetrace {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

bool is_pipe(const struct stat& status) {
  return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void write_all(int descriptor, const char* bytes, std::size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno != EINTR) fail(name);
    if (written <= 0) continue;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

// A file that vanishes with its descriptor.
int unnamed_file(const std::string& folder) {
  std::string name = folder + "/rocetrace.XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail(folder);
  ::unlink(name.c_str());
  return descriptor;
}

void copy_standard_input() {
  const char* folder = std::getenv("TMPDIR");
  const std::string name = folder && *folder ? folder : P_tmpdir;
  const int copy = unnamed_file(name);
  std::vector<char> buffer(kCopyBytes);
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail("standard input");
    if (size == 0) break;
    write_all(copy, buffer.data(), static_cast<std::size_t>(size),
              name + ": no room for a copy of standard input");
  }
  if (::lseek(copy, 0, SEEK_SET) < 0 || ::dup2(copy, STDIN_FILENO) < 0) fail("standard input");
  ::close(copy);
}

}  // namespace

void prepare_to_read_twice(const std::vector<std::string>& captures) {
  struct stat status {};
  for (const std::string& capture : captures) {
    if (capture == "-") {
      if (::fstat(STDIN_FILENO, &status) == 0 && is_pipe(status)) copy_standard_input();
    } else if (::stat(capture.c_str(), &status) == 0 && is_pipe(status)) {
      throw std::runtime_error(capture + ": a pipe cannot be read twice; use - for standard input");
    }
  }
}

void rewind_standard_input(const std::vector<std::string>& captures) {
  if (std::ranges::count(captures, "-") == 0) return;
  if (::lseek(STDIN_FILENO, 0, SEEK_SET) < 0) fail("standard input");
}

}  // namespace rocetrace
