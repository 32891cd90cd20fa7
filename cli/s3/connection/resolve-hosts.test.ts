import { describe, expect, it } from 'vitest';
import { lookupFor, parseHeader, parseResolution } from './resolve-hosts.ts';

async function find(resolutions: readonly string[], port: number, host: string): Promise<unknown> {
  const lookup = lookupFor(resolutions.map(parseResolution), port);
  if (lookup === undefined) return undefined;
  return new Promise((resolve) => {
    lookup(host, { all: true }, (_, addresses) => resolve(addresses));
  });
}

describe('a resolution', () => {
  it.each([
    [['s3.test=10.0.0.1'], 443, [{ address: '10.0.0.1', family: 4 }]],
    [['S3.test:9000=::1'], 9_000, [{ address: '::1', family: 6 }]],
    [['s3.test:9000=10.0.0.1'], 443, undefined],
  ])('%j at port %d', async (resolutions, port, expected) => {
    expect(await find(resolutions, port, 's3.test')).toEqual(expected);
  });

  it.each(['', 'host', 'host=name', '=10.0.0.1', 'h:x=10.0.0.1'])('cannot be "%s"', (text) => {
    expect(() => parseResolution(text)).toThrow('Invalid --resolve');
  });
});

describe('a header', () => {
  it.each([
    ['X-Trace: abc', ['x-trace', 'abc']],
    ['x:y:z', ['x', 'y:z']],
  ])('%s', (text, header) => {
    expect(parseHeader(text)).toEqual(header);
  });

  it.each(['', 'x', ': y', 'a b: c', 'x: ü'])('cannot be "%s"', (text) => {
    expect(() => parseHeader(text)).toThrow('Invalid --custom-header');
  });
});
