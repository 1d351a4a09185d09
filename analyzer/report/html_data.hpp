// SPDX-License-Identifier: BSD-3-Clause
// The data of the HTML report, which its scripts make a table and plots of.

#pragma once

#include "report/html_plots.hpp"

namespace rocetrace {

class Sink;

/// Writes one JSON object. Whatever a string holds, it is not yet fit to stand in a page.
void write_page_data(const Report& report, const Plots& plots, Sink& out);

}  // namespace rocetrace
