// SPDX-License-Identifier: BSD-3-Clause
// Finds out what kind of file was given, and puts the reader for it together.

#include "capture/capture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "capture/decompress.hpp"
#include "capture/endian.hpp"

namespace rocetrace {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw std::runtime_error(name + ": " + reason);
}

int open_descriptor(const std::string& path) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    fail(path, std::strerror(EISDIR));
  }
  return descriptor;
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  const int descriptor = open_descriptor(path);
  // Standard input may be a file that was read in part: then only what is left belongs to us.
  if (lseek(descriptor, 0, SEEK_CUR) == 0) {
    if (auto mapped = map_file(descriptor)) return mapped;
  }
  return buffer_stream(read_file(descriptor, path));
}

}  // namespace

Capture::Capture(const std::string& path, roce::u16 index)
    : Capture(open_source(path), path, index) {}

Capture::Capture(roce::Bytes bytes, const std::string& name, roce::u16 index)
    : Capture(view_memory(bytes), name, index) {}

Capture::Capture(std::unique_ptr<ByteSource> source, const std::string& name, roce::u16 index)
    : source_(std::move(source)), info_(std::make_unique<CaptureInfo>()) {
  info_->file = name;
  info_->total_size = source_->total_size();
  const Bytes first = source_->window(0, 4).bytes;
  if (first.empty()) fail(name, "the file is empty");
  const Compression compression = compression_of(first);
  if (compression != Compression::none) {
    source_ = buffer_stream(read_ahead(decompress(std::move(source_), compression)));
  }
  info_->format = "pcap";
  reader_ = open_pcap(*source_, *info_, index);
  if (!reader_) {
    info_->format = "pcapng";
    reader_ = open_pcapng(*source_, *info_, index);
  }
  if (!reader_) {
    const auto early_end = source_->early_end();
    fail(name, early_end ? early_end->what : "not a capture file (neither pcap nor pcapng)");
  }
  if (compression == Compression::none) return;
  info_->format += '+';
  info_->format += compression_name(compression);
}

bool Capture::next(FrameBatch& batch) {
  const bool more = reader_->next(batch);
  if (more) trailer_clock_.apply(batch, *info_);
  info_->bytes_read = source_->bytes_read();
  if (!more && !ended_) {
    ended_ = true;
    if (auto damage = source_->early_end()) {
      info_->cut_short = true;
      note_damage(*info_, damage->offset, damage->skipped, std::move(damage->what));
    } else if (info_->total_size != 0) {
      info_->bytes_read = info_->total_size;
    }
  }
  return more;
}

}  // namespace rocetrace
