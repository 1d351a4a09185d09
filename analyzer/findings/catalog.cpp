// SPDX-License-Identifier: BSD-3-Clause
#include "findings/catalog.hpp"

namespace rocetrace {

extern const CatalogEntry kCaptureLoss, kCaptureSampled, kCaptureMirror, kCaptureFile;
extern const CatalogEntry kLossRetransmission, kLossOrder, kNakSequence, kFatalNak, kRnrStorm;
extern const CatalogEntry kTimeouts, kRetryExhausted, kUcMessageLost, kConformance;
extern const CatalogEntry kPathAnswers, kPathHosts, kPathIcmp, kPathMtu, kCm;
extern const CatalogEntry kEcn, kCnpTimes, kCnpMissing, kCnpOdd, kDscp, kPause, kEntropy;
extern const CatalogEntry kStalls, kFairness, kIcrc, kIcrcRewritten, kCountersDisagree;

namespace {

constexpr const CatalogEntry* kCatalog[] = {
    // The capture itself.
    &kCaptureLoss,
    &kCaptureSampled,
    &kCaptureMirror,
    &kCaptureFile,
    // Loss and recovery.
    &kLossRetransmission,
    &kLossOrder,
    &kNakSequence,
    &kFatalNak,
    &kRnrStorm,
    &kTimeouts,
    &kRetryExhausted,
    &kUcMessageLost,
    &kConformance,
    // Path and set-up.
    &kPathAnswers,
    &kPathHosts,
    &kPathIcmp,
    &kPathMtu,
    &kCm,
    // Congestion and class.
    &kEcn,
    &kCnpTimes,
    &kCnpMissing,
    &kCnpOdd,
    &kDscp,
    &kPause,
    &kEntropy,
    // Performance and integrity.
    &kStalls,
    &kFairness,
    &kIcrc,
    &kIcrcRewritten,
    &kCountersDisagree,
};

}  // namespace

std::span<const CatalogEntry* const> catalog() {
  return kCatalog;
}

const FindingKind* finding_kind(std::string_view id) {
  for (const CatalogEntry* entry : kCatalog)
    for (const FindingKind& kind : entry->kinds)
      if (kind.id == id) return &kind;
  return nullptr;
}

}  // namespace rocetrace
