// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180): a field, quoted where it has to be.

#pragma once

#include <string_view>

#include "report/sink.hpp"

namespace rocetrace::csv {

/// One field. Ill-formed UTF-8 is replaced, and so are control characters but line ends and tabs.
void write(Sink& out, std::string_view text);

}  // namespace rocetrace::csv
