import { generateKeyPairSync, sign } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { isNewer, readRelease } from './release.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const file = { path: 'lib/coffer.js', sha256: 'ab'.repeat(32), size: 10 };

function read(document: unknown) {
  const manifest = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
  return readRelease(manifest, sign(undefined, manifest, privateKey).toString('base64'), key);
}

describe('a release', () => {
  it('is read when its signature is right', () => {
    expect(read({ version: '1.2.3', files: [file], more: 1 })).toEqual({ version: '1.2.3', files: [file] });
  });

  it('is refused after any change of the manifest or the signature', () => {
    const manifest = Buffer.from(JSON.stringify({ version: '1.2.3', files: [file] }));
    const signature = sign(undefined, manifest, privateKey);
    fc.assert(
      fc.property(
        fc.nat(manifest.length - 1),
        fc.nat(signature.length - 1),
        fc.integer({ min: 1, max: 255 }),
        (at, to, flip) => {
          const [other, bad] = [Buffer.from(manifest), Buffer.from(signature)];
          other[at] = (other[at] ?? 0) ^ flip;
          bad[to] = (bad[to] ?? 0) ^ flip;
          expect(() => readRelease(other, signature.toString('base64'), key)).toThrow('does not match');
          expect(() => readRelease(manifest, bad.toString('base64'), key)).toThrow('does not match');
        },
      ),
    );
  });

  it.each<[unknown, string]>([
    ['{', 'not valid JSON'],
    ['null', 'no version'],
    [{ version: '1', files: [file] }, 'no version'],
    [{ version: '1.2.3', files: {} }, 'no version'],
    [{ version: '1.2.3', files: [] }, 'has no lib/coffer.js'],
    [{ version: '1.2.3', files: [file, { ...file, size: 1e9 }] }, 'larger'],
    [{ version: '1.2.3', files: [file, null] }, 'bad file'],
    ...['../x', 'lib/../x', '/etc/x', 'lib/.x', 'lib/a/b', 'bin/x', String.raw`lib\x`].map(
      (path): [unknown, string] => [{ version: '1.2.3', files: [file, { ...file, path }] }, 'bad file'],
    ),
    [{ version: '1.2.3', files: [{ ...file, sha256: 'x' }] }, 'bad file'],
    [{ version: '1.2.3', files: [{ ...file, size: -1 }] }, 'bad file'],
  ])('%j is refused', (document, message) => {
    expect(() => read(document)).toThrow(message);
  });

  it('is refused with an error for people, whatever is signed', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          read(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ProgramError);
        }
      }),
    );
  });

  it.each([
    '',
    'AAAA',
    generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  ])('needs a key of Ed25519, not %j', (other) => {
    expect(() => readRelease(Buffer.from('{}'), 'AA==', other)).toThrow('COFFER_UPDATE_KEY');
  });
});

describe('a version', () => {
  it.each([
    ['0.1.1', '0.1.0', true],
    ['0.10.0', '0.9.9', true],
    ['1.0.0', '0.9.9', true],
    ['0.1.0', '0.1.0', false],
    ['0.0.9', '0.1.0', false],
  ])('%s is newer than %s: %s', (version, than, newer) => {
    expect(isNewer(version, than)).toBe(newer);
  });
});
