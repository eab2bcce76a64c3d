/** Opens a report in a tab of its own. */
import type { Wanted } from '../../machine/library.ts';
import { noAnswer, post, say } from '../daemon.ts';

/** The tab opens with the click, or the browser would take it for an advertisement; the report comes when it is made. `home`: the way to the page of all daemons. */
export async function openReport(wanted: Wanted, home = ''): Promise<void> {
  const tab = window.open('', '_blank');
  if (tab !== null) tab.document.body.textContent = 'Making the report …';
  const address = await addressOf(wanted, home);
  if (typeof address !== 'string') {
    tab?.close();
    say({ ok: false, message: address.message });
  } else if (tab === null)
    say({ ok: false, message: 'The browser lets this page open no tab: allow it, then try again.' });
  else tab.location.replace(new URL(address, location.href));
}

async function addressOf(wanted: Wanted, home: string): Promise<string | { readonly message: string }> {
  try {
    const { status, said } = await post(`${home}api/report`, wanted);
    const { address, message } = said as { readonly address?: string; readonly message?: string };
    return address ?? { message: message ?? `Status ${status}.` };
  } catch {
    return { message: noAnswer };
  }
}
