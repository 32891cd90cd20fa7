import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeKey } from './key.ts';
import { KeyError } from '../keystores/keystore.ts';
import { parseKeyRecord, writeKeyRecord } from './key-record.ts';

const bytes = Buffer.alloc(32).toString('base64');

/** A field of a protobuf message that holds bytes. */
const message = (field: number, bytes: Buffer) => Buffer.concat([Buffer.from([field * 8 + 2, bytes.length]), bytes]);

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

  it('of the releases of 2024 is read with its HMAC key', () => {
    // KeyVersion: Key {bytes 32 × 0, type 1}, HMACKey {bytes 32 × 1, hash 1}, CreatedAt {seconds 1700000000}, CreatedBy "ab"
    const secret = (byte: number) => Buffer.concat([message(1, Buffer.alloc(32, byte)), Buffer.from([0x10, 0x01])]);
    const protobuf = Buffer.concat([
      message(1, secret(0)),
      message(2, secret(1)),
      message(3, Buffer.from('0880e2cfaa06', 'hex')),
      message(4, Buffer.from('ab')),
    ]);
    expect(parseKeyRecord(Buffer.from(protobuf.toString('base64')))).toEqual({
      bytes: Buffer.alloc(32),
      algorithm: 'AES256-GCM_SHA256',
      id: '66687aadf862bd776c8fc18b8e9f8e20',
      createdAt: new Date(1_700_000_000_000),
      createdBy: 'ab',
      hmacKey: Buffer.alloc(32, 1),
    });
  });

  it('of any bytes is a key or a refusal that says so, never another failure', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 120 }), fc.base64String({ maxLength: 160 })), (bytes) => {
        try {
          expect(parseKeyRecord(Buffer.from(bytes as Uint8Array)).bytes).toHaveLength(32);
        } catch (error) {
          expect(error).toBeInstanceOf(KeyError);
        }
      }),
    );
  });

  it.each([
    ['', /empty/],
    ['{hunter2', /not JSON/],
    ['hunter2', /neither JSON nor a protobuf/],
    ['null', /neither JSON nor/],
    ['{}', /no valid "bytes"/],
    [JSON.stringify({ bytes: 'AAAA' }), /3 bytes, not 32/],
    [JSON.stringify({ bytes, algorithm: 'DES' }), /no valid "algorithm"/],
    [JSON.stringify({ bytes, version: 'v9' }), /no valid "version"/],
    ['[]', /no valid/],
  ])('refuses %j without quoting it', (text, message) => {
    expect(() => parseKeyRecord(Buffer.from(text))).toThrow(message);
    expect(() => parseKeyRecord(Buffer.from(text))).not.toThrow(/hunter2/);
  });
});
