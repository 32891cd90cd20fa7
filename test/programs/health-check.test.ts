import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../.ci/container/health-check.js', import.meta.url));
let folder: string;
let server: Server;
let status = 200;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-health-'));
  server = createServer((request, response) => {
    response.writeHead(request.url === '/minio/health/live' ? status : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function check(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<number> {
  const file = join(folder, 'cmdline');
  writeFileSync(file, words.join('\0'));
  return new Promise((resolve) => {
    execFile(process.execPath, [script, file], { env: environment }, (error) => resolve(Number(error?.code ?? 0)));
  });
}

describe('the health check of the image', () => {
  it('asks the server where it listens', async () => {
    expect(await check(['node', '/opt/coffer/bin/coffer-server', `--address=127.0.0.1:${port}`, '/data'])).toBe(0);
    expect(await check(['node', '/opt/coffer/bin/coffer-server', '--address', `:${port}`])).toBe(0);
    expect(await check(['node', '/opt/coffer/bin/coffer-server.js'], { SVC_ADDRESS: `0.0.0.0:${port}` })).toBe(0);
  });

  it('fails while the server is not alive, and where none answers', async () => {
    status = 503;
    expect(await check(['node', '/opt/coffer/bin/coffer-server'], { SVC_ADDRESS: `:${port}` })).toBe(1);
    expect(await check(['node', '/opt/coffer/bin/coffer-server'], { SVC_ADDRESS: '127.0.0.1:1' })).toBe(1);
  });

  it('finds nothing wrong with other programs', async () => {
    expect(await check(['node', '/opt/coffer/bin/keysvc', 'server'])).toBe(0);
  });
});
