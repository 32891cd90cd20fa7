import { percentDecode, reencode } from './percent-encoding.ts';

/** The parameters of a raw query in their order, still encoded. `a` without `=` has the value ''. */
export function rawParameters(rawQuery: string): [name: string, value: string][] {
  const parameters: [string, string][] = [];
  for (const parameter of rawQuery.split('&')) {
    if (parameter === '') continue;
    const equals = parameter.indexOf('=');
    parameters.push(equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)]);
  }
  return parameters;
}

/** Decoded parameters; `+` is a space, as every S3 server reads it. Undefined where one is not valid UTF-8. */
export function decodedParameters(rawQuery: string): [name: string, value: string | undefined][] {
  return rawParameters(rawQuery).map(([name, value]) => [decodeParameter(name) ?? name, decodeParameter(value)]);
}

function decodeParameter(sent: string): string | undefined {
  return percentDecode(sent.replaceAll('+', ' '));
}

/** The query as a signature covers it: re-encoded, sorted, without `X-Amz-Signature`. */
export function canonicalQuery(rawQuery: string): string {
  if (rawQuery === '') return '';
  const encoding = { keepSlash: false, plusIsSpace: true };
  return rawParameters(rawQuery)
    .map(([name, value]) => [reencode(name, encoding), reencode(value, encoding)] as const)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

// Both are ASCII by now, so that the order of UTF-16 units is that of bytes.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
