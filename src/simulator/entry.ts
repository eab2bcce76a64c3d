/** What `import … from 'sluice/simulator'` gives to tests: an exchange, a clock for it, and the types of what goes in and comes out. */
export { SimClock } from '../clock/sim-clock.ts';
export type { FaultRuleInput } from './faults/rules.ts';
export type { Simulator } from './handle.ts';
export type { LogEntry } from './log.ts';
export type { InstrumentOptions, MarketOptions, SimulatorKey, SimulatorOptions, SimulatorUser } from './options.ts';
export { startSimulator } from './simulator.ts';
