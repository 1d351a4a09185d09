// SPDX-License-Identifier: BSD-3-Clause
// A file mapped into memory, 64 MiB at a time, and forgotten again behind the reader.
//
// A file that shrinks while it is mapped makes its lost pages fault with SIGBUS, wherever the bytes
// are being looked at. The signal handler puts zero pages there, so that the program goes on, and
// the source then says that the file shrank.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "capture/byte_source.hpp"

namespace rocetrace {
namespace {

using roce::Bytes;
using roce::u64;
using roce::u8;

constexpr u64 kWindowBytes = u64{64} << 20;
constexpr u64 kReleaseBytes = u64{2} << 20;
constexpr u64 kPageBytes = 4096;  // a divisor of every page size, checked against the system's

// The only state that a signal handler can reach is global. A slot belongs to one source from
// take_slot() on; the handler reads begin and end, and writes `lost`.
struct GuardedRange {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> lost{false};
};
std::array<GuardedRange, 64> guarded_ranges;
std::once_flag handler_installed;
struct sigaction previous_action;

u64 page_bytes() {
  static const u64 size = std::max<u64>(kPageBytes, static_cast<u64>(sysconf(_SC_PAGESIZE)));
  return size;
}

void on_bus_error(int, siginfo_t* fault, void*) {
  const auto address = std::bit_cast<std::uintptr_t>(fault->si_addr);
  for (GuardedRange& range : guarded_ranges) {
    const std::uintptr_t begin = range.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = range.end.load(std::memory_order_acquire);
    if (address < begin || address >= end) continue;
    const std::uintptr_t page = address & ~(std::uintptr_t{page_bytes()} - 1);
    void* const zeros = mmap(std::bit_cast<void*>(page), end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    range.lost.store(true, std::memory_order_release);
    return;
  }
  // Not ours: the instruction faults again, and meets whoever was there before.
  sigaction(SIGBUS, &previous_action, nullptr);
}

GuardedRange* take_slot() {
  std::call_once(handler_installed, [] {
    page_bytes();  // not for the first time inside the handler
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
  });
  for (GuardedRange& range : guarded_ranges) {
    if (!range.taken.exchange(true)) return &range;
  }
  return nullptr;
}

class MappedSource final : public ByteSource {
 public:
  MappedSource(int descriptor, u64 size, GuardedRange& guard)
      : descriptor_(descriptor), size_(size), guard_(guard) {
    guard_.lost = false;
  }
  ~MappedSource() override {
    unmap();
    guard_.taken = false;
    close(descriptor_);
  }

  /// Maps the first window, to see whether that works at all.
  bool usable() { return map(0, 1); }

  /// Gives the descriptor back.
  int release() { return std::exchange(descriptor_, -1); }

  Window window(u64 offset, std::size_t need) override {
    offset_ = std::min(offset, size_);
    const u64 wanted = std::min<u64>(need, size_ - offset_);
    const bool mapped = offset_ >= start_ && offset_ + wanted <= start_ + mapped_;
    if (guard_.lost || (!mapped && !map(offset_, wanted))) {
      shrank_ = true;
      return {{}, true};
    }
    release_behind();
    const auto begin = static_cast<std::size_t>(offset_ - start_);
    const auto end = static_cast<std::size_t>(mapped_);
    return {Bytes(memory_ + begin, end - begin), start_ + mapped_ == size_};
  }
  u64 bytes_read() const override { return offset_; }
  u64 total_size() const override { return size_; }
  std::optional<Damage> early_end() const override {
    if (!shrank_ && !guard_.lost) return std::nullopt;
    return Damage{offset_, size_ - offset_, "the file shrank while it was being read"};
  }

 private:
  bool map(u64 offset, u64 wanted) {
    unmap();
    start_ = offset & ~(page_bytes() - 1);
    const u64 length = std::min(size_ - start_, std::max(kWindowBytes, offset - start_ + wanted));
    if (length == 0) return true;
    void* const memory = mmap(nullptr, static_cast<std::size_t>(length), PROT_READ, MAP_PRIVATE,
                              descriptor_, static_cast<off_t>(start_));
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<const u8*>(memory);
    mapped_ = length;
    released_ = 0;
    const auto begin = std::bit_cast<std::uintptr_t>(memory);
    guard_.end.store(begin + length, std::memory_order_release);
    guard_.begin.store(begin, std::memory_order_release);
    return true;
  }

  void unmap() {
    guard_.begin.store(UINTPTR_MAX, std::memory_order_release);
    guard_.end.store(0, std::memory_order_release);
    if (mapped_ > 0) munmap(const_cast<u8*>(memory_), static_cast<std::size_t>(mapped_));
    memory_ = nullptr;
    mapped_ = 0;
  }

  // Keeps the memory in use small: pages behind the reader stay in the system's cache only.
  void release_behind() {
    const u64 behind = (offset_ - start_) & ~(page_bytes() - 1);
    if (behind < released_ + kReleaseBytes || guard_.lost) return;
    madvise(const_cast<u8*>(memory_) + released_, static_cast<std::size_t>(behind - released_),
            MADV_DONTNEED);
    released_ = behind;
  }

  int descriptor_;
  u64 size_;
  GuardedRange& guard_;
  const u8* memory_ = nullptr;
  u64 start_ = 0;     // offset in the file of the mapping
  u64 mapped_ = 0;    // its length
  u64 released_ = 0;  // how much of it was forgotten
  u64 offset_ = 0;
  bool shrank_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> map_file(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
    return nullptr;
  }
  GuardedRange* const guard = take_slot();
  if (guard == nullptr) return nullptr;
  auto source =
      std::make_unique<MappedSource>(descriptor, static_cast<u64>(status.st_size), *guard);
  if (source->usable()) return source;
  source->release();
  return nullptr;
}

}  // namespace rocetrace
