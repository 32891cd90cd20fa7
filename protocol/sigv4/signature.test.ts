import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  percentDecode,
  percentEncode,
  percentEncodePath,
  reencode,
  canonicalQuery,
  announcedTrailers,
  payloadKind,
  type PayloadKind,
  canonicalHeaders,
  formatTimestamp,
  parseTimestamp,
  HmacSha256,
  SigningKeys,
} from './signature.ts';
import { signRequest } from './sign-request.ts';
import { createHmac } from 'node:crypto';

const path = { keepSlash: true, plusIsSpace: false };
const parameter = { keepSlash: false, plusIsSpace: true };

describe('re-encoding', () => {
  it.each([
    ['a%2fb', path, 'a/b'],
    ['a%2Fb', parameter, 'a%2Fb'],
    ['a%2db%5F%7e%41%39', parameter, 'a-b_~A9'],
    ["!'()*", path, '%21%27%28%29%2A'],
    ['a+b', path, 'a%2Bb'],
    ['a+b', parameter, 'a%20b'],
    ['%c3%bc\xff', path, '%C3%BC%FF'],
    ['%', path, '%25'],
    ['%zz', parameter, '%25zz'],
    ['%2', parameter, '%252'],
  ])('%s', (sent, options, expected) => {
    expect(reencode(sent, options)).toBe(expected);
  });

  it('leaves alone what is encoded as it should be', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(reencode(percentEncode(text), parameter)).toBe(percentEncode(text));
        expect(reencode(percentEncodePath(text), path)).toBe(percentEncodePath(text));
      }),
    );
  });

  it('brings every spelling of every byte into one', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const hex = byte.toString(16).padStart(2, '0');
      const character = String.fromCharCode(byte);
      const spellings = [`%${hex}`, `%${hex.toUpperCase()}`, ...('%+/'.includes(character) ? [] : [character])];
      for (const options of [path, parameter]) {
        expect(new Set(spellings.map((spelling) => reencode(spelling, options))).size).toBe(1);
      }
    }
  });
});

it('encodes what decodes again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(percentDecode(percentEncode(text))).toBe(text);
    }),
  );
});

it('sorts parameters by their encoded names, then values, and gives each an equals sign', () => {
  expect(canonicalQuery('b=2&a&B=1&b=1&&a-=x&a=%20&X-Amz-Signature=s')).toBe('B=1&a=&a=%20&a-=x&b=1&b=2');
});

describe('timestamps', () => {
  it('are read as they are written', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          date.setUTCMilliseconds(0);
          expect(parseTimestamp(formatTimestamp(date))).toEqual(date);
        },
      ),
    );
  });

  // The module remembers the last timestamp, and a new process has none.
  it('refuse the empty text as the first of a process', async () => {
    const fresh: string = './signature.ts?fresh';
    const module = (await import(fresh)) as { parseTimestamp: typeof parseTimestamp };
    expect(module.parseTimestamp('')).toBeUndefined();
  });

  it.each([
    '20240230T000000Z',
    '20241301T000000Z',
    '20240001T000000Z',
    '20240101T240000Z',
    '20240101T006000Z',
    '20240101T000060Z',
    '2024-01-01T00:00:00Z',
    '',
  ])('%s is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

function kindOf(value: string | undefined): PayloadKind {
  return payloadKind(value);
}

describe('x-amz-content-sha256', () => {
  it.each<[string | undefined, PayloadKind]>([
    [undefined, { kind: 'unsigned' }],
    ['UNSIGNED-PAYLOAD', { kind: 'unsigned' }],
    ['A'.repeat(64), { kind: 'sha256', sha256: 'a'.repeat(64) }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { kind: 'streaming', signed: true, trailer: false }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { kind: 'streaming', signed: true, trailer: true }],
    ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { kind: 'streaming', signed: false, trailer: true }],
  ])('%s', (value, kind) => {
    expect(kindOf(value)).toEqual(kind);
  });

  it('does not implement the signatures of version 4A', () => {
    expect(() => kindOf('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD')).toThrow('not implemented');
  });

  it('must be a hash otherwise', () => {
    expect(() => kindOf('abc')).toThrow('not "abc"');
  });
});

it('x-amz-trailer announces names', () => {
  expect(announcedTrailers({ 'x-amz-trailer': 'X-Amz-Checksum-CRC32, other' })).toEqual([
    'x-amz-checksum-crc32',
    'other',
  ]);
  expect(announcedTrailers({})).toBeUndefined();
});

describe('canonical headers', () => {
  it('trims values and makes runs of spaces and tabs one space', () => {
    expect(canonicalHeaders({ 'x-amz-meta-a': ' \t a \t  b ' }, ['x-amz-meta-a'])).toBe('x-amz-meta-a:a b\n');
  });

  it('joins repeated values, each trimmed', () => {
    expect(canonicalHeaders({ 'x-amz-meta-a': ['a ', ' b'] }, ['x-amz-meta-a'])).toBe('x-amz-meta-a:a,b\n');
  });

  // The second byte of a UTF-8 "à" is A0, which is a no-break space as a character of its own.
  it('leaves bytes alone that are white space only as characters', () => {
    const bytes = Buffer.from('voilà').toString('latin1');
    expect(canonicalHeaders({ 'x-amz-meta-a': bytes }, ['x-amz-meta-a'])).toBe(`x-amz-meta-a:${bytes}\n`);
  });
});

describe('HMAC-SHA256', () => {
  it('is that of the standard library, for one text after another', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', minLength: 1_000, maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(text, { maxLength: 5 }), (key, texts) => {
        const hmac = new HmacSha256(Buffer.from(key));
        for (const each of texts) {
          expect(hmac.sign(each)).toBe(createHmac('sha256', key).update(each, 'utf8').digest('hex'));
        }
      }),
    );
  });

  // RFC 4231, 4.3
  it('signs the example of the RFC', () => {
    expect(new HmacSha256(Buffer.from('Jefe')).sign('what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('refuses a key that it would have to hash first', () => {
    expect(() => new HmacSha256(Buffer.alloc(65))).toThrow(RangeError);
  });
});

it('signs the same with a signing key that is kept', () => {
  const signingKeys = new SigningKeys();
  const request = { method: 'GET', rawPath: '/b/k', rawQuery: '', headers: { host: 'example.org' } };
  const credentials = { accessKey: 'AKIA', secretKey: 'secret' };
  const signed = (day: number, more = {}) =>
    signRequest(request, credentials, {
      region: 'us-east-1',
      service: 's3',
      now: new Date(Date.UTC(2026, 0, day)),
      payloadHash: 'UNSIGNED-PAYLOAD',
      ...more,
    });
  for (const day of [1, 1, 2]) expect(signed(day, { signingKeys })).toEqual(signed(day));
});
