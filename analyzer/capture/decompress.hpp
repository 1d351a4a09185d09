// SPDX-License-Identifier: BSD-3-Clause
// Compressed captures, recognised by their first bytes and read as if they were not compressed.

#pragma once

#include <memory>
#include <string_view>

#include "capture/byte_source.hpp"

namespace rocetrace {

enum class Compression : roce::u8 { none, gzip, zstd, lz4 };

/// What the first bytes of a file (at least 4, if it has them) show it to be.
Compression compression_of(roce::Bytes first);

/// "gzip", "zstd", "lz4"; empty for none.
std::string_view compression_name(Compression compression);

/// The bytes that `compressed` holds; several members or frames in a row are one stream. Data that
/// is damaged or cut ends the stream, and early_end() says so. `compression` may not be none.
std::unique_ptr<ByteStream> decompress(std::unique_ptr<ByteSource> compressed,
                                       Compression compression);

/// Reads `stream` in a thread of its own, a few blocks ahead of the caller. Exceptions of the
/// stream come out of read().
std::unique_ptr<ByteStream> read_ahead(std::unique_ptr<ByteStream> stream);

}  // namespace rocetrace
