/** `--seed N` and `--plan JSON`: one run, shrunk where it fails. */
import { mutantOf } from '../campaign.ts';
import { type Plan, planText } from '../plan.ts';
import { shrink } from '../shrink.ts';
import { runWorld } from '../world.ts';
import { out } from './threads.ts';

export interface ExplainOptions {
  readonly trace: boolean;
  readonly mutant: string | undefined;
  readonly lateQueue: boolean;
  readonly absentAfterMs: number | undefined;
}

/** Replays a plan, shrinks it where it fails, and prints both. */
export async function explain(
  plan: Plan,
  { trace, mutant, lateQueue, absentAfterMs }: ExplainOptions,
): Promise<boolean> {
  const bent = mutant === undefined ? { lateQueue } : mutantOf(mutant).bent;
  const result = await runWorld({ plan, bent, absentAfterMs, trace });
  if (trace) out(result.trace.join('\n'));
  out(
    `seed ${plan.seed}: trace ${result.hash}, ${result.steps} steps, ${result.crashes} crashes, ${result.unknowns} unknowns`,
  );
  const { failure } = result;
  if (failure === undefined) return true;
  out(`seed ${plan.seed} breaks ${failure.invariant} after ${failure.atMs} ms: ${failure.text}`);
  const small = await shrink(plan, result, { bent, absentAfterMs });
  out(`its plan, shrunk in ${small.runs} runs: ${planText(small.plan)}`);
  if (!trace) out(small.result.trace.join('\n'));
  out(`replay: npm run simulate -- --trace --plan '${planText(small.plan)}'`);
  return false;
}
