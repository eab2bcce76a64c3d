/** Opens a report in a tab of its own. */
import type { Wanted } from '../../machine/library.ts';
import { bearer, say } from '../daemon.ts';

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
    const reply = await fetch(`${home}api/report`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer() },
      body: JSON.stringify(wanted),
    });
    const { address, message } = (await reply.json()) as { readonly address?: string; readonly message?: string };
    return address ?? { message: message ?? `Status ${reply.status}.` };
  } catch {
    return { message: 'No answer: the program that serves this page has ended, or hangs.' };
  }
}
