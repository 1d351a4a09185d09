// SPDX-License-Identifier: BSD-3-Clause
// Inputs that can only be read in order, and inputs that are in memory.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "capture/byte_source.hpp"

namespace rocetrace {
namespace {

using roce::Bytes;
using roce::u64;
using roce::u8;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

class FileStream final : public ByteStream {
 public:
  FileStream(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      total_ = static_cast<u64>(std::max<off_t>(0, status.st_size));
      // Only a hint: where it is not understood, reading is merely slower.
      posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
  }
  ~FileStream() override { close(descriptor_); }

  std::size_t read(u8* into, std::size_t size) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into, size);
      if (got >= 0) {
        read_ += static_cast<u64>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) throw std::runtime_error(name_ + ": " + std::strerror(errno));
    }
  }
  u64 bytes_read() const override { return read_; }
  u64 total_size() const override { return total_; }

 private:
  int descriptor_;
  std::string name_;
  u64 read_ = 0;
  u64 total_ = 0;
};

class StreamSource final : public ByteSource {
 public:
  explicit StreamSource(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {
    grow(kBlockBytes);
  }

  Window window(u64 offset, std::size_t need) override {
    assert(offset >= start_);
    if (offset > start_ + size_) skip_to(offset);
    std::size_t begin = static_cast<std::size_t>(std::min<u64>(offset - start_, size_));
    if (size_ - begin < need && !ended_) {
      // What was used makes room; the rest is at most a record, so moving it is cheap.
      std::memmove(buffer_.get(), buffer_.get() + begin, size_ - begin);
      start_ += begin;
      size_ -= begin;
      begin = 0;
      if (need > capacity_) grow(need);
      while (size_ < need && !ended_) fill();
    }
    return {Bytes(buffer_.get() + begin, size_ - begin), ended_};
  }
  u64 bytes_read() const override { return stream_->bytes_read(); }
  u64 total_size() const override { return stream_->total_size(); }
  std::optional<Damage> early_end() const override {
    std::optional<std::string> reason = stream_->early_end();
    if (!reason) return std::nullopt;
    return Damage{start_ + size_, 0, std::move(*reason)};
  }

 private:
  void fill() {
    const std::size_t got = stream_->read(buffer_.get() + size_, capacity_ - size_);
    size_ += got;
    ended_ = got == 0;
  }

  void skip_to(u64 offset) {
    while (offset > start_ + size_ && !ended_) {
      start_ += size_;
      size_ = 0;
      fill();
    }
  }

  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<u8[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<u8[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;  // bytes in the buffer
  u64 start_ = 0;         // offset in the input of the buffer's first byte
  bool ended_ = false;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}

  Window window(u64 offset, std::size_t) override {
    taken_ = static_cast<std::size_t>(std::min<u64>(offset, bytes_.size()));
    return {bytes_.subspan(taken_), true};
  }
  u64 bytes_read() const override { return taken_; }
  u64 total_size() const override { return bytes_.size(); }

 private:
  Bytes bytes_;
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> read_file(int descriptor, std::string name) {
  return std::make_unique<FileStream>(descriptor, std::move(name));
}

std::unique_ptr<ByteSource> buffer_stream(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<StreamSource>(std::move(stream));
}

std::unique_ptr<ByteSource> view_memory(Bytes bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace rocetrace
