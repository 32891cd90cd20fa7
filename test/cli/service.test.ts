import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { followCoffer, runCoffer } from '../support/server/run-coffer.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;
let folder: string;

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCoffer(['--config-dir', join(folder, 'config'), ...args]);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

/** Runs a command that goes on until it is interrupted; `until` is asked again and again for what it has printed. */
async function follow(args: readonly string[], until: (printed: string) => boolean | Promise<boolean>) {
  return followCoffer(['--config-dir', join(folder, 'config'), ...args], until);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-service-'));
  // A port of its own, which it has again after a restart.
  server = await startServer({ args: ['--address', `127.0.0.1:${await freePort()}`] });
  await untilReady(server);
  const keys = { input: `${server.accessKey}\n${server.secretKey}\n` };
  await runCoffer(['--config-dir', join(folder, 'config'), 'alias', 'set', 's', server.s3], keys);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('coffer admin trace', { timeout: 270_000 }, () => {
  it('shows requests as they end, in the fields of stock clients, until it is interrupted', async () => {
    const { code, stdout } = await follow(['--json', 'admin', 'trace', 's', '--path', 'traced*'], async (printed) => {
      // The trace may not have begun when the first of them ends.
      if (!printed.includes('\n')) await runCoffer(['--config-dir', join(folder, 'config'), 'stat', 's/traced']);
      return printed.includes('\n');
    });
    const [line] = stdout.split('\n');
    expect(JSON.parse(line ?? '')).toMatchObject({
      status: 'success',
      type: 'S3',
      api: expect.stringMatching(/^s3\.HeadBucket$/),
      path: expect.stringMatching(/^\/traced/),
      statusCode: 404,
      callStats: { duration: expect.any(Number) },
    });
    expect(code).toBe(130);
  });

  it('shows headers without what lets anybody in', async () => {
    const { stdout } = await follow(['admin', 'trace', 's', '--verbose'], async (printed) => {
      if (!printed.includes('\n')) await coffer('ls', 's');
      return printed.includes('authorization') || printed.includes('Authorization');
    });
    expect(stdout).toMatch(/s3\.ListBuckets/);
    expect(stdout).not.toMatch(/Signature=[0-9a-f]{64}/);
  });

  it('knows the types of calls', async () => {
    const { code, stderr } = await runCoffer([
      '--config-dir',
      join(folder, 'config'),
      'admin',
      'trace',
      's',
      '--call',
      'x',
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unknown type of call `x`: there are s3, internal')]);
  });
});

describe('coffer admin logs', { timeout: 270_000 }, () => {
  it('shows the last lines of the log', async () => {
    const { code, stdout } = await follow(['admin', 'logs', 's', '--last', '100'], (printed) => printed.includes('\n'));
    expect([code, stdout]).toEqual([130, expect.stringMatching(/ready|listening|started/i)]);
  });

  it('takes a number of lines', async () => {
    const args = ['--config-dir', join(folder, 'config'), 'admin', 'logs', 's', '--last', 'all'];
    const { code, stderr } = await runCoffer(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Invalid --last `all`')]);
  });
});

describe('coffer admin prometheus', () => {
  it('makes a token with which the metrics are read', async () => {
    const [line] = (await coffer('--json', 'admin', 'prometheus', 'generate', 's')).split('\n');
    const { bearerToken, metricsPath, scheme, staticConfigs } = JSON.parse(line ?? '') as {
      bearerToken: string;
      metricsPath: string;
      scheme: string;
      staticConfigs: [{ targets: [string] }];
    };
    const answer = await fetch(`${scheme}://${staticConfigs[0].targets[0]}${metricsPath}`, {
      headers: { authorization: `Bearer ${bearerToken}` },
    });
    // Read to its end: an answer under way would hold up the restart below.
    expect([answer.status, await answer.text(), metricsPath]).toEqual([
      200,
      expect.stringContaining('# TYPE'),
      '/minio/v2/metrics/cluster',
    ]);
  });

  it('prints the metrics, and the settings of Prometheus for people', async () => {
    expect(await coffer('admin', 'prometheus', 'metrics', 's', 'node')).toContain('# TYPE');
    expect(await coffer('admin', 'prometheus', 'generate', 's', '--public')).not.toContain('bearer_token');
  });
});

describe('coffer admin service', () => {
  it('does nothing in a dry run', async () => {
    expect(await coffer('admin', 'service', 'restart', 's', '--dry-run')).toContain('Nothing was done');
  });

  it('freezes requests of S3, and lets them go on', async () => {
    await coffer('admin', 'service', 'freeze', 's');
    const waiting = coffer('ls', 's');
    expect(await Promise.race([waiting, sleep(300, 'still waiting')])).toBe('still waiting');
    await coffer('admin', 'service', 'unfreeze', 's');
    expect(await waiting).toBe('');
  });

  it('restarts a server, and waits until it serves again', async () => {
    const said = await coffer('admin', 'service', 'restart', '--wait', 's', '--timeout', '100');
    expect(said).toMatch(/Restart command successfully sent to `s`\.\nRestarted `s` successfully in [\d.]+ seconds\./);
    await coffer('ls', 's');
  }, 360_000);
});
