import { describe, expect, it } from 'vitest';
import { codeOfAnswer, refusals } from './errors.ts';

describe('the code of an answer', () => {
  it.each([
    [404, 'key does not exist', 'key-not-found'],
    [404, 'enclave does not exist', 'invalid-request'],
    [400, 'key already exists', 'key-exists'],
    [400, 'key does already exist', 'key-exists'],
    [400, 'decryption failed: ciphertext is not authentic', 'not-authentic'],
    [403, 'not authorized: insufficient permissions', 'not-permitted'],
    [400, 'insecure connection: no client certificate is present', 'not-permitted'],
    [400, 'tls: client certificate is required', 'not-permitted'],
    [400, 'invalid argument: name is empty', 'invalid-request'],
    [501, 'not implemented', 'not-supported'],
    [405, 'Method Not Allowed', 'not-supported'],
    [502, 'bad gateway: failed to access key', 'unavailable'],
    [503, 'whatever a proxy says', 'unavailable'],
  ])('%i %s is %s', (status, message, code) => {
    expect(codeOfAnswer(status, message)).toBe(code);
  });

  it('keeps the texts that clients of other makers look for', () => {
    expect(refusals.notPermitted).toEqual([403, 'not authorized: insufficient permissions']);
    expect(refusals.keyNotFound).toEqual([404, 'key does not exist']);
    expect(refusals.keyExists).toEqual([400, 'key already exists']);
    expect(refusals.notAuthentic).toEqual([400, 'decryption failed: ciphertext is not authentic']);
  });
});
