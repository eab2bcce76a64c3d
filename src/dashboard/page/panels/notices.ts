/** The banners: what happened, until somebody dismisses it. A dismissed one stays away; only a new event brings a banner again. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { AlarmView, NoticeView, View } from '../../view.ts';
import { askAcknowledge } from '../dialog.ts';
import { When } from '../parts.ts';
import { isOffline } from '../store.ts';

/** Banners at once. */
const maxShown = 3;
/** Dismissed ones that are remembered: more than a daemon shows. */
const maxKept = 60;
const name = 'sluice-dismissed';

const keyOf = ({ at, level, text }: NoticeView): string => `${at} ${level} ${text}`;

function stored(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(name) ?? '[]');
    return Array.isArray(kept) ? kept.map(String) : [];
  } catch {
    return [];
  }
}
const dismissed = signal(stored());

function dismiss(notices: readonly NoticeView[]): void {
  dismissed.value = [...dismissed.value, ...notices.map(keyOf)].slice(-maxKept);
  try {
    sessionStorage.setItem(name, JSON.stringify(dismissed.value));
  } catch {
    // Storage may be full or forbidden: they then stay away until a reload.
  }
}

const standing = ({ notices }: View): readonly NoticeView[] =>
  notices.filter((notice) => !dismissed.value.includes(keyOf(notice)));

const Notice = ({ notice }: { notice: NoticeView }): VNode => html`
  <div class=${`banner ${notice.level}`}>
    <${When} at=${notice.at} />
    <span>${notice.text}${notice.advice === undefined ? null : html` <span class="advice">${notice.advice}</span>`}</span>
    <button type="button" class="dismiss" aria-label=${`Dismiss: ${notice.text}`} onClick=${() => dismiss([notice])}>×</button>
  </div>
`;

/** It is sent again until somebody acknowledges it, so it cannot be dismissed. */
const Alarm = ({ alarm }: { alarm: AlarmView }): VNode => html`
  <div class=${`banner ${alarm.level}`}>
    <${When} at=${alarm.time} />
    <span><b>Alarm ${alarm.id}</b> ${alarm.text}</span>
    <button type="button" class="button small" disabled=${isOffline.value} aria-label=${`Acknowledge alarm ${alarm.id}`} onClick=${() => askAcknowledge(alarm)}>Acknowledge …</button>
  </div>
`;

/** The newest first: what is open for days must not hide what has just happened. */
function Alarms({ alarms }: { alarms: readonly AlarmView[] }): VNode {
  return html`
    ${alarms
      .toReversed()
      .slice(0, maxShown)
      .map((alarm) => html`<${Alarm} key=${alarm.id} alarm=${alarm} />`)}
    ${
      alarms.length > 1
        ? html`<button type="button" class="link dismiss-all" disabled=${isOffline.value} onClick=${() => askAcknowledge()}>Acknowledge all ${alarms.length} alarms …</button>`
        : null
    }
  `;
}

export function Notices({ shown }: { shown: View }): VNode {
  const all = standing(shown);
  return html`
    <div class="notices" role="status">
      <p class=${`state-text ${shown.state}`}>${shown.stateText}</p>
      <${Alarms} alarms=${shown.alarms ?? []} />
      ${all.slice(0, maxShown).map((notice) => html`<${Notice} key=${keyOf(notice)} notice=${notice} />`)}
      ${
        all.length > 1
          ? html`<button type="button" class="link dismiss-all" onClick=${() => dismiss(all)}>Dismiss all ${all.length}</button>`
          : null
      }
    </div>
  `;
}
