import { S3Error } from '../s3-error.ts';
import { malformed, textOf, type XmlNode } from '../xml-reader.ts';
import { element, type Xml } from '../xml-writer.ts';

/** The limits of S3. */
const maxKept = 100;
const maxDays = 2 ** 31 - 1;
const dayMs = 86_400_000;

/** Reads a count of days, if it is there. `action` is the name of the action in a message, `min` the smallest count. */
export function daysOf(node: XmlNode, name: string, action: string, min = 1): number | undefined {
  const text = textOf(node, name)?.trim();
  if (text === undefined) return undefined;
  if (!/^-?\d{1,18}$/.test(text)) throw malformed(`"${name}" is a number`);
  const days = Number(text);
  if (days >= min && days <= maxDays) return days;
  const wanted = min === 0 ? 'an integer that is not negative' : 'a positive integer';
  throw invalidArgument(`'${name}' for ${action} action must be ${wanted}`, name, text);
}

/** Reads the count of noncurrent versions that stay. `action` is the name of the action in a message. */
export function keptOf(node: XmlNode, action: string): number | undefined {
  const text = textOf(node, 'NewerNoncurrentVersions')?.trim();
  if (text === undefined) return undefined;
  const keep = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (keep >= 1 && keep <= maxKept) return keep;
  throw invalidArgument(
    `'NewerNoncurrentVersions' for ${action} action must be a positive integer of at most ${maxKept}`,
    'NewerNoncurrentVersions',
    text,
  );
}

export function flagOf(node: XmlNode, name: string): boolean | undefined {
  const text = textOf(node, name)?.trim();
  if (text === undefined || text === 'true' || text === 'false')
    return text === undefined ? undefined : text === 'true';
  throw malformed(`"${name}" is true or false`);
}

export function midnightOf(text: string): number {
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))?$/.test(text)
    ? Date.parse(text)
    : NaN;
  if (Number.isNaN(time)) throw malformed('"Date" is a date of ISO 8601');
  if (time % dayMs === 0) return time;
  throw invalidArgument("'Date' must be at midnight GMT", 'Date', text);
}

export function invalidArgument(message: string, name: string, value: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

export function optional(name: string, value: number | undefined): Xml | undefined {
  return value === undefined ? undefined : element(name, value);
}
