import { percentDecode, reencode } from '../uri/percent-encoding.ts';

/** Splits a raw query into its parameters, in their order and still encoded. `a` without `=` has the value ''. */
function rawParameters(rawQuery: string): [name: string, value: string][] {
  const parameters: [string, string][] = [];
  for (const parameter of rawQuery.split('&')) {
    if (parameter === '') continue;
    const equals = parameter.indexOf('=');
    parameters.push(equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)]);
  }
  return parameters;
}

/** Splits and decodes a query. `+` is a space, as every S3 server reads it. A value is undefined if it is not valid UTF-8. */
export function decodedParameters(rawQuery: string): [name: string, value: string | undefined][] {
  return rawParameters(rawQuery).map(([name, value]) => [decodeParameter(name) ?? name, decodeParameter(value)]);
}

function decodeParameter(sent: string): string | undefined {
  return percentDecode(sent.replaceAll('+', ' '));
}

/**
 * Returns the query as a signature covers it: re-encoded, sorted, without `X-Amz-Signature`. Clients in Go sort by the names alone and leave
 * several values of a name in the order of the request.
 */
export function canonicalQuery(rawQuery: string, order: 'sorted' | 'by-name' = 'sorted'): string {
  if (rawQuery === '') return '';
  const encoding = { keepSlash: false, plusIsSpace: true };
  return rawParameters(rawQuery)
    .map(([name, value]) => [reencode(name, encoding), reencode(value, encoding)] as const)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(
      ([nameA, valueA], [nameB, valueB]) =>
        compare(nameA, nameB) || (order === 'by-name' ? 0 : compare(valueA, valueB)),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

// Both are ASCII, so that the order of UTF-16 units is that of bytes.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
