# SPDX-License-Identifier: GPL-2.0-or-later
"""Who gets a packet: the plugin, Wireshark's own dissector, or both, whatever the user sets."""

import unittest

import wireshark

EVERY_KIND = wireshark.capture("every_kind.pcap")
LAST_ROCE = 40  # frame 41 goes to port 5555, frame 42 is no RoCE packet


def who(capture, *arguments):
    """For each frame: whether the plugin decoded a BTH, and whether Wireshark's own did."""
    rows = wireshark.fields(capture, ["roce.bth.psn", "infiniband.bth.psn"], *arguments)
    return [(row[0] != "", row[1] != "") for row in rows]


class Hooking(unittest.TestCase):
    def assert_both(self, *arguments, up_to=LAST_ROCE, port_5555=(False, False)):
        seen = who(EVERY_KIND, *arguments)
        self.assertEqual(seen[:up_to], [(True, True)] * up_to)
        self.assertEqual(seen[40], port_5555)

    def test_both_decode_every_packet(self):
        self.assert_both()

    def test_a_changed_infiniband_preference_does_not_take_the_packets_back(self):
        self.assert_both("-o", "infiniband.try_heuristic_first:TRUE")
        self.assert_both("-o", "infiniband.try_heuristic_first:FALSE")

    def test_follows_the_port_preference(self):
        seen = who(EVERY_KIND, "-o", "infiniband.rroce.port:5555")
        self.assertEqual(seen[40], (True, True))
        self.assertEqual(seen[3], (False, False))
        self.assertEqual(seen[30], (True, True))  # RoCEv1

    def test_decode_as_roce_on_another_port(self):
        self.assert_both("-d", "udp.port==5555,roce", port_5555=(True, True))

    def test_decode_as_infiniband_means_both(self):
        # Wireshark takes its dissector of RoCE for it, and that is the one we stand before.
        self.assert_both("-d", "udp.port==5555,infiniband", port_5555=(True, True))

    def test_without_infiniband_the_plugin_decodes_alone(self):
        seen = who(EVERY_KIND, "--disable-protocol", "infiniband")
        self.assertEqual(seen[:LAST_ROCE], [(True, False)] * LAST_ROCE)

    def test_without_roce_everything_is_as_before(self):
        seen = who(EVERY_KIND, "--disable-protocol", "roce")
        self.assertEqual(seen[:LAST_ROCE], [(False, True)] * LAST_ROCE)
        everything = ["-r", wireshark.readable(EVERY_KIND), "-V"]
        disabled, _ = wireshark.run([*everything, "--disable-protocol", "roce"])
        absent, _ = wireshark.run(everything, plugin=False)
        self.assertEqual(disabled, absent)

    def test_source_ports_of_other_protocols(self):
        self.assertEqual(who(wireshark.capture("encapsulated.pcap")), [(True, True)] * 5)

    def test_sent_from_the_port_is_not_sent_to_it(self):
        self.assertEqual(who(wireshark.capture("from_4791.pcap")),
                         [(False, False), (True, True)])

    def test_a_quoted_packet_is_not_analyzed(self):
        rows = wireshark.fields(wireshark.capture("quoted_by_icmp.pcap"),
                                ["roce.bth.psn", "roce.analysis.class"])
        self.assertEqual(rows, [["100", "first"], ["100", ""], ["101", "in_order"]])


class NothingIsTakenAway(unittest.TestCase):
    """What Wireshark's own dissectors say stays as it is."""
    LAYERS = ["infiniband", "nvme", "nvme-rdma", "rpcordma", "rpc", "nfs", "iser", "smb_direct",
              "data", "_ws.malformed"]

    def compare(self, capture):
        self.assertEqual(wireshark.layers(capture, self.LAYERS),
                         wireshark.layers(capture, self.LAYERS, plugin=False),
                         capture)

    def test_in_captures_made_by_hand(self):
        for name in ("every_kind.pcap", "cut_at_96.pcap", "connection_management.pcap",
                     "fragmented_sends.pcap", "rpc_missing_middle.pcap"):
            self.compare(wireshark.capture(name))

    def test_in_samples(self):
        for name in ("clean_rdma_cm.pcap", "clean_read.pcap", "cnp.pcap", "rnr_recovered.pcap",
                     "no_roce.pcap"):
            self.compare(wireshark.sample(name))

    def test_the_source_address_of_a_cm_request_is_right(self):
        rows = wireshark.fields(EVERY_KIND, ["_ws.col.Source"], "-Y", "frame.number == 1", passes=1)
        self.assertEqual(rows, [["10.0.0.1"]])


if __name__ == "__main__":
    wireshark.main()
