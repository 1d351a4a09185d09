// SPDX-License-Identifier: BSD-3-Clause
// All findings there are.

#pragma once

#include "findings/detector.hpp"

namespace rocetrace {

/// One entry per file of this folder that makes findings, in the order of the documentation.
std::span<const CatalogEntry* const> catalog();

/// The kind of that id, or null.
const FindingKind* finding_kind(std::string_view id);

}  // namespace rocetrace
