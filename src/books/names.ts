/** The names of methods, groups and layouts, for command lines: apart from what calculates, which is loaded when it is needed. */

export const methods = ['fifo', 'average'] as const;
export type Method = (typeof methods)[number];

export const groups = ['strategy', 'symbol', 'day', 'month'] as const;
export type Group = (typeof groups)[number];

export const layoutNames = ['fills', 'koinly', 'cointracker'] as const;
export type LayoutName = (typeof layoutNames)[number];
