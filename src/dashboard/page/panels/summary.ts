/** The numbers at the top: equity, its changes, what is open, and the request weight. */
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { Meter, View, WeightView } from '../../view.ts';
import { change, clockTime, direction, drawn, money, signed } from '../format.ts';

interface TileProps {
  readonly label: string;
  readonly children?: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly kind?: string;
}
const Tile = ({ label, children, note, kind = '' }: TileProps): VNode => html`
  <div class=${`tile ${kind}`}>
    <dt>${label}</dt>
    <dd>${children}</dd>
    <dd class="note">${note}</dd>
  </div>
`;

function Change({ label, from, to }: { label: string; from: string; to: string }): VNode {
  const { amount, percent } = change(from, to);
  return html`<${Tile} label=${label} note=${html`<span class=${direction(amount)}>${signed(percent)} %</span>`}>
    <span class=${direction(amount)}>${signed(amount)}</span>
  <//>`;
}

const percentOf = ({ used, max }: Meter): number => (max === 0 ? 0 : Math.min(100, Math.round((100 * used) / max)));
const compact = (value: number): string => value.toLocaleString('en');

function WeightMeter({ label, meter }: { label: string; meter: Meter }): VNode {
  const percent = percentOf(meter);
  return html`
    <div class="meter">
      <span>${label}</span>
      <meter
        min="0"
        max=${meter.max}
        high=${meter.max * 0.8}
        value=${meter.used}
        aria-label=${`${label} weight used in the last minute`}
      ></meter>
      <span class="figure" title=${`${compact(meter.used)} of ${compact(meter.max)}`}>${percent} %</span>
    </div>
  `;
}

function weightNote({ waiting, bannedUntil }: WeightView): string {
  if (bannedUntil !== undefined) return `Stopped by the exchange until ${clockTime(bannedUntil)} UTC`;
  return waiting === 0 ? 'nothing waits' : `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'}`;
}

const Weight = ({ weight }: { weight: WeightView }): VNode => html`
  <${Tile} kind=${`weight ${weight.bannedUntil === undefined ? '' : 'banned'}`} label="Request weight" note=${weightNote(weight)}>
    <${WeightMeter} label="IP" meter=${weight.ip} />
    <${WeightMeter} label="UID" meter=${weight.uid} />
  <//>
`;

export function Summary({ view }: { view: View }): VNode {
  const { equity, unknowns, openOrders, strategies } = view;
  const unresolved = unknowns.filter(({ resolved }) => resolved === undefined).length;
  const held = strategies.filter(({ position }) => !position.isDust && drawn(position.quantity) !== 0).length;
  const resolved = unknowns.length - unresolved;
  const running = new Set(strategies.map(({ id }) => id)).size;
  return html`
    <dl class="summary">
      <${Tile} kind="equity" label="Equity" note=${equity.asset}>${money(equity.now)}<//>
      <${Change} label="Today (UTC)" from=${equity.dayStart} to=${equity.now} />
      <${Change} label="Since the start" from=${equity.start} to=${equity.now} />
      <${Tile} label="Positions" note=${`of ${running} ${running === 1 ? 'strategy' : 'strategies'}`}>${held}<//>
      <${Tile} label="Open orders" note="resting or sent">${openOrders.length}<//>
      <${Tile} kind=${unresolved > 0 ? 'attention' : ''} label="Unknown" note=${`${resolved} resolved`}>
        ${unresolved}
      <//>
      <${Weight} weight=${view.weight} />
    </dl>
  `;
}
