/** What `sluice export` writes. Apart from what writes it, which is loaded when it is needed. */
import { type LayoutName, layouts } from '../../books/layouts.ts';

/** `tables`: every row as stored. */
export const exportLayouts = [...(Object.keys(layouts) as LayoutName[]), 'tables'] as const;
export type ExportLayout = (typeof exportLayouts)[number];

export const fileFormats = ['csv', 'jsonl', 'parquet'] as const;
export type FileFormat = (typeof fileFormats)[number];
