import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-alias-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Sets an alias for a server that answers everything with this document. */
async function setAlias(document: string) {
  const server = createServer((_, response) => response.end(document));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ['--config-dir', folder, 'alias', 'set', 'other', url];
    return await runCoffer(args, { input: 'access\nsecretsecret\n' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('alias set', () => {
  it.each([
    ['<!DOCTYPE html><html></html>', 'a page for browsers: name the port of S3'],
    ['{}', 'another document: name the port of S3'],
  ])('keeps no alias of a server that answers %s', async (document, says) => {
    const { code, stderr } = await setAlias(document);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
    const { stdout } = await runCoffer(['--config-dir', folder, 'alias', 'list']);
    expect(stdout.toString()).not.toContain('other');
  });

  it('takes a server that tells the region of a bucket which does not exist', async () => {
    expect((await setAlias('<LocationConstraint/>')).code).toBe(0);
  });
});

it('says how the keys of a variable were read where a server refuses the signature', async () => {
  const refused = '<Error><Code>SignatureDoesNotMatch</Code><Message>wrong signature</Message></Error>';
  const server = createServer((_, response) => {
    response.statusCode = 403;
    response.end(refused);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { MC_HOST_r: `http://access:a%2Fsecret@${host}` };
  const { code, stderr } = await runCoffer(['--config-dir', folder, 'ls', 'r'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the keys of MC_HOST_r were percent-decoded')]);
  expect(stderr).not.toContain('secret@');
  server.closeAllConnections();
  server.close();
});
