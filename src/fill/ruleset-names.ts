/** The rulesets that a configuration can name; apart from their rules, so that naming them loads nothing. */
export const rulesetNames = ['sluice', 'plain', 'backtesting.py', 'backtrader', 'vectorbt'] as const;
export type RulesetName = (typeof rulesetNames)[number];
