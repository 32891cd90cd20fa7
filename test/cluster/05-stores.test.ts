import { randomBytes } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { nextImage } from '../support/cluster/start-cluster.ts';
import { kubectl } from '../support/cluster/team.ts';
import { bodyBytes, bucket, kinds, server, startStores, threeServers } from '../support/cluster/three-servers.ts';

startStores();

// Each takes minutes: the gate tries the first, the nightly run both.
const tried = process.env['COFFER_LONG'] === undefined ? kinds.slice(0, 1) : kinds;

describe.each(tried)('three servers on PostgreSQL with their blobs $where', (kind) => {
  const servers = threeServers(kind);
  const { team } = servers;

  it('have no volume of their own', async () => {
    const set = await team.get('statefulset', server);
    expect(set?.spec?.['volumeClaimTemplates']).toBeUndefined();
    expect((await team.pods(server)).length).toBe(3);
  });

  it('give at once what any other took', async () => {
    const clients = await servers.clientsOfPods();
    for (const [at, writer] of clients.entries()) {
      for (const size of bodyBytes) {
        const body = randomBytes(size);
        const object = { Bucket: bucket, Key: `shared/${at}/${size}` };
        await writer.send(new PutObjectCommand({ ...object, Body: body }));
        for (const reader of clients) {
          const { Body } = await reader.send(new GetObjectCommand(object));
          expect(body.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
        }
      }
    }
    expect(await kind.count(team)).toBeGreaterThanOrEqual(3);
  });

  it('change their image', async () => {
    const before = await team.podUids(server);
    await servers.unnoticed(
      'image',
      async () => {
        await kubectl.apply(servers.spec({ image: nextImage }));
        await team.untilReplaced(server, before);
      },
      2,
    );
    expect((await team.events()).join('\n')).toContain('ImageChanged');
  });

  it('keep the passwords of their stores to themselves', async () => {
    const where = ['--namespace', team.namespace];
    const shown = await Promise.all([
      kubectl.run(['get', 'pods,statefulsets,events,tenants', ...where, '--output', 'yaml']),
      kubectl.run(['logs', ...where, '--selector', 'app.kubernetes.io/name=coffer', '--tail=-1']),
    ]);
    const all = shown.join('\n');
    expect(servers.secrets().filter((secret) => all.includes(secret))).toEqual([]);
  });
});
