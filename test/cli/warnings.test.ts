import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WarningType, warningTypes } from '../../cli/terminal/output.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { startWatchedFront, type WatchedFront } from '../support/server/watched-front.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
let front: WatchedFront;

beforeAll(async () => {
  const server = await startServer();
  await untilReady(server);
  front = await startWatchedFront(server.s3);
  const { accessKey, secretKey } = server;
  const stop = async (): Promise<void> => {
    await front.close();
    await server.stop();
  };
  await client.start(async () => ({ url: front.url, accessKey, secretKey, stop }));
  await client.run('mb', 's/box');
  await client.run('mb', '--with-versioning', 's/versions');
  await client.run('mb', '--with-lock', 's/locks');
}, 180_000);

afterAll(() => client.stop());

/** A command that warns. */
interface Case {
  readonly type: WarningType;
  readonly says: string;
  /** Prepares the places of the command, and returns its words. */
  readonly prepare: () => Promise<readonly string[]>;
}

const cases: readonly Case[] = [
  {
    type: 'left-out',
    says: 'links to folders are not followed',
    prepare: async () => {
      await mkdir(client.path('links/behind'), { recursive: true });
      await symlink('behind', client.path('links/link')).catch(() => undefined);
      return ['cp', '-r', client.path('links/'), 's/box/links/'];
    },
  },
  {
    type: 'left-out',
    says: 'links to folders are not followed',
    prepare: async () => ['du', client.path('links')],
  },
  {
    type: 'left-out',
    says: 'matches nothing',
    prepare: async () => ['mirror', '--exclude', 'behind/', client.path('links/behind'), 's/box/behind'],
  },
  {
    type: 'older',
    says: 'is older than its source',
    prepare: async () => {
      await client.file('older/f', 'one');
      await client.run('cp', client.path('older/f'), 's/box/older/f');
      await sleep(50);
      await client.file('older/f', 'two');
      return ['mirror', client.path('older'), 's/box/older'];
    },
  },
  {
    type: 'tags',
    says: 'The tags of 1 object are left behind',
    prepare: async () => {
      await client.run('cp', '--tags', 'a=b', await client.file('tagged', 'x'), 's/box/tagged/f');
      return ['mirror', '--overwrite', 's/box/tagged', client.path(`tagged-${Math.random()}`)];
    },
  },
  {
    type: 'versions',
    says: 'Earlier versions in `s/versions`',
    prepare: async () => ['mirror', 's/versions', 's/box/versions/'],
  },
  {
    type: 'changed',
    says: 'changed during the command',
    prepare: async () => {
      const source = await client.file('changing', '0');
      front.reset();
      front.before(
        (method) => method === 'PUT',
        async () => writeFile(source, String(Math.random())),
        4,
      );
      return ['cp', source, 's/box/changing'];
    },
  },
  {
    type: 'locks',
    says: 'The locks of 1 object are left behind',
    prepare: async () => {
      await client.run('cp', '--legal-hold', 'on', client.path('tagged'), 's/locks/f');
      return ['cp', 's/locks/f', 's/box/unlocked'];
    },
  },
  {
    type: 'prefix',
    says: 'it means all keys that begin with it',
    prepare: async () => {
      await client.run('cp', client.path('tagged'), 's/box/begin-1');
      return ['rm', '-r', '--force', 's/box/begin-'];
    },
  },
  {
    type: 'anonymous',
    says: '`box/open/*` (download)',
    prepare: async () => {
      await client.run('anonymous', 'set', 'download', 's/box/open/');
      return ['anonymous', 'set', 'private', 's/box'];
    },
  },
  {
    type: 'policy',
    says: 'Statement #1 allows s3:GetObject only to requests with s3:prefix',
    prepare: async () => {
      const Condition = { StringLike: { 's3:prefix': 'a*' } };
      const Statement = [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::box/*', Condition }];
      const file = await client.file('policy.json', JSON.stringify({ Version: '2012-10-17', Statement }));
      return ['admin', 'policy', 'create', 's', 'listing', file];
    },
  },
  {
    type: 'secret',
    says: 'is on the command line',
    prepare: async () => ['alias', 'set', 'other', client.server.url, client.server.accessKey, client.server.secretKey],
  },
];

describe('a warning', { timeout: 180_000 }, () => {
  it.each(cases)('of the type $type is on standard error as text, and a document with --json: $says', async (one) => {
    const text = await client.attempt(...(await one.prepare()));
    expect(text.stderr).toMatch(/<WARNING>/);
    expect(text.stderr).toContain(one.says);
    const json = await client.attempt('--json', ...(await one.prepare()));
    const documents = json.stdout
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
    const warning = { message: expect.stringContaining(one.says), type: one.type };
    expect(documents).toContainEqual({ status: 'warning', warning });
    expect([json.code, json.stderr]).toEqual([text.code, '']);
  });

  it('has each type in the table, but for those of another program that fails', () => {
    const others: readonly WarningType[] = ['events', 'provider', 'retry'];
    expect(new Set([...cases.map(({ type }) => type), ...others])).toEqual(new Set(warningTypes));
  });
});
