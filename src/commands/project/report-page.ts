/** Shows a report on 127.0.0.1 in a page that loads it again when it was written again. */

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { causeOf, Refusal } from '../../domain/refusal.ts';

export interface ReportPage {
  readonly url: string;
  /** Loads the report again in every open page; `fault` stands above it, where it is not empty. */
  refresh(fault: string): void;
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** Pages that are open at once; the oldest is forgotten beyond that. */
const maxPages = 20;

// The report itself allows no connection, so it lies in a frame of a page that does.
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>sluice dev</title>
<style>
  html, body { margin: 0; height: 100%; display: flex; flex-direction: column; }
  iframe { flex: 1; border: 0; }
  pre { margin: 0; padding: 1rem; max-height: 40%; overflow: auto; background: #7a1010; color: #fff; white-space: pre-wrap; }
  pre:empty { display: none; }
</style>
<pre id="fault" role="alert"></pre>
<iframe id="report" src="/report" title="report"></iframe>
<script>
  const frame = document.getElementById('report');
  new EventSource('/changes').onmessage = ({ data }) => {
    document.getElementById('fault').textContent = JSON.parse(data).fault;
    const top = frame.contentWindow.scrollY;
    frame.onload = () => frame.contentWindow.scrollTo(0, top);
    frame.contentWindow.location.reload();
  };
</script>
</html>
`;

/** Serves the report in `file`; 0 takes any free port. Throws a `Refusal` when the port is taken. */
export async function serveReport(file: string, port: number): Promise<ReportPage> {
  const open = new Set<ServerResponse>();
  let last: string | undefined;
  const server = createServer((request, response) => {
    const { address, port: own } = server.address() as AddressInfo;
    // Another name for this machine would be another site's page.
    if (request.headers.host !== `${address}:${own}` || request.method !== 'GET')
      return void response.writeHead(403).end();
    response.setHeader('cache-control', 'no-store');
    if (request.url === '/') return void response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
    if (request.url === '/report') {
      const text = existsSync(file) ? readFileSync(file) : '<!doctype html><p>The first backtest is running.</p>';
      return void response.setHeader('content-type', 'text/html; charset=utf-8').end(text);
    }
    if (request.url !== '/changes') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (last !== undefined) response.write(last);
    open.add(response);
    const [oldest] = open;
    if (open.size > maxPages) oldest?.end();
    response.on('close', () => open.delete(response));
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw new Refusal(`--port ${port}: ${causeOf(error)}: name another port, or 0 for any free one`);
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    refresh(fault) {
      last = `data: ${JSON.stringify({ fault })}\n\n`;
      for (const response of open) response.write(last);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
