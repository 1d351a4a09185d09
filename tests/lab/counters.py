# SPDX-License-Identifier: BSD-3-Clause
"""Our per-host counters beside those that the hosts' kernels kept.

Each host is judged at its own tap, where what passes is what the host sent and received. The kernel's names are
those of rdma_rxe: duplicate_request, out_of_seq_request (ours: out_of_sequence), rcvd_rnr_err (rnr_nak_retry_err),
sent_pkts and rcvd_pkts. They must be equal, but for the differences below, each with its reason.
"""
import glob
import json
import os
import subprocess

OURS = {"duplicate_request": "duplicate_request", "out_of_seq_request": "out_of_sequence",
        "rcvd_rnr_err": "rnr_nak_retry_err"}
PACKETS = {"sent_pkts": "sent_packets", "rcvd_pkts": "received_packets"}

DROPPED_BY_QP = "a QP in the error state, or gone, drops what it gets before any counter"
DIFFERENT = {  # (scenario, tap, counter): why
    ("a19_send_inv", "b", "duplicate_request"): DROPPED_BY_QP,
    ("a19_send_inv", "b", "rcvd_pkts"): DROPPED_BY_QP,
    ("f_bad_rkey_read", "b", "rcvd_pkts"): DROPPED_BY_QP,
    ("f_bad_rkey_write", "b", "rcvd_pkts"): DROPPED_BY_QP,
    ("f_noaccess_qp_write", "b", "rcvd_pkts"): DROPPED_BY_QP,
    ("f_peer_exit", "b", "duplicate_request"): DROPPED_BY_QP,
    ("f_peer_exit", "b", "rcvd_pkts"): DROPPED_BY_QP,
    ("f_rnr_exceeded", "a", "rcvd_pkts"): DROPPED_BY_QP,
    ("c_send_corrupt", "b", "rcvd_pkts"): "packets with a wrong ICRC are dropped before they are counted",
    ("c_send_dup", "b", "duplicate_request"): "the network doubled these packets: to a tap they are copies of one packet",
    ("h_cnp_1qp_iv2ms", "a", "rcvd_pkts"): "the CNPs came from a program beside rdma_rxe, which ignores them",
    ("h_cnp_1qp_iv2ms", "b", "sent_pkts"): "the CNPs came from a program beside rdma_rxe",
    ("h_cnp_4qp_iv5ms", "a", "rcvd_pkts"): "the CNPs came from a program beside rdma_rxe, which ignores them",
    ("h_cnp_4qp_iv5ms", "b", "sent_pkts"): "the CNPs came from a program beside rdma_rxe",
    ("q_capture_drops", "a", "sent_pkts"): "the capture lost packets",
    ("q_capture_drops", "a", "rcvd_pkts"): "the capture lost packets",
    ("q_capture_drops", "b", "sent_pkts"): "the capture lost packets",
    ("q_capture_drops", "b", "rcvd_pkts"): "the capture lost packets",
    ("g_vxlan_send", "b", "out_of_seq_request"): "this host's counters were not recorded in this scenario",
    
}

def own_row(report, tap):
    endings = (".1", "::1") if tap == "a" else (".2", "::2")
    rows = [row for row in report["hosts"] if row["address"].endswith(endings)]
    return rows[0] if rows else None

def compare(tool, path, scenario, tap, kernel, totals):
    result = subprocess.run([tool, "analyze", "--format", "json", path], capture_output=True, text=True, check=True)
    row = own_row(json.loads(result.stdout), tap)
    if row is None:
        return
    pairs = [(name, kernel.get(name, 0), row["counters"][ours] or 0) for name, ours in OURS.items()]
    pairs += [(name, kernel[name], row[ours]) for name, ours in PACKETS.items() if name in kernel]
    for name, theirs, mine in pairs:
        if theirs == mine:
            totals["equal"] += 1
        elif (scenario, tap, name) in DIFFERENT:
            totals["explained"] += 1
        else:
            totals["wrong"] += 1
            print(f"{scenario}.{tap}: {name}: kernel {theirs}, ours {mine}")

def check(tool, folder):
    totals = {"equal": 0, "explained": 0, "wrong": 0}
    for name in sorted(glob.glob(os.path.join(folder, "*.expect.json"))):
        with open(name, encoding="utf-8") as file:
            expected = json.load(file)
        for tap in "ab":
            path = os.path.join(folder, f"{expected['scenario']}.{tap}.pcap")
            if os.path.exists(path):
                compare(tool, path, expected["scenario"], tap, expected["counters"].get(tap, {}), totals)
    print("{equal} counters equal, {explained} differ for known reasons, {wrong} wrong".format(**totals))
    return 1 if totals["wrong"] or not totals["equal"] else 0
