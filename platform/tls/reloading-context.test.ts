import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CertificateAndKey } from './certificate-and-key.ts';
import { issueCertificate, makeCa } from './issue-certificate.ts';
import { createLogger } from '../output/logger.ts';
import { watchTlsFiles, type TlsChange, type WatchedTlsFiles } from './reloading-context.ts';
import { readTlsFiles } from './tls-files.ts';

let root: string;
let folder: string;
let count = 0;
let ca: CertificateAndKey;
let first: CertificateAndKey;
let second: CertificateAndKey;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tls-files-'));
  ca = await makeCa({ commonName: 'ca', validForMs: 3_600_000 });
  const request = { commonName: 'x', validForMs: 3_600_000, issuer: ca };
  [first, second] = await Promise.all([issueCertificate(request), issueCertificate(request)]);
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(async () => {
  folder = join(root, String(count++));
  await mkdir(folder);
  await write(first);
});

const files = () => ({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') });

async function write(pair: CertificateAndKey, at = folder) {
  await replace(join(at, 'tls.crt'), pair.certPem);
  await replace(join(at, 'tls.key'), pair.keyPem);
}

/** In one step: nobody sees the file while it is empty or half written. */
async function replace(path: string, content: string) {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

async function watching(
  work: (watched: WatchedTlsFiles, changes: TlsChange[], logged: string[]) => Promise<void>,
  more = {},
) {
  const changes: TlsChange[] = [];
  const logged: string[] = [];
  const log = createLogger({ name: 'test', stream: { write: (line) => void logged.push(line) } });
  const watched = await watchTlsFiles({ ...files(), ...more, log, pollMs: 20 }, (_, change) => changes.push(change));
  try {
    await work(watched, changes, logged);
  } finally {
    watched.close();
  }
}

describe('TLS files', () => {
  it('are refused by name where they are wrong', async () => {
    await writeFile(files().keyFile, second.keyPem);
    await expect(readTlsFiles(files())).rejects.toThrow(/tls\.key is not that of the certificate in .*tls\.crt/);
    await writeFile(files().keyFile, 'nonsense');
    await expect(readTlsFiles(files())).rejects.toThrow(/tls\.key is not an unencrypted PEM private key/);
    await writeFile(files().certFile, 'nonsense');
    await expect(readTlsFiles(files())).rejects.toThrow(/tls\.crt is not a PEM certificate/);
    await rm(files().certFile);
    await expect(readTlsFiles(files())).rejects.toThrow(/cannot read the certificate .*tls\.crt: no such file/);
  });

  it('may name a folder of authorities', async () => {
    const authorities = join(folder, 'CAs');
    await mkdir(authorities);
    await expect(readTlsFiles({ ...files(), caFile: authorities })).rejects.toThrow(/holds no \.pem/);
    await writeFile(join(authorities, 'a.crt'), ca.certPem);
    await writeFile(join(authorities, 'README'), 'not read');
    expect((await readTlsFiles({ ...files(), caFile: authorities })).ca?.toString()).toBe(`${ca.certPem}\n`);
  });
});

describe('a watched pair', () => {
  it('keeps its authorities while their file is empty', async () => {
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, ca.certPem);
    await watching(
      async (watched, changes) => {
        await writeFile(caFile, '');
        await watched.check();
        expect(changes).toEqual([]);
      },
      { caFile },
    );
  });

  it('is taken over when both files have changed', () =>
    watching(async (watched, changes) => {
      await write(second);
      await vi.waitFor(() => expect(watched.current.cert.toString()).toBe(second.certPem));
      expect(watched.current.key.toString()).toBe(second.keyPem);
      expect(changes).toEqual([{ certificate: true, ca: false }]);
    }));

  it('is taken over when a Kubernetes volume swaps its link', async () => {
    const now = join(folder, '..data');
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    for (const path of [one, two]) await mkdir(path);
    await write(first, one);
    await write(second, two);
    await symlink(one, now);
    for (const name of ['tls.crt', 'tls.key']) {
      await rm(join(folder, name));
      await symlink(join('..data', name), join(folder, name));
    }
    await watching(async (watched) => {
      await symlink(two, join(folder, '..next'));
      await rename(join(folder, '..next'), now);
      await vi.waitFor(() => expect(watched.current.cert.toString()).toBe(second.certPem));
    });
  });

  it('stays, with one line in the log, while the files do not fit', () =>
    watching(async (watched, changes, logged) => {
      await replace(files().certFile, second.certPem);
      for (let i = 0; i < 3; i++) await watched.check();
      expect(watched.current.cert.toString()).toBe(first.certPem);
      expect(changes).toEqual([]);
      expect(logged.filter((line) => line.includes('TLS files not reloaded'))).toHaveLength(1);
    }));

  it('stays while the new certificate is not valid yet', async () => {
    const later = await issueCertificate({
      commonName: 'x',
      now: new Date(Date.now() + 3_600_000),
      validForMs: 3_600_000,
      issuer: ca,
    });
    await watching(async (watched, changes, logged) => {
      await write(later);
      for (let i = 0; i < 3; i++) await watched.check();
      expect(watched.current.cert.toString()).toBe(first.certPem);
      expect(changes).toEqual([]);
      const lines = logged.filter((line) => line.includes('tls.crt is not valid before'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('the former certificate stays in use');
    });
  });

  it('is replaced by another expired one when it is expired itself: the administrator may know why', async () => {
    const lastYear = { commonName: 'x', now: new Date(Date.now() - 7_200_000), validForMs: 3_600_000 };
    const [old, next] = await Promise.all([issueCertificate(lastYear), issueCertificate(lastYear)]);
    await write(old);
    await watching(async (watched) => {
      await write(next);
      await vi.waitFor(() => expect(watched.current.cert.toString()).toBe(next.certPem), { timeout: 5000 });
    });
  });

  it('is named in one line when it is expired', async () => {
    await write(
      await issueCertificate({ commonName: 'x', now: new Date(Date.now() - 7_200_000), validForMs: 3_600_000 }),
    );
    await watching(async (watched, _, logged) => {
      for (let i = 0; i < 3; i++) await watched.check();
      const lines = logged.filter((line) => line.includes('"event":"certificate-validity"'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/the certificate in \S+tls\.crt expired at \S+Z: renew it and replace the file/);
    });
  });

  it('tells a change of the authorities from one of the certificate', () => {
    const caFile = join(folder, 'ca.pem');
    return writeFile(caFile, ca.certPem).then(() =>
      watching(
        async (watched, changes) => {
          await replace(caFile, `${ca.certPem}${first.certPem}`);
          await vi.waitFor(() => expect(changes).toHaveLength(1));
          await watched.check();
          expect(changes).toEqual([{ certificate: false, ca: true }]);
        },
        { caFile },
      ),
    );
  });

  it('makes no change of files that are written again the same', () =>
    watching(async (watched, changes) => {
      await write(first);
      await watched.check();
      expect(changes).toEqual([]);
    }));
});
