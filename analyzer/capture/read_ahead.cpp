// SPDX-License-Identifier: BSD-3-Clause
// A stream read by a thread of its own. Decompression costs several times the analysis, so the two
// share the work best on two cores, a few blocks apart.

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "capture/decompress.hpp"
#include "capture/endian.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{512} << 10;
constexpr std::size_t kBlocks = 4;

class ReadAhead final : public ByteStream {
 public:
  explicit ReadAhead(std::unique_ptr<ByteStream> stream)
      : stream_(std::move(stream)), total_size_(stream_->total_size()) {
    for (Block& block : blocks_) block.octets = std::make_unique_for_overwrite<u8[]>(kBlockBytes);
    thread_ = std::thread([this] { fill_blocks(); });
  }
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::size_t read(u8* into, std::size_t size) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return filled_ > taken_ || ended_; });
    if (filled_ == taken_) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return 0;
    }
    lock.unlock();
    // The block is this thread's until it is counted as taken.
    const Block& block = blocks_[taken_ % kBlocks];
    const std::size_t given = std::min(size, block.size - used_);
    std::memcpy(into, block.octets.get() + used_, given);
    used_ += given;
    if (used_ == block.size) {
      lock.lock();
      ++taken_;
      used_ = 0;
      lock.unlock();
      changed_.notify_all();
    }
    return given;
  }
  u64 bytes_read() const override { return bytes_read_; }
  u64 total_size() const override { return total_size_; }
  std::optional<std::string> early_end() const override {
    const std::lock_guard lock(mutex_);
    return early_end_;
  }

 private:
  struct Block {
    std::unique_ptr<u8[]> octets;
    std::size_t size = 0;
  };

  void fill_blocks() {
    std::exception_ptr failure;
    try {
      while (fill_block()) continue;
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      failure_ = failure;
      early_end_ = stream_->early_end();
      ended_ = true;
    }
    changed_.notify_all();
  }

  // False at the end of the stream, and when nobody wants more.
  bool fill_block() {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ - taken_ < kBlocks || stopped_; });
      if (stopped_) return false;
    }
    Block& block = blocks_[filled_ % kBlocks];
    block.size = 0;
    while (block.size < kBlockBytes) {
      const std::size_t got =
          stream_->read(block.octets.get() + block.size, kBlockBytes - block.size);
      if (got == 0) break;
      block.size += got;
    }
    bytes_read_ = stream_->bytes_read();
    if (block.size == 0) return false;
    {
      const std::lock_guard lock(mutex_);
      ++filled_;
    }
    changed_.notify_all();
    return true;
  }

  std::unique_ptr<ByteStream> stream_;
  u64 total_size_;
  std::array<Block, kBlocks> blocks_;
  std::size_t used_ = 0;  // bytes of the block being read
  std::atomic<u64> bytes_read_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;  // blocks so far; written by the thread
  std::size_t taken_ = 0;   // blocks so far; written by the reader
  bool ended_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::optional<std::string> early_end_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<ByteStream> read_ahead(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<ReadAhead>(std::move(stream));
}

}  // namespace rocetrace
