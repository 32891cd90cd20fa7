import { describe, expect, it } from 'vitest';
import { makeKey } from './key.ts';
import { parseKeyRecord, writeKeyRecord } from './key-record.ts';

const bytes = Buffer.alloc(32).toString('base64');

describe('a key record', () => {
  it('reads back as it was written', () => {
    const key = makeKey(new Date('2030-01-01T00:00:00Z'), 'ab'.repeat(32));
    expect(parseKeyRecord(writeKeyRecord(key))).toEqual(key);
  });

  it('has the form of the 2023 releases', () => {
    const record = JSON.parse(writeKeyRecord(makeKey(new Date('2030-01-01T00:00:00Z'))).toString()) as object;
    expect(record).toMatchObject({
      version: 'v1',
      algorithm: 'AES256-GCM_SHA256',
      created_at: '2030-01-01T00:00:00.000Z',
    });
  });

  it('may hold the bytes alone, as the oldest do', () => {
    const key = parseKeyRecord(Buffer.from(JSON.stringify({ bytes })));
    expect(key.algorithm).toBe('AES256-GCM_SHA256');
    expect(key.id).toBe('66687aadf862bd776c8fc18b8e9f8e20');
  });

  it.each([
    ['', /empty/],
    ['hunter2', /not JSON/],
    ['{}', /no valid "bytes"/],
    [JSON.stringify({ bytes: 'AAAA' }), /3 bytes, not 32/],
    [JSON.stringify({ bytes, algorithm: 'DES' }), /no valid "algorithm"/],
    [JSON.stringify({ bytes, version: 'v9' }), /no valid "version"/],
    ['null', /no valid/],
  ])('refuses %j without quoting it', (text, message) => {
    expect(() => parseKeyRecord(Buffer.from(text))).toThrow(message);
    expect(() => parseKeyRecord(Buffer.from(text))).not.toThrow(/hunter2/);
  });
});
