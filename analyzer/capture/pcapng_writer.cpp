// SPDX-License-Identifier: BSD-3-Clause
// Blocks are put together in a buffer, in this host's byte order, which the format allows.

#include "capture/pcapng_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "capture/endian.hpp"
#include "capture/pcapng_blocks.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxOptionBytes = 65535;
constexpr u8 kNanoseconds = 9;

template <class T>
void append(std::vector<u8>& buffer, T value) {
  const std::size_t at = buffer.size();
  buffer.resize(at + sizeof value);
  std::memcpy(buffer.data() + at, &value, sizeof value);
}

bool is_special_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

PcapngWriter::PcapngWriter(std::string path) : path_(std::move(path)) {
  if (is_special_file(path_)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = path_ + ".XXXXXX";
    descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail();
  }
  begin_block(pcapng::kSection);
  put32(pcapng::kByteOrderMagic);
  put16(1);  // version 1.0
  put16(0);
  append(buffer_, ~u64{0});  // the section's length is not told
  option(pcapng::kApplication, "rocetrace");
  put32(pcapng::kEnd);
  end_block();
}

PcapngWriter::~PcapngWriter() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void PcapngWriter::write(const Frame& frame, const CaptureInfo& info, std::string_view comment) {
  const u32 interface = interface_of(frame, info);
  begin_block(pcapng::kEnhancedPacket);
  put32(interface);
  put32(frame.time >> 32);
  put32(frame.time & 0xffffffff);
  put32(frame.bytes.size());
  put32(frame.wire_size);
  put(frame.bytes);
  if (!comment.empty()) {
    option(pcapng::kComment, comment);
    put32(pcapng::kEnd);
  }
  end_block();
  ++frames_;
}

void PcapngWriter::finish() {
  flush();
  // A full disk may show only now.
  if (close(std::exchange(descriptor_, -1)) != 0) fail();
  if (temporary_.empty()) return;
  // mkostemp() makes files that only their owner can read; a capture is as others' output is.
  const mode_t mask = umask(0);
  umask(mask);
  if (chmod(temporary_.c_str(), 0666 & ~mask) != 0) fail();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
}

u32 PcapngWriter::interface_of(const Frame& frame, const CaptureInfo& info) {
  const Source source{frame.capture, frame.interface};
  const auto known = std::ranges::find(interfaces_, source);
  if (known != interfaces_.end()) return static_cast<u32>(known - interfaces_.begin());
  const InterfaceInfo& told = info.interfaces.at(frame.interface);
  begin_block(pcapng::kInterface);
  put16(frame.link_type);
  put16(0);
  put32(told.snap_length);
  if (!told.name.empty()) option(pcapng::kInterfaceName, told.name);
  if (!told.description.empty()) option(pcapng::kInterfaceDescription, told.description);
  if (!told.hardware.empty()) option(pcapng::kInterfaceHardware, told.hardware);
  if (!told.filter.empty()) option(pcapng::kFilter, std::string(1, '\0') + told.filter);
  if (told.fcs_bytes != 0) {
    option(pcapng::kFcsLength, std::string(1, static_cast<char>(told.fcs_bytes)));
  }
  option(pcapng::kTimeResolution, std::string(1, char{kNanoseconds}));
  put32(pcapng::kEnd);
  end_block();
  interfaces_.push_back(source);
  return static_cast<u32>(interfaces_.size() - 1);
}

void PcapngWriter::begin_block(u32 type) {
  block_ = buffer_.size();
  put32(type);
  put32(0);  // its length, once it is known
}

void PcapngWriter::end_block() {
  const auto length = static_cast<u32>(buffer_.size() - block_ + 4);
  std::memcpy(buffer_.data() + block_ + 4, &length, sizeof length);
  put32(length);
  if (buffer_.size() >= kFlushBytes) flush();
}

void PcapngWriter::put16(std::size_t value) {
  append(buffer_, static_cast<u16>(value));
}
void PcapngWriter::put32(std::size_t value) {
  append(buffer_, static_cast<u32>(value));
}

void PcapngWriter::put(Bytes bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  buffer_.resize((buffer_.size() + 3) / 4 * 4);  // blocks begin at multiples of 4, and so all else
}

void PcapngWriter::option(u16 code, std::string_view value) {
  value = value.substr(0, kMaxOptionBytes);
  put16(code);
  put16(value.size());
  buffer_.insert(buffer_.end(), value.begin(), value.end());
  buffer_.resize((buffer_.size() + 3) / 4 * 4);
}

void PcapngWriter::flush() {
  Bytes rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail();
    if (written > 0) rest = rest.subspan(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void PcapngWriter::fail() {
  throw std::runtime_error(path_ + ": " + std::strerror(errno));
}

}  // namespace rocetrace
