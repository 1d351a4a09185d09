// SPDX-License-Identifier: BSD-3-Clause
// For how long pause frames keep a sender from sending. At 512 Gbit/s a quantum takes a nanosecond.

#include "roce/flow/pause_meter.hpp"

#include <gtest/gtest.h>

namespace roce::flow {
namespace {

constexpr double kOneQuantumPerNanosecond = 512;

struct Meter : PauseMeter {
  Meter& at(u64 time, u16 quanta) {
    observe(time, quanta, kOneQuantumPerNanosecond);
    return *this;
  }
  Meter& end(u64 time) {
    finish(time);
    return *this;
  }
};

TEST(PauseMeter, AStopEndsByItself) {
  const Meter meter = Meter{}.at(1000, 50).end(5000);
  EXPECT_EQ(meter.paused(), 50u);
  EXPECT_EQ(meter.longest(), 50u);
  EXPECT_EQ(meter.stops(), 1u);
}

TEST(PauseMeter, GoOnEndsAStop) {
  const Meter meter = Meter{}.at(1000, 500).at(1100, 0).end(5000);
  EXPECT_EQ(meter.paused(), 100u);
  EXPECT_EQ(meter.stops(), 1u);
  EXPECT_EQ(meter.frames(), 2u);
}

TEST(PauseMeter, RepeatedStopsAreOnePause) {
  const Meter meter = Meter{}.at(1000, 500).at(1400, 500).at(1800, 500).end(9000);
  EXPECT_EQ(meter.paused(), 1300u);
  EXPECT_EQ(meter.longest(), 1300u);
}

TEST(PauseMeter, AShorterStopReplacesALongerOne) {
  EXPECT_EQ(Meter{}.at(1000, 500).at(1100, 10).end(9000).paused(), 110u);
}

TEST(PauseMeter, PausesApartAreTwo) {
  const Meter meter = Meter{}.at(1000, 100).at(2000, 300).at(3000, 0).end(9000);
  EXPECT_EQ(meter.paused(), 400u);
  EXPECT_EQ(meter.longest(), 300u);
}

TEST(PauseMeter, TheEndOfTheTraceEndsAStop) {
  EXPECT_EQ(Meter{}.at(1000, 500).end(1020).paused(), 20u);
}

TEST(PauseMeter, TimeThatGoesBackIsNoTime) {
  EXPECT_EQ(Meter{}.at(1000, 500).at(400, 500).at(1600, 0).end(1600).paused(), 500u);
}

}  // namespace
}  // namespace roce::flow
