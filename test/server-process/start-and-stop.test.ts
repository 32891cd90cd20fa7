import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRaw } from '../support/process/raw-http.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-process-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a server does not start', () => {
  it('without root credentials, and names their variables', async () => {
    const start = startServer({ folder: join(folder, 'none'), env: { SVC_ROOT_USER: '', SVC_ROOT_PASSWORD: '' } });
    await expect(start).rejects.toThrow(/exited with 1 .*SVC_ROOT_USER and SVC_ROOT_PASSWORD/s);
  });

  it('on a port that another program holds, and says which', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = startServer({ folder: join(folder, 'port'), args: ['--address', `127.0.0.1:${port}`] });
    await expect(start).rejects.toThrow(new RegExp(`exited with 1 .*port ${port} is in use.*--address`, 's'));
    other.close();
  });

  it('with certificates that are not there, and names the file', async () => {
    const start = startServer({ folder: join(folder, 'certs'), args: ['--certs-dir', join(folder, 'no-certs')] });
    await expect(start).rejects.toThrow(/exited with 1 .*no-certs\/public\.crt/s);
  });
});

// Several starts one after the other, which take their time on a busy machine.
describe('a running server', { timeout: 360_000 }, () => {
  it('shares its port with none, keeps its folder for itself, drains and comes back with its data', async () => {
    const path = join(folder, 'data');
    const server = await startServer({ folder: path });
    await untilReady(server);
    const s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket: 'kept' }));
    await s3.send(new PutObjectCommand({ Bucket: 'kept', Key: 'k', Body: 'content' }));

    const { host } = new URL(server.s3);
    await expect(startServer({ folder: join(folder, 'second'), args: ['--address', host] })).rejects.toThrow('in use');
    await expect(startServer({ folder: path })).rejects.toThrow(/in use by another server/);

    const body = Buffer.alloc(200_000, 'a');
    const { head } = signByHand(server, {
      method: 'PUT',
      path: '/kept/draining',
      payload: 'UNSIGNED-PAYLOAD',
      headers: { 'content-length': String(body.length) },
    });
    const upload = connectRaw(server.s3);
    upload.send(head);
    upload.send(body.subarray(0, 100_000));
    // The server has the head once it has answered a later request on its other side.
    await untilReady(server);
    const exited = server.stop();
    await server.untilLogged('stopping: SIGTERM');
    upload.send(body.subarray(100_000));
    expect((await upload.closed()).status).toBe(200);
    expect(await exited).toBe(0);

    const again = await startServer({ folder: path });
    await untilReady(again);
    const read = async (Key: string) => {
      const answer = await s3Client(again).send(new GetObjectCommand({ Bucket: 'kept', Key }));
      return (await answer.Body?.transformToString()) ?? '';
    };
    expect(await read('k')).toBe('content');
    expect(await read('draining')).toHaveLength(200_000);
    expect(await again.stop()).toBe(0);
  });

  it('answers its probes, and no stranger anything else', async () => {
    const server = await startServer({ console: true });
    await untilReady(server);
    const status = async (path: string, method = 'GET') => (await fetch(server.s3 + path, { method })).status;
    for (const prefix of ['/minio/health', '/health']) {
      for (const check of ['live', 'ready', 'cluster', 'cluster/read']) {
        expect([prefix, check, await status(`${prefix}/${check}`)]).toEqual([prefix, check, 200]);
        expect(await status(`${prefix}/${check}`, 'HEAD')).toBe(200);
      }
    }
    const quorum = await fetch(`${server.s3}/minio/health/cluster?maintenance=true`);
    expect(quorum.headers.get('x-minio-write-quorum')).toBe('1');
    expect(await status('/minio/health/other')).toBe(400);
    expect(await status('/minio/admin/v3/info')).toBe(403);
    expect((await fetch(server.console)).status).toBeLessThan(500);
    await server.stop();
  });
});
