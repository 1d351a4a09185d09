// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together, and keeps its parts in step.

// Facts of one connection, as a list of terms: [[name, text], ...].
function distributionText(times) {
  if (!times) return '';
  return duration(times.min) + ' to ' + duration(times.max) + ', median ' + duration(times.p50) + ', p99 ' + duration(times.p99);
}

function tallyText(counts) {
  return Object.entries(counts).filter(([, value]) => value > 0).map(([name, value]) => name + ' ' + grouped(value)).join(', ');
}

function flowFacts(flow) {
  const span = Date.parse(flow.last_time) - Date.parse(flow.first_time);
  const requests = flow.requests, responses = flow.responses;
  const labels = [];
  const dscps = Object.keys(flow.dscp);
  if (dscps.length) labels.push('DSCP ' + dscps.join(', '));
  if (flow.vlans.length) labels.push('VLAN ' + flow.vlans.join(', '));
  if (flow.source_ports.length) labels.push('UDP source port ' + flow.source_ports.join(', '));
  const ce = flow.ecn.ce, capable = ce + flow.ecn.ect0 + flow.ecn.ect1;
  return [
    ['traffic', grouped(flow.packets) + ' packets, ' + bytes(flow.wire_bytes) + (span > 0 ? ', mean ' + bitRate((flow.wire_bytes * 8000) / span) : '')],
    ['frames', grouped(flow.first_frame) + ' to ' + grouped(flow.last_frame)],
    ['marked as', labels.join('; ')],
    ['requests', requests.packets ? grouped(requests.packets) + ' packets in ' + grouped(requests.messages) + ' messages' : ''],
    ['sent again', requests.retransmissions ? grouped(requests.retransmissions) + ' (' + share(requests.retransmissions, requests.packets) + ') in ' + grouped(requests.episodes) + ' recoveries' : ''],
    ['by cause', requests.by_cause ? tallyText(requests.by_cause) : ''],
    ['by place', requests.by_place ? tallyText(requests.by_place) : ''],
    ['gaps', requests.gaps ? grouped(requests.gaps) + ', ' + grouped(requests.missing_psns) + ' PSNs missing' : ''],
    ['reordered', requests.reordered ? grouped(requests.reordered) : ''],
    ['answers', responses.packets ? tallyText({'ACKs': responses.acks, 'READ responses': responses.read_responses, 'atomic': responses.atomic_acks}) : ''],
    ['NAKs', tallyText({...responses.naks, rnr: responses.rnr_naks})],
    ['CE marks', ce ? grouped(ce) + ' (' + share(ce, capable) + ')' : ''],
    ['CNPs', flow.cnp.packets ? grouped(flow.cnp.packets) + (flow.cnp.interval_ns ? ', apart by ' + distributionText(flow.cnp.interval_ns) : '') : ''],
  ];
}

function connectionFacts(facts) {
  const cm = facts.cm;
  return [
    ['known from', facts.evidence + ', confidence ' + digits(facts.confidence)],
    ['path MTU', facts.path_mtu ? String(facts.path_mtu) : ''],
    ['ACK latency', distributionText(facts.ack_latency_ns)],
    ['READ latency', distributionText(facts.read_latency_ns)],
    ['message time', distributionText(facts.message_time_ns)],
    ['gap to NAK', distributionText(facts.nak_generation_ns)],
    ['NAK to resend', distributionText(facts.nak_reaction_ns)],
    ['RNR wait', distributionText(facts.rnr_wait_ns)],
    ['CE to CNP', distributionText(facts.ce_to_cnp_ns)],
    ['set up by', cm ? 'CM, service port ' + (cm.service_port === null ? '?' : cm.service_port) + (cm.local_ack_timeout_ns ? ', ACK timeout ' + duration(cm.local_ack_timeout_ns) : '') + ', ' + cm.retry_count + ' retries' : ''],
  ];
}

function factsCard(title, facts) {
  const card = element('div');
  card.append(element('h3', '', title));
  const list = element('dl');
  for (const [name, text] of facts) if (text) list.append(element('dt', '', name), element('dd', '', text));
  card.append(list);
  return card;
}

