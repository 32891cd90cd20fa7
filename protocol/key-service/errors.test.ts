import { describe, expect, it } from 'vitest';
import { codeOfAnswer, isStoreFailure, refusals } from './errors.ts';

describe('the code of an answer', () => {
  it.each([
    [404, 'key does not exist', 'key-not-found'],
    [404, 'enclave does not exist', 'invalid-request'],
    [409, 'key does not support HMAC', 'invalid-request'],
    [413, 'http: request body too large', 'invalid-request'],
    [400, "key name 'a.b' is empty, too long or contains invalid characters", 'invalid-request'],
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
    // The right words with another status, and another program's words with the right one, decide nothing.
    [502, 'key does not exist', 'unavailable'],
    [404, 'Not Found', 'unavailable'],
    [404, 'no such key does not exist', 'unavailable'],
    [403, 'Forbidden', 'unavailable'],
    [401, 'Unauthorized', 'unavailable'],
    [400, 'Bad Request', 'unavailable'],
    [429, 'slow down', 'unavailable'],
    [413, 'Request Entity Too Large', 'unavailable'],
    [501, 'Unsupported method', 'unavailable'],
    [404, undefined, 'unavailable'],
    [403, undefined, 'unavailable'],
  ])('%i %s is %s', (status, message, code) => {
    expect(codeOfAnswer(status, message)).toBe(code);
  });

  it('is that of the key store only in the words of the service', () => {
    expect(isStoreFailure(...refusals.accessFailed)).toBe(true);
    expect(isStoreFailure(...refusals.storeUnreachable)).toBe(true);
    expect(isStoreFailure(502, 'Bad Gateway')).toBe(false);
    expect(isStoreFailure(503, 'key store is unavailable')).toBe(false);
    expect(isStoreFailure(504, undefined)).toBe(false);
  });

  it('keeps the texts that clients of other makers look for', () => {
    expect(refusals.notPermitted).toEqual([403, 'not authorized: insufficient permissions']);
    expect(refusals.keyNotFound).toEqual([404, 'key does not exist']);
    expect(refusals.keyExists).toEqual([400, 'key already exists']);
    expect(refusals.notAuthentic).toEqual([400, 'decryption failed: ciphertext is not authentic']);
  });
});
