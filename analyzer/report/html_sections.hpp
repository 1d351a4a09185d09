// SPDX-License-Identifier: BSD-3-Clause
// The parts of the page that need no script: what a person reads first, and what lies beside it.

#pragma once

#include "report/report.hpp"

namespace rocetrace {

class Sink;

/// The names of the captures, when and how long.
void write_page_headline(const Report& report, Sink& out);
/// How far each capture can be trusted, and the totals.
void write_page_summary(const Report& report, Sink& out);
void write_page_findings(const Report& report, Sink& out);
/// Hosts, subnet pairs, and the other tables; what could not be judged.
void write_page_rest(const Report& report, Sink& out);

}  // namespace rocetrace
