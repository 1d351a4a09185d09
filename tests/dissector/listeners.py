# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark's -z forms of the plugin's statistics."""

import json
import os
import re
import subprocess
import unittest

import wireshark

PROGRAM = os.environ.get("ROCETRACE_PROGRAM", "")
EVERY_KIND = wireshark.capture("every_kind.pcap")


def statistic(capture, name, *arguments):
    out, _ = wireshark.run(["-2", "-q", "-r", wireshark.readable(capture), "-z", name, *arguments])
    return out


def half_flow_table(capture):
    """The rows of -z roce,qp, as column -> value."""
    lines = [[cell.strip() for cell in line.split("|")[:-1]]
             for line in statistic(capture, "roce,qp").splitlines() if "|" in line]
    return [dict(zip(lines[0], row)) for row in lines[1:]]


def payload(capture, stream):
    """What Follow shows of one connection: bytes of one side, bytes of the other side."""
    sides = [b"", b""]
    for line in statistic(capture, f"follow,roce,raw,{stream}").splitlines():
        match = re.fullmatch(r"(\t?)([0-9a-f]+)", line)
        if match:
            sides[match[1] != ""] += bytes.fromhex(match[2])
    return sides


class Statistics(unittest.TestCase):
    def test_opcodes(self):
        out = statistic(EVERY_KIND, "roce,tree")
        counts = dict(re.findall(r"^\s*([\w ]+?) {2,}(\d+) ", out, re.M))
        self.assertEqual(counts["RoCE packets"], "40")
        self.assertEqual(counts["RC SEND Only"], "8")
        self.assertEqual(counts["CNP"], "1")
        self.assertEqual(counts["Unassigned"], "2")

    def test_the_table_of_half_flows_is_that_of_the_report(self):
        for name in ("loss_read.pcap", "loss_32_qps.pcap", "rnr_recovered.pcap", "cnp.pcap"):
            report = json.loads(subprocess.run(
                [PROGRAM, "analyze", "--format", "json", wireshark.sample(name)], check=True,
                capture_output=True, text=True).stdout)
            wanted = [{
                "Half-flow": str(row["id"]), "Source": row["source"],
                "Destination": row["destination"], "QP": f"0x{row['dest_qp']:06x}",
                "Type": row["service"], "Packets": str(row["packets"]),
                "Bytes": str(row["wire_bytes"]),
                "Resent": str(row["requests"]["retransmissions"]
                              + (row["responses"]["retransmissions"] or 0)),
                "Missing": str(row["requests"]["missing_psns"]
                               + (row["responses"]["missing_psns"] or 0)),
                "NAK": str(sum(row["responses"]["naks"].values())),
                "RNR": str(row["responses"]["rnr_naks"]), "CNP": str(row["cnp"]["packets"]),
                "CE": str(row["ecn"]["ce"]),
            } for row in report["half_flows"]]
            table = half_flow_table(wireshark.sample(name))
            for row in table:
                del row["Stream"]
            self.assertEqual(table, wanted, name)

    def test_message_times_by_verb(self):
        out = statistic(wireshark.sample("loss_atomic.pcap"), "roce,srt")
        self.assertRegex(out, r"\d+\s+ATOMIC\s+\d+\s+0\.0\d+")
        out = statistic(wireshark.sample("clean_read.pcap"), "roce,srt")
        self.assertRegex(out, r"\d+\s+RDMA READ\s+\d+\s+0\.0\d+")

    def test_conversations_and_endpoints(self):
        out = statistic(EVERY_KIND, "conv,roce")
        self.assertRegex(out, r"10\.0\.0\.1\s+<->\s+10\.0\.0\.2")
        self.assertRegex(out, r"fd00::1\s+<->\s+fd00::2")
        out = statistic(EVERY_KIND, "endpoints,roce")
        self.assertRegex(out, r"(?m)^10\.0\.0\.2 ")

    def test_flow_graph(self):
        out = statistic(EVERY_KIND, "flow,roce,standard")
        self.assertIn("RC RDMA WRITE First", out)
        self.assertIn("QP 0x000011 PSN 104: NAK, PSN sequence error", out)
        self.assertIn("<------", out)
        self.assertIn("------>", out)

    def test_expert_infos(self):
        out = statistic(EVERY_KIND, "expert")
        for summary in ("The ICRC is wrong", "NAK, PSN sequence error", "RNR NAK, wait 1.28 ms",
                        "This opcode is not assigned", "Congestion notification"):
            self.assertIn(summary, out)


class Follow(unittest.TestCase):
    def test_shows_the_payload_of_one_connection(self):
        requests, responses = payload(EVERY_KIND, 2)
        self.assertTrue(requests.startswith(b"hello roce world" + b"A" * 1024 + b"B" * 1024))
        self.assertEqual(responses, b"D" * 1024 + b"E" * 1024)

    def test_resent_packets_come_once_and_in_order(self):
        # What the two ends captured differs in what was lost between them, and in nothing else.
        for name in ("b_send_loss_both1", "b_read_loss_b2a5", "b_write_burstloss"):
            at_client, at_server = wireshark.lab(name + r"\.[ab]\.pcap")
            self.assertEqual(payload(at_client, 0), payload(at_server, 0), name)
            self.assertNotEqual(payload(at_client, 0), [b"", b""])


if __name__ == "__main__":
    wireshark.main()
