/**
 * One page for all daemons of a machine, on 127.0.0.1 with a token of its own.
 *
 *     GET  /                       the page
 *     GET  /daemons/NAME/          the page of one daemon
 *     GET  /api/daemons            the `Overview` as JSON
 *     GET  /api/runs               the `LibraryView` as JSON
 *     POST /api/report             { "run": ID }, { "grid": ID } or { "compare": [ID, ID] }; answers the `address` of a report
 *     GET  /api/comparison/NAME    the `ComparisonView` of a daemon as JSON
 *     GET  /report/SECRET          a report that was made
 *     *    /daemons/NAME/api/CALL  the calls, questions and the stream of one daemon, passed on with its token
 *
 * The browser never sees the token of a daemon. What a daemon answers is passed on as JSON, whatever it says it is.
 */
import type { Assets } from '../assets.ts';
import { type LocalServer, type ServerOptions, startServer } from '../server.ts';
import { serveDaemonProxy } from './daemon-proxy.ts';
import { overviewOf, type Places } from './daemons.ts';
import type { Library } from './library.ts';
import { isReport, serveReports } from './reports.ts';

export interface MachineOptions extends Pick<ServerOptions, 'port' | 'token' | 'assets' | 'clock'> {
  readonly places: Places;
  readonly library: Library;
  /** A new text that nobody can guess. */
  readonly secret: () => string;
}

const pagesOf = ({ entry, machineEntry }: Assets) => ({ '/': machineEntry, '/daemons/:name/': entry });

/** Starts to listen; throws a `Refusal` when the port is taken. */
export function startMachine({ places, library, secret, ...options }: MachineOptions): Promise<LocalServer> {
  const overview = overviewOf(places, options.clock);
  const pages = pagesOf(options.assets);
  return startServer({ ...options, pages, portAdvice: 'set --port', isOpen: isReport }, (app) => {
    app.get('/api/daemons', () => overview());
    serveReports(app, library, secret);
    app.get<{ Params: { readonly name: string } }>('/api/comparison/:name', ({ params }, reply) => {
      const place = places().find(({ name }) => name === params.name);
      if (place !== undefined) return library.compare(place.dir);
      return reply.code(404).send({ ok: false, message: 'There is no daemon of this name.' });
    });
    serveDaemonProxy(app, places, options.clock);
  });
}
