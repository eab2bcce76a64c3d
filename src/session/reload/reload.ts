/** `sluice reload ID`: new code of a strategy takes over in the running daemon, with its position, exits and orders. */
import { defer, filter, type Observable, startWith } from 'rxjs';
import { noUnits } from '../../domain/money.ts';
import type { Asked } from '../../domain/operator-actions.ts';
import { causeOf, didYouMean, Refusal } from '../../domain/refusal.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { source } from '../../trading/hot-streams.ts';
import { codeOf, codeToLoad, loadAgain } from '../../trading/load-again.ts';
import type { Configured, NamedHosted } from '../../trading/strategies.ts';
import { inJournal } from '../state.ts';
import type { Runner } from '../strategies/running-strategy.ts';
import type { Screen } from '../view/view.ts';
import { loading, tryOut } from './try-out.ts';

export interface ReloadParts extends Omit<Runner, 'failed' | 'assembled'> {
  readonly assembled: Runner['assembled'] & Pick<Assembled, 'risk'>;
  readonly screen: Pick<Screen, 'addKline' | 'addHistory' | 'errorOf'>;
  readonly journal: Pick<Journal, 'append'>;
  readonly stateDir: string;
  readonly configured: readonly Configured[];
  /** The strategies that run; new code takes its place among them. */
  readonly hosted: NamedHosted[];
}

export class Reloads {
  readonly #parts: ReloadParts;
  readonly #began = source<NamedHosted>();
  readonly #busy = new Set<string>();

  constructor(parts: ReloadParts) {
    this.#parts = parts;
  }

  /** A strategy as it is now, and again each time that new code takes its place. */
  of(id: string): Observable<NamedHosted> {
    return defer(() => {
      const now = this.#parts.hosted.filter((one) => one.id === id);
      return this.#began.stream.pipe(
        filter((one) => one.id === id),
        startWith(...now),
      );
    });
  }

  /** Returns what was done. Throws a `Refusal` with the reason where the old code goes on. */
  async reload({ strategy: id, by, reason }: Asked & { readonly strategy: string }): Promise<string> {
    const { configured, notice } = this.#parts;
    const index = configured.findIndex(({ config }) => config.id === id);
    const ids = configured.map(({ config }) => config.id);
    if (index < 0)
      throw new Refusal(
        `no strategy ${id} is configured here${didYouMean(id, ids)}; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ')}`,
      );
    if (this.#busy.has(id)) throw new Refusal(`strategy ${id} is being reloaded already: wait until that is done`, 1);
    this.#busy.add(id);
    try {
      return await this.#reload(configured[index] as Configured, index, { by, reason });
    } catch (error) {
      const why = `${this.#standing(id)}: ${causeOf(error)}`;
      notice({ level: 'warn', text: `strategy ${id} was not reloaded; ${why}` });
      throw error instanceof Refusal ? new Refusal(why, 1) : error;
    } finally {
      this.#busy.delete(id);
    }
  }

  async #reload(configured: Configured, index: number, asked: Asked): Promise<string> {
    const { hosted, notice } = this.#parts;
    const { clock, reaching } = this.#parts;
    const { id, use } = configured.config;
    const before = hosted[index] as NamedHosted;
    const again = codeToLoad(configured);
    const code = codeOf(again);
    await tryOut(this.#parts, before, again);
    const { strategy, params } = await loading(clock, reaching.signal, loadAgain(again));
    if (codeOf(again) !== code) throw new Refusal(`${use} was changed while it was loaded: repeat the command`);
    const next: NamedHosted = { ...before, strategy, params };
    const isReleased = this.#journal(configured, code, asked);
    hosted[index] = next;
    this.#began.emit(next);
    const version = code.slice(0, 12);
    const text = `strategy ${id} was reloaded as version ${version}: ${asked.reason}`;
    notice({ level: 'info', text, typed: asked.reason });
    const small =
      isReleased || this.#parts.assembled.risk.limits.newVersionShare === undefined
        ? ''
        : ` It may hold a part of its allocation until sluice limits release ${id}.`;
    return `Strategy ${id} runs version ${version}, with its position, exits and orders.${small}${this.#killed(id)}`;
  }

  /** What is so where new code was refused. */
  #standing(id: string): string {
    const { screen, assembled } = this.#parts;
    if (screen.errorOf(id) !== undefined) return `${id}, whose old code threw, stays stopped`;
    const isResting = assembled.risk.switch.inForce.some(({ strategy, by }) => strategy === id && by === 'decideTime');
    return isResting ? `${id}, whose old code was too slow, stays stopped` : `the old code of ${id} goes on`;
  }

  /** A kill stays in force, whatever the code. */
  #killed(id: string): string {
    const kill = this.#parts.assembled.risk.switch.of(id);
    if (kill === undefined) return '';
    const whose = kill.strategy === undefined ? '' : ` --strategy ${id}`;
    const what = kill.kind === 'pause' ? 'is paused' : 'may not create orders';
    return ` It ${what} (${kill.reason}): sluice resume${whose} lifts that.`;
  }

  /** Who reloaded which version; returns whether the version was released before. */
  #journal({ config: { id, allocation = noUnits } }: Configured, code: string, asked: Asked): boolean {
    const { journal, assembled, stateDir, clock } = this.#parts;
    const isReleased = inJournal(stateDir, (reader) => reader.limits()).some(
      ({ what, name, value }) => what === 'release' && name === id && value === code,
    );
    journal.append({ kind: 'limit', at: clock.now(), what: 'version', name: id, value: code, ...asked });
    assembled.risk.changeVersion(id, isReleased ? undefined : { code, allocation });
    return isReleased;
  }
}
