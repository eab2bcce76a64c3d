/** Answers that are not true, made of true ones without losing a digit of an id. */
import type { Rng } from '../../clock/clock.ts';
import { Digits, digits, type Json, json, parseNumbers } from '../http/json.ts';
import type { Lie } from './actions.ts';

type Fields = { [key: string]: Json | undefined };

/** The changed body; one that is no JSON is left alone. */
export function lied(body: string, lie: Lie, rng: Rng): string {
  const reply = parseNumbers(body, digits) as Json | undefined;
  if (reply === undefined) return body;
  if (isList(reply)) return json(rowsOf(reply, lie, rng));
  if (!isFields(reply)) return body;
  const changed = changedFields(reply, lie);
  for (const [key, field] of Object.entries(changed)) {
    if (isList(field) && field.every(isFields)) changed[key] = rowsOf(field, lie, rng);
    else if (isFields(field)) changed[key] = changedFields(field, lie);
  }
  return json(changed);
}

function rowsOf(rows: readonly Json[], lie: Lie, rng: Rng): Json[] {
  const { keep = rows.length, omit = 0, order, twice } = lie;
  const kept = rows.filter(() => omit === 0 || rng() >= omit).slice(0, keep);
  if (order === 'reversed') kept.reverse();
  if (order === 'shuffled') shuffle(kept, rng);
  const changed = kept.map((row) => (isFields(row) ? changedFields(row, lie) : row));
  return twice ? changed.flatMap((row) => [row, row]) : changed;
}

/** Only fields that are there are set: a lie about `status` must not give one to what has none. */
function changedFields(fields: Fields, { set = {}, remove = [] }: Lie): Fields {
  const changed = { ...fields };
  for (const [key, value] of Object.entries(set)) if (Object.hasOwn(changed, key)) changed[key] = value;
  for (const key of remove) delete changed[key];
  return changed;
}

function shuffle(rows: Json[], rng: Rng): void {
  for (let at = rows.length - 1; at > 0; at--) {
    const other = Math.floor(rng() * (at + 1));
    [rows[at], rows[other]] = [rows[other] as Json, rows[at] as Json];
  }
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Digits);
