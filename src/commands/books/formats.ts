/** What `sluice export` writes. Apart from what writes it, which is loaded when it is needed. */
import { layoutNames } from '../../books/names.ts';

/** `tables`: every row as stored. */
export const exportLayouts = [...layoutNames, 'tables'] as const;
export type ExportLayout = (typeof exportLayouts)[number];

export const fileFormats = ['csv', 'jsonl', 'parquet'] as const;
export type FileFormat = (typeof fileFormats)[number];
