import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { untilReady, type RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

let deployment: Deployment;
let first: RunningServer;
const secret = 'another-password';

beforeAll(async () => {
  deployment = await newDeployment();
  first = await deployment.start();
}, 540_000);
afterAll(() => deployment.remove());

describe('a server that joins one with other settings', { timeout: 360_000 }, () => {
  it.each([
    ['password', { SVC_ROOT_PASSWORD: secret }, 'another SVC_ROOT_PASSWORD:'],
    ['user', { SVC_ROOT_USER: 'somebody' }, 'another SVC_ROOT_USER:'],
    ['region', { SVC_REGION: 'eu-west-1' }, 'another SVC_REGION (us-east-1, here eu-west-1):'],
  ])('ends and names both: another %s', async (_what, env, expected) => {
    const server = await deployment.start(env, 'until it listens');
    const line = await server.untilLogged('stopping at once');
    expect(line).toContain(`the server ${new URL(first.s3).host} of this deployment has ${expected}`);
    await expect.poll(() => server.ended(), { timeout: 180_000 }).toBe(1);
    expect(server.log.join('\n')).not.toContain(secret);
  });

  it('leaves the first one as it was, and the database without the secrets', async () => {
    await s3Client(first).send(new ListBucketsCommand({}));
    const name = new URL(deployment.database.url).pathname.slice(1);
    const sql = `select encode(value, 'escape') as text from coffer_records`;
    const rows = await deployment.postgres.asSuperuser(sql, name);
    expect(JSON.stringify(rows)).toMatch(/SVC_ROOT_PASSWORD/);
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`root-password|${secret}`));
  });

  it('joins with the former root credentials in their file', async () => {
    const file = join(deployment.blobs, '..', 'former-root');
    await writeFile(file, 'root\nroot-password\n');
    const server = await deployment.start({ SVC_ROOT_PASSWORD: secret, SVC_ROOT_FORMER_FILE: file });
    await s3Client({ ...server, secretKey: secret }).send(new ListBucketsCommand({}));
    await server.stop();
  });

  it('joins once the first one, which was killed, counts as gone', async () => {
    await first.kill();
    const server = await deployment.start({ SVC_ROOT_PASSWORD: secret }, 'until it listens');
    await server.untilLogged('in case that one was killed');
    await untilReady(server, 60_000);
  });
});
