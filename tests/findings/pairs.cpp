// SPDX-License-Identifier: BSD-3-Clause
// Every kind of finding is made where it holds, as findings say it, and not where it nearly does.

#include "pairs.hpp"

#include <set>

#include "findings/catalog.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

const Pairs& all_pairs() {
  static const Pairs kAll = [] {
    Pairs all;
    for (const auto table :
         {capture_pairs, loss_pairs, nak_pairs, retry_pairs, path_pairs, cm_pairs, congestion_pairs,
          cnp_pairs, class_pairs, pause_pairs, entropy_pairs, waiting_pairs, fairness_pairs,
          icrc_pairs, counter_pairs})
      for (Pair& pair : table()) all.push_back(std::move(pair));
    return all;
  }();
  return kAll;
}

std::string scope_text(const FindingScope& scope) {
  if (scope.half_flow) return fmt::format("half_flow {}", *scope.half_flow);
  if (scope.connection) return fmt::format("connection {}", *scope.connection);
  if (scope.host) return fmt::format("host {}", *scope.host);
  if (scope.hosts) return fmt::format("hosts {} {}", scope.hosts->at(0), scope.hosts->at(1));
  return scope.capture ? "capture" : "nothing";
}

// The loud kinds besides `id`.
std::vector<std::string> loud_others(const Report& report, std::string_view id) {
  std::vector<std::string> ids = loud(report);
  std::erase(ids, id);
  return ids;
}

std::string all_of(const Report& report) {
  std::string text;
  for (const FindingRow& row : report.findings)
    text += fmt::format("  {} {}: {}\n", row.severity, row.id, row.text);
  for (const UnjudgedRow& row : report.could_not_judge)
    text += fmt::format("  not judged: {}: {}\n", row.id, row.text);
  return text;
}

// Looks at one trace; skips when it is of a capture that is not here.
template <class Look>
void look_at(Report (*make)(), Look look) {
  try {
    const Report report = make();
    SCOPED_TRACE("found in all:\n" + all_of(report));
    look(report);
  } catch (const NotHere& missing) {
    GTEST_SKIP() << missing.what();
  }
}

class Finding : public testing::TestWithParam<std::size_t> {
 protected:
  static const Pair& pair() { return all_pairs()[GetParam()]; }
};

TEST_P(Finding, IsMadeWhereItHolds) {
  look_at(pair().has, [](const Report& report) {
    const FindingRow* row = find(report, pair().id);
    ASSERT_NE(row, nullptr) << pair().id << " was not found";
    EXPECT_EQ(row->severity, pair().severity);
    EXPECT_EQ(scope_text(row->scope), pair().scope);
    EXPECT_EQ(row->count, pair().count);
    EXPECT_EQ(row->first_frame.value_or(0), pair().first_frame);
    if (row->first_frame) {
      EXPECT_GE(row->last_frame, row->first_frame);
      EXPECT_GE(row->last_time->ns, row->first_time->ns);
    }
    for (const auto& [name, value] : pair().evidence)
      EXPECT_EQ(evidence(report, pair().id, name), value) << name;
    for (const std::string_view words : pair().says)
      EXPECT_THAT(row->text, HasSubstr(std::string(words)));
    EXPECT_THAT(loud_others(report, pair().id), UnorderedElementsAreArray(pair().others));
  });
}

TEST_P(Finding, IsNotMadeOfARelative) {
  look_at(pair().has_not, [](const Report& report) {
    EXPECT_FALSE(has(report, pair().id)) << text(report, pair().id);
    EXPECT_THAT(loud_others(report, pair().id), UnorderedElementsAreArray(pair().others_without));
  });
}

INSTANTIATE_TEST_SUITE_P(Pairs, Finding, testing::Range(std::size_t{0}, all_pairs().size()),
                         [](const auto& test) {
                           std::string name(all_pairs()[test.param].id);
                           std::ranges::replace(name, '.', '_');
                           const bool again =
                               std::ranges::count(all_pairs(), all_pairs()[test.param].id,
                                                  &Pair::id) > 1;
                           return again ? fmt::format("{}_{}", name, test.param) : name;
                         });

TEST(Catalog, EveryKindHasAPairOfTraces) {
  std::set<std::string_view> paired;
  for (const Pair& pair : all_pairs()) {
    EXPECT_NE(finding_kind(pair.id), nullptr) << pair.id << " is in no catalog";
    EXPECT_TRUE(pair.has && pair.has_not) << pair.id;
    paired.insert(pair.id);
  }
  for (const CatalogEntry* entry : catalog())
    for (const FindingKind& kind : entry->kinds)
      EXPECT_TRUE(paired.contains(kind.id)) << kind.id << " has no pair of traces";
}

}  // namespace
}  // namespace rocetrace::test
