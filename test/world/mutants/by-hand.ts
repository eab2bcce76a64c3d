/** Mutants that do less, or more, than a human has asked for. */
import { ticks } from '../../../src/domain/money.ts';
import { changed, type Mutant } from './mutant.ts';

export const byHandMutants: readonly Mutant[] = [
  {
    name: 'pauseIsNotAsked',
    about: 'a pause is forgotten where the next order is planned and sent',
    bent: {
      assembled: ({ risk }) => {
        const { switch: kills } = risk;
        const [of, against, restriction] = [
          kills.of.bind(kills),
          kills.against.bind(kills),
          risk.restriction.bind(risk),
        ];
        Object.assign(kills, {
          of: (strategy: string) => (of(strategy)?.kind === 'pause' ? undefined : of(strategy)),
          against: (...order: Parameters<typeof against>) =>
            against(...order)?.kind === 'pause' ? undefined : against(...order),
        });
        Object.assign(risk, {
          restriction: (strategy: string) => (of(strategy)?.kind === 'pause' ? undefined : restriction(strategy)),
        });
      },
    },
  },
  {
    name: 'flattenHasNoBudget',
    about: 'a flatten takes any price',
    bent: {
      assembled: ({ flattening, portfolio }) => {
        const begin = flattening.begin.bind(flattening);
        Object.assign(flattening, {
          begin: (...[flatten]: Parameters<typeof begin>) =>
            begin({ ...flatten, worst: ticks('90', portfolio.instrument(flatten.symbol)) }),
        });
      },
    },
  },
  {
    name: 'flattenNeverStops',
    about: 'a flatten goes on after a resume, and after a kill of everything',
    bent: {
      assembled: ({ flattening }) => void Object.assign(flattening, { stop: () => {}, against: () => undefined }),
    },
  },
  {
    name: 'pauseIsWrittenFirst',
    about: 'the pause of a flatten is written before the flatten',
    bent: {
      assembled(assembled) {
        const { flatten } = assembled;
        Object.assign(assembled, {
          flatten(...[asked, pauses = []]: Parameters<typeof flatten>) {
            void assembled.kill(...pauses);
            return flatten(asked);
          },
        });
      },
    },
  },
  {
    name: 'commandsAreWrittenTwice',
    about: 'a command of a human has two rows in the journal',
    bent: {
      journal: (journal) =>
        changed(journal, {
          append(entry) {
            journal.append(entry);
            if (entry.kind === 'pause') journal.append(entry);
          },
        }),
    },
  },
];
