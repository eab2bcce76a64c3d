/** Signals that a daemon answers while it runs: SIGUSR2 kills, SIGHUP opens the log again and reloads the configuration. */
import { causeOf, Refusal } from '../domain/refusal.ts';
import { reloadsOnHangUp } from '../process/signals.ts';
import { requestKill, signalText } from './control/control-files.ts';
import type { OpenLog } from './log/log.ts';
import type { Session } from './session.ts';

export interface SignalParts extends Omit<OpenLog, 'change'> {
  readonly mode: string;
  readonly stateDir: string;
  readonly say: (line: string) => void;
  /** undefined before trading begins. */
  readonly session: () => Pick<Session, 'source'> | undefined;
}

/** Listens for as long as the process lives; without a listener SIGUSR2 would end it. */
export function listenToSignals(parts: SignalParts): void {
  if (process.platform !== 'win32') process.on('SIGUSR2', () => kill(parts));
  if (reloadsOnHangUp(parts.mode)) process.on('SIGHUP', () => reload(parts));
}

/** The signal kills, as the file does that it makes. */
function kill({ stateDir, say, session }: SignalParts): void {
  try {
    requestKill(stateDir, { reason: signalText });
  } catch (error) {
    const why = `its file cannot be created in ${stateDir} (${causeOf(error)})`;
    const running = session();
    if (running === undefined) say(`sluice: the signal has no effect before trading begins: ${why}`);
    else
      running.source
        .kill({ by: 'signal', reason: `${signalText}; ${why}` })
        .then(say, (failure: unknown) => say(`sluice: ${causeOf(failure)}`));
  }
}

function reload({ log, file, say, session }: SignalParts): void {
  const against = file.reopen();
  if (against !== undefined) log.error(`sluice.log cannot be opened again (${against}): the open file is written on`);
  const running = session();
  if (running === undefined) say('SIGHUP before trading begins reloads nothing');
  else
    running.source.reloadConfig({ by: 'signal', reason: 'SIGHUP', loosen: false }).catch((error: unknown) => {
      // A refusal is in the log and on the terminal already.
      if (!(error instanceof Refusal)) say(`sluice: ${causeOf(error)}`);
    });
}
