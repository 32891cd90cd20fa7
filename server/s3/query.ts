import { S3Error } from '../../protocol/s3/s3-error.ts';

/** Decoded query parameters. Where a name repeats the first counts, as in S3. */
export type Query = ReadonlyMap<string, string>;

const none: Query = new Map();

/** Splits and decodes a query string without its `?`. Throws InvalidURI for bad percent-encoding. */
export function parseQuery(rawQuery: string): Query {
  if (rawQuery === '') return none;
  const query = new Map<string, string>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!query.has(name)) query.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return query;
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new S3Error('InvalidURI', `The query "${text.slice(0, 200)}" is not valid percent-encoded UTF-8.`);
  }
}

/**
 * A whole number in a parameter; `absent` where there is none.
 *
 * @throws S3Error InvalidArgument naming the parameter and its value
 */
export function integerParameter(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number; readonly absent: number },
): number {
  const text = query.get(name);
  if (text === undefined || text === '') return range.absent;
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new S3Error('InvalidArgument', `${name} must be a whole number from ${range.min} to ${range.max}.`, {
    details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
  });
}
