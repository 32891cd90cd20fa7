import { durationMs } from '../../protocol/text/duration.ts';
import { ProgramError } from '../errors/program-error.ts';
import type { SettingType } from '../../protocol/settings/setting.ts';

/** A parsed value of a setting: durations in milliseconds, sizes in bytes or as a share of the whole. */
export type SettingValue = string | boolean | number | readonly string[] | Size;

export type Size =
  { readonly kind: 'bytes'; readonly bytes: number } | { readonly kind: 'percent'; readonly percent: number };

/** The longest time of a timer as a duration. A timer of Node that is set to more than 24.8 days fires at once, again and again. */
export const maxTimer = '24d';

/** The same in milliseconds. */
export const maxTimerMs = 24 * 86_400_000;

export function parseValue(text: string, type: SettingType): SettingValue {
  switch (type.kind) {
    case 'text':
      if (type.pattern !== undefined && !type.pattern.test(text))
        throw new ProgramError('invalid-value', `expected ${type.expects ?? 'another form'}`);
      return text;
    case 'path':
      return text;
    case 'url':
      return type.list === true ? parseList(text).flatMap(expandRange).map(parseUrl) : parseUrl(text);
    case 'on-off':
      return parseOnOff(text);
    case 'choice':
      if (!type.of.includes(text)) throw new ProgramError('invalid-value', `expected one of ${type.of.join(', ')}`);
      return text;
    case 'list':
      return nonEmpty(parseList(text));
    case 'integer':
      return parseInteger(text, type.min, type.max);
    case 'duration':
      return boundedDuration(text, type.min ?? '0s', type.max ?? maxTimer);
    case 'size':
      return parseSize(text, type.percent === true);
  }
}

function parseList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Many lists restrict something, and one without values would restrict nothing. */
function nonEmpty(values: string[]): string[] {
  if (values.length > 0) return values;
  throw new ProgramError('invalid-value', 'the list has no value; leave the setting out');
}

/** Expands `https://kes{1...3}:7373` to three addresses, as MinIO's deployments write them. */
function expandRange(text: string): string[] {
  const range = /^(.*?)\{(\d{1,4})\.\.\.(\d{1,4})\}(.*)$/.exec(text);
  if (range === null) return [text];
  const [, before = '', first = '', last = '', rest = ''] = range;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > 64)
    throw new ProgramError('invalid-value', `the range {${first}...${last}} should name 1 to 64 hosts`);
  return Array.from({ length: count }, (_, index) => `${before}${Number(first) + index}${rest}`).flatMap(expandRange);
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ProgramError('invalid-value', 'expected an address that begins with https:// or http://');
  }
  return text.replace(/\/$/, '');
}

function parseOnOff(text: string): boolean {
  const value = text.toLowerCase();
  if (['on', 'true', 'yes', '1', 'enable', 'enabled'].includes(value)) return true;
  if (['off', 'false', 'no', '0', 'disable', 'disabled'].includes(value)) return false;
  throw new ProgramError('invalid-value', 'expected on or off');
}

function parseInteger(text: string, min: number, max: number): number {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max))
    throw new ProgramError('invalid-value', `expected a whole number from ${min} to ${max}`);
  return value;
}

/** Parses a duration within bounds, in milliseconds. */
function boundedDuration(text: string, min: string, max: string): number {
  const duration = parseDuration(text);
  if (duration < parseDuration(min) || duration > parseDuration(max))
    throw new ProgramError('invalid-value', `expected a duration from ${min} to ${max}`);
  return duration;
}

/** Parses `1h30m` to milliseconds. A number without a unit is seconds. */
export function parseDuration(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const duration = durationMs(text, ['ms', 's', 'm', 'h', 'd']);
  if (duration === undefined)
    throw new ProgramError('invalid-value', 'expected a duration such as 30s, 10m, 1h30m or 7d');
  return duration;
}

const sizeUnits: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

export function parseSize(text: string, percent: boolean): Size {
  const [, amount, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z%]*)$/.exec(text) ?? [];
  if (amount !== undefined && unit === '%' && percent && Number(amount) <= 100)
    return { kind: 'percent', percent: Number(amount) };
  const factor = sizeUnits[unit];
  if (amount === undefined || factor === undefined) {
    throw new ProgramError(
      'invalid-value',
      `expected a size such as 500MiB or 10GiB${percent ? ', or a share such as 1%' : ''}`,
    );
  }
  return { kind: 'bytes', bytes: Math.round(Number(amount) * factor) };
}
