/** The result of the last action, for some seconds. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { toast } from './store.ts';

export const Toast = (): VNode => html`
  <div class="toasts" role="status">
    ${toast.value === undefined ? null : html`<p class=${toast.value.ok ? 'toast' : 'toast failed'}>${toast.value.message}</p>`}
  </div>
`;
