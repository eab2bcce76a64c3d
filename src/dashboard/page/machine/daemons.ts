/** Each daemon of the machine as a card that opens its own page. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { DaemonRow, DaemonSummary, Overview } from '../../machine/overview.ts';
import { useGet } from '../ask.ts';
import { age, change, direction, money, signed } from '../format.ts';
import { Pill, Shown, type Tone } from '../parts.ts';

/** Real ms between two answers. */
const everyMs = 1_000;
/** Real ms for one: longer than the server waits for a daemon, and short enough for eyes. */
const patienceMs = 5_000;

function badge({ contact, said }: DaemonRow): readonly [Tone, string] {
  if (contact === 'stopped') return ['plain', 'Not running'];
  if (contact === 'starting') return ['warn', 'Starting'];
  if (contact === 'silent') return ['bad', 'Does not answer'];
  if (contact === 'refused' || said === undefined) return ['bad', 'Not contacted'];
  if (said.state === 'killed') return ['bad', 'Killed'];
  if (said.state === 'ready' && said.blocked !== undefined) return ['warn', 'Orders blocked'];
  if (said.state === 'ready' && said.noMarketData !== undefined) return ['warn', 'No market data'];
  if (said.state !== 'ready') return ['warn', said.state === 'stopping' ? 'Stopping' : 'Starting'];
  return said.runningStrategies === 0 ? ['warn', 'No strategy runs'] : ['good', 'Ready'];
}

const Fact = ({ name, value, tone = '' }: { name: string; value: string; tone?: string }): VNode =>
  html`<div><dt>${name}</dt><dd class=${tone}>${value}</dd></div>`;

/** What is wrong comes as a list, the worst first. */
const Troubles = ({ said: { alarms, inForce, threw } }: { said: DaemonSummary }): VNode | null =>
  alarms.length + threw.length === 0 && inForce === ''
    ? null
    : html`<ul class="troubles">
        ${alarms.map((text) => html`<li class="down">Alarm: ${text}</li>`)}
        ${threw.map((id) => html`<li class="down">${id} threw and was stopped</li>`)}
        ${inForce === '' ? null : html`<li class="warned">${inForce}</li>`}
      </ul>`;

function Said({ said }: { said: DaemonSummary }): VNode {
  const { equity, openOrders, unknowns, strategies, runningStrategies, alarms } = said;
  const today = change(equity.dayStart, equity.now);
  return html`
    <p class="worth"><b>${money(equity.now)}</b> ${equity.asset}
      <span class=${direction(today.amount)}> ${signed(today.amount)} (${signed(today.percent)} %) today</span>
    </p>
    <dl class="facts">
      <${Fact} name="Strategies" value=${`${runningStrategies} of ${strategies} running`} />
      <${Fact} name="Open orders" value=${openOrders} />
      <${Fact} name="Unknown" value=${unknowns} tone=${unknowns > 0 ? 'warned' : ''} />
      <${Fact} name="Alarms" value=${alarms.length} tone=${alarms.length > 0 ? 'down' : ''} />
    </dl>
    <${Troubles} said=${said} />
  `;
}

const lastText = ({ contact, lastContact }: DaemonRow, now: number): string => {
  if (lastContact === undefined) return 'No contact since this page is served';
  return contact === 'answers' ? 'Last contact: now' : `Last contact ${age(now - lastContact)} ago`;
};

function Card({ row, now }: { row: DaemonRow; now: number }): VNode {
  const { name, dir, contact, problem, said } = row;
  const [tone, label] = badge(row);
  const isOld = contact !== 'answers';
  const titleId = `daemon-${name}`;
  return html`
    <li class=${`panel daemon ${isOld ? 'old' : ''}`} aria-labelledby=${titleId}>
      <header class="panel-head">
        <h2 id=${titleId}><a href=${`daemons/${encodeURIComponent(name)}/`}>${name}</a></h2>
        ${said === undefined ? null : html`<span class=${`mode ${said.isRealMoney ? 'real' : ''}`}>${said.mode}</span>`}
        <span class="aside"><${Pill} tone=${tone}><i class="dot"></i>${label}<//></span>
      </header>
      ${problem === undefined ? null : html`<p class="problem">${problem}</p>`}
      ${isOld && said !== undefined ? html`<p class="problem">These figures are old:</p>` : null}
      ${said === undefined ? null : html`<${Said} said=${said} />`}
      <p class="muted small">${lastText(row, now)} · ${dir}${said === undefined ? '' : ` · ${said.exchangeUrl}`}</p>
    </li>
  `;
}

export function Daemons(): VNode {
  const answer = useGet<Overview>('api/daemons', { everyMs, patienceMs });
  return html`<${Shown} answer=${answer}>
    ${({ at, daemons }: Overview) =>
      daemons.length === 0
        ? html`<p class="empty">No state directory yet: a daemon that starts here appears by itself.</p>`
        : html`<ul class="daemons">${daemons.map((row) => html`<${Card} key=${row.name} row=${row} now=${at} />`)}</ul>`}
  <//>`;
}