const flowName = (flow) => '#' + flow.id + '  ' + flow.source + ' \u2192 ' + flow.destination + ' ' + qpText(flow.dest_qp);

function plotName(plot) {
  const flows = plot.half_flows.filter(Boolean);
  return (plot.connection ? 'Connection ' + plot.connection : 'Half-flow') + ': ' +
    flows.map((flow) => flow.destination + ' ' + qpText(flow.dest_qp)).join(' and ');
}

class Page {
  constructor() {
    this.table = new ConnectionTable(byId('table'), (row) => this.showRow(row));
    const search = () => this.table.filter(byId('filter').value, byId('only-trouble').checked);
    byId('filter').addEventListener('input', search);
    byId('only-trouble').addEventListener('change', search);
    byId('choice').addEventListener('change', (event) => this.show(data.plots[event.target.value]));
    byId('zoom-out').addEventListener('click', () => this.group.zoom(this.group.whole));
    // The worst first, as in the table.
    const places = new Map(this.table.rows.flatMap((row, i) => [[row.one, i], [row.other, i]]));
    const place = (plot) => Math.min(...plot.half_flows.filter(Boolean).map((flow) => places.get(flow.id) ?? Infinity));
    data.plots.sort((a, b) => place(a) - place(b));
    for (const link of document.querySelectorAll('a.jump')) this.connectJump(link);
    byId('connections').hidden = data.rows.length === 0;
    byId('overview').hidden = data.rows.length === 0;
    byId('connection').hidden = data.plots.length === 0;
    for (const [number, plot] of data.plots.entries()) {
      const choice = element('option', '', plotName(plot));
      choice.value = number;
      byId('choice').append(choice);
    }
    if (data.rows.length > 0) {
      this.overview = overviewPlots(byId('overview-plots'));
      this.overview.draw();
    }
    if (data.plots.length > 0) this.show(data.plots[0]);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
  }

  plotOf(halfFlow) {
    return data.plots.find((plot) => plot.half_flows.some((flow) => flow && flow.id === halfFlow));
  }

  // A finding's link leads to its connection's plots, or else to its row.
  connectJump(link) {
    if (link.dataset.find) return link.addEventListener('click', () => this.find(link.dataset.find));
    const id = Number(link.dataset.halfFlow || 0);
    const row = this.table.rows.find((each) => (id ? each.one === id || each.other === id
      : each.connection === Number(link.dataset.connection)));
    if (!row || !this.table.hasPlots(row)) return link.remove();
    link.addEventListener('click', () => this.showRow(row));
  }

  find(text) {
    byId('filter').value = text;
    byId('filter').dispatchEvent(new Event('input'));
  }

  showRow(row) {
    const plot = this.plotOf(row.one) || this.plotOf(row.other);
    if (!plot) return;
    this.show(plot);
    byId('connection').scrollIntoView({block: 'start'});
  }

  show(plot) {
    if (this.group) this.group.clear();
    byId('choice').value = data.plots.indexOf(plot);
    const cards = element('div', 'facts');
    for (const flow of plot.half_flows) if (flow) cards.append(factsCard(flowName(flow), flowFacts(flow)));
    if (plot.facts) cards.append(factsCard('Both directions', connectionFacts(plot.facts)));
    byId('connection-facts').replaceChildren(cards);
    this.group = connectionPlots(byId('connection-plots'), plot);
    this.group.draw();
    const flow = plot.half_flows.find(Boolean);
    this.table.choose(flow ? this.table.rowOfHalfFlow(flow.id) : null);
  }

  redraw() {
    for (const group of [this.overview, this.group]) if (group) group.draw(group.range);
  }

  // Paper is white, and narrower than the screen; and nothing on it unfolds.
  print(printing) {
    document.documentElement.classList.toggle('printing', printing);
    this.table.print(printing);
    for (const fold of document.querySelectorAll('#summary > details, #findings > details')) fold.open = printing;
    for (const group of [this.overview, this.group]) if (group) group.print(printing);
  }
}

document.documentElement.classList.remove('no-script');
window.page = new Page();
