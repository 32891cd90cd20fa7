import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const charts = new URL('../../charts/', import.meta.url);

export function chartFile(chart: string, path: string): string {
  return readFileSync(new URL(`${chart}/${path}`, charts), 'utf8');
}

/** What `values.schema.json` says to values, laid over the chart's own as Helm does. Undefined when it takes them. */
export function refusalOfValues(chart: string, changes: Json = {}): string | undefined {
  const schema = z.fromJSONSchema(JSON.parse(chartFile(chart, 'values.schema.json')) as z.core.JSONSchema.JSONSchema);
  const values = merged(parse(chartFile(chart, 'values.yaml')) as Json, changes);
  const { error } = schema.safeParse(values);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

function merged(below: Json, above: Json): Json {
  if (!isObject(below) || !isObject(above)) return above;
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries(
    [...keys].map((key) => {
      const [low, high] = [below[key], above[key]];
      return [key, low === undefined ? (high ?? null) : high === undefined ? low : merged(low, high)];
    }),
  );
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
