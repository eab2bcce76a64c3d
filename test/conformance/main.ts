/**
 * `npm run conformance -- --url URL [--ws URL] …`: goes through the specification, section by section, against the exchange
 * there. It reads only, unless it is allowed more. Ends with 1 when the exchange differs from the specification, and with 3 when
 * it could not cancel an order of its own.
 */
import { checks } from './checks.ts';
import { operations } from './operations.ts';
import { given, grantedBy, targetOf, usage } from './options.ts';
import { leftText } from './own-orders.ts';
import { openSession, type Session } from './session.ts';
import { type Result, runSuite } from './suite.ts';

const marks = { passed: 'ok  ', failed: 'FAIL', differs: 'note', skipped: 'skip' } as const;

function say({ check, outcome, why }: Result, json: boolean): void {
  const { section, observed, says } = check;
  const source = observed === undefined ? `§${section}` : `§${section} [${observed}]`;
  const line = `${marks[outcome]}  ${source.padEnd(9)} the exchange ${says}${why === undefined ? '' : `: ${why}`}`;
  process.stdout.write(`${json ? JSON.stringify({ section, observed, says, outcome, why }) : line}\n`);
}

/** The last lines: the counts, and what of the interface was asked for. */
function sum(results: readonly Result[], { done }: Session): void {
  const count = (outcome: Result['outcome']): number => results.filter((one) => one.outcome === outcome).length;
  const asked = operations.filter(({ name }) => done.has(name)).length;
  process.stdout.write(
    `${count('passed')} passed, ${count('failed')} failed, ${count('differs')} differ where the specification is silent, ` +
      `${count('skipped')} skipped; ${asked} of ${operations.length} operations were asked for\n`,
  );
}

const values = given();
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
const target = targetOf(values);
const at = await openSession(target).catch((error: unknown): never => {
  process.stderr.write(
    `nothing to check at ${target.url}: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(2);
});

/** How the command ends where it does not end by itself. */
let ending: { readonly code: number; readonly why: string } | undefined;
const stopped = new Promise<'stopped'>((resolve) => {
  const stop = (code: number, why: string): void => {
    ending ??= { code, why };
    at.stop();
    resolve('stopped');
  };
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.on(signal, () => stop(code, `stopped by ${signal}`));
  process.on('uncaughtException', (error) => stop(1, `stopped by an error: ${error.message}`));
  process.stdout.on('error', (error) => stop(1, `stopped, because the output cannot be written: ${error.message}`));
});

const { section: only } = values;
const results = await runSuite({
  ...{ at, granted: grantedBy(target, values), stopped },
  checks: checks.filter(({ section }) => only === undefined || section === only || section.startsWith(`${only}.`)),
  onResult: (result) => say(result, values.json),
});
const left = await at.own.sweep({ isLast: true });
if (!values.json) sum(results, at);
if (ending !== undefined) process.stderr.write(`${ending.why}; the checks that follow did not run\n`);
if (left.length > 0)
  process.stderr.write(
    `Orders that may still be open (${left.length}). Cancel them manually:\n${left.map((one) => `  ${leftText(one)}\n`).join('')}`,
  );
const failed = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
process.exit(left.length > 0 ? 3 : (ending?.code ?? failed));
