import { parseValue } from '../../platform/settings/parse-value.ts';

/** Milliseconds of a duration that a schema has checked: `90d`, `1h30m`. */
export function milliseconds(duration: string): number {
  return Number(parseValue(duration, { kind: 'duration' }));
}
