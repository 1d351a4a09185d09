// SPDX-License-Identifier: BSD-3-Clause
// gzip by ISA-L, zstd and lz4 by their own libraries: the fastest there are for each.

#include "capture/decompress.hpp"

#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "capture/endian.hpp"

namespace rocetrace {
namespace {

// ISA-L counts bytes in 32 bits.
constexpr std::size_t kMost = std::numeric_limits<u32>::max();

/// What one step of a decoder did.
struct Step {
  std::size_t taken = 0;  // bytes of input
  std::size_t given = 0;  // bytes of output
  bool complete = false;  // the input is at the end of a member or frame
  std::string error{};    // why it cannot go on
};

class Gzip {
 public:
  static constexpr std::string_view kName = "gzip";

  Gzip() : state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  Step step(Bytes in, u8* out, std::size_t size) {
    if (state_->block_state == ISAL_BLOCK_FINISH) {
      if (in[0] != 0x1f || (in.size() > 1 && in[1] != 0x8b)) return behind_the_last(in);
      isal_inflate_reset(state_.get());
      state_->crc_flag = ISAL_GZIP;
    }
    const auto in_size = static_cast<u32>(std::min(in.size(), kMost));
    const auto out_size = static_cast<u32>(std::min(size, kMost));
    state_->next_in = const_cast<u8*>(in.data());  // is only read
    state_->avail_in = in_size;
    state_->next_out = out;
    state_->avail_out = out_size;
    const int result = isal_inflate(state_.get());
    Step step{in_size - state_->avail_in, out_size - state_->avail_out,
              state_->block_state == ISAL_BLOCK_FINISH};
    if (result < 0) step.error = result == ISAL_INCORRECT_CHECKSUM ? "wrong checksum" : "damaged";
    if (result == ISAL_NEED_DICT) step.error = "needs a dictionary";
    return step;
  }

 private:
  // As gzip does: zeros are padding. Anything else may have been a member.
  static Step behind_the_last(Bytes in) {
    const bool padding = std::ranges::all_of(in, [](u8 byte) { return byte == 0; });
    return {in.size(), 0, true, padding ? "" : "something else behind it"};
  }

  std::unique_ptr<inflate_state> state_;
};

class Zstd {
 public:
  static constexpr std::string_view kName = "zstd";

  Step step(Bytes in, u8* out, std::size_t size) {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out, size, 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &output, &input);
    Step step{input.pos, output.pos, result == 0};
    if (ZSTD_isError(result) != 0) step.error = ZSTD_getErrorName(result);
    return step;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
};

class Lz4 {
 public:
  static constexpr std::string_view kName = "lz4";

  Lz4() {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
      throw std::runtime_error("lz4: no memory");
    }
    context_.reset(context);
  }

  Step step(Bytes in, u8* out, std::size_t size) {
    std::size_t taken = in.size();
    std::size_t given = size;
    const std::size_t result =
        LZ4F_decompress(context_.get(), out, &given, in.data(), &taken, nullptr);
    if (LZ4F_isError(result) != 0) return {0, 0, false, LZ4F_getErrorName(result)};
    return {taken, given, result == 0};
  }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
  };
  std::unique_ptr<LZ4F_dctx, Free> context_;
};

template <class Decoder>
class Decompressed final : public ByteStream {
 public:
  explicit Decompressed(std::unique_ptr<ByteSource> compressed)
      : compressed_(std::move(compressed)) {}

  std::size_t read(u8* into, std::size_t size) override {
    while (!early_end_ && !ended_) {
      const Bytes in = compressed_->window(offset_, 1).bytes;
      // Once the input is used up the decoder may still have output in store.
      const Step step = in.empty() && complete_ ? Step{.complete = true} : decode(in, into, size);
      offset_ += step.taken;
      complete_ = step.complete;
      if (!step.error.empty()) early_end_ = std::string(Decoder::kName) + " data: " + step.error;
      if (step.given > 0) return step.given;
      if (in.empty()) finish();
    }
    return 0;
  }
  u64 bytes_read() const override { return compressed_->bytes_read(); }
  u64 total_size() const override { return compressed_->total_size(); }
  std::optional<std::string> early_end() const override { return early_end_; }

 private:
  Step decode(Bytes in, u8* into, std::size_t size) {
    assert(size > 0);
    return in.empty() ? decoder_.step(Bytes(&nothing_, 0), into, size)
                      : decoder_.step(in, into, size);
  }

  void finish() {
    ended_ = true;
    if (auto damage = compressed_->early_end()) early_end_ = std::move(damage->what);
    if (!early_end_ && !complete_) early_end_ = std::string(Decoder::kName) + " data: cut short";
  }

  std::unique_ptr<ByteSource> compressed_;
  Decoder decoder_;
  u64 offset_ = 0;
  u8 nothing_ = 0;
  bool complete_ = false;
  bool ended_ = false;
  std::optional<std::string> early_end_;
};

}  // namespace

Compression compression_of(Bytes first) {
  if (first.size() >= 3 && first[0] == 0x1f && first[1] == 0x8b && first[2] == 8) {
    return Compression::gzip;
  }
  if (first.size() < 4) return Compression::none;
  const u32 magic = u32{first[0]} | u32{first[1]} << 8 | u32{first[2]} << 16 | u32{first[3]} << 24;
  if (magic == 0x184d2204) return Compression::lz4;
  // Some zstd writers begin with a frame to be skipped.
  const bool zstd = magic == 0xfd2fb528 || (magic & 0xfffffff0) == 0x184d2a50;
  return zstd ? Compression::zstd : Compression::none;
}

std::string_view compression_name(Compression compression) {
  switch (compression) {
    case Compression::gzip: return Gzip::kName;
    case Compression::zstd: return Zstd::kName;
    case Compression::lz4: return Lz4::kName;
    case Compression::none: break;
  }
  return "";
}

std::unique_ptr<ByteStream> decompress(std::unique_ptr<ByteSource> compressed,
                                       Compression compression) {
  switch (compression) {
    case Compression::gzip: return std::make_unique<Decompressed<Gzip>>(std::move(compressed));
    case Compression::zstd: return std::make_unique<Decompressed<Zstd>>(std::move(compressed));
    case Compression::lz4: return std::make_unique<Decompressed<Lz4>>(std::move(compressed));
    case Compression::none: break;
  }
  assert(false);
  return nullptr;
}

}  // namespace rocetrace
