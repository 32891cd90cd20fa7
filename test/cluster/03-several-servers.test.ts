import { Agent, get } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { watchDowntime } from '../support/cluster/downtime.ts';
import { evict, fewestReadyWhile } from '../support/cluster/pods.ts';
import { standIn } from '../support/cluster/start-cluster.ts';
import { kubectl, Team } from '../support/cluster/team.ts';

/**
 * A program without a store stands in for the servers: what is shown is that the operator rolls them without a failed request, apart
 * from whatever stores do to it (05-stores).
 */
const team = new Team('team-several');
const server = 'demo-server';

const several = (spec: Readonly<Record<string, unknown>>): object =>
  team.server({
    replicas: 3,
    storage: {
      records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
      blobs: { sharedVolume: { claimName: 'blobs' } },
    },
    identityProviders: [],
    kmsConfigRef: undefined,
    resources: { requests: { cpu: '50m', memory: '64Mi' } },
    ...spec,
  });

const made = (apiVersion: string, kind: string, name: string, rest: object): object => ({
  apiVersion,
  kind,
  metadata: { name, namespace: team.namespace },
  ...rest,
});

beforeAll(async () => {
  await team.createNamespace();
  const resources = { requests: { storage: '1Gi' } };
  await kubectl.apply(
    made('v1', 'Secret', 'database', {
      type: 'coffer.dev/database',
      stringData: { url: 'postgres://coffer:secret@database/coffer' },
    }),
    made('v1', 'PersistentVolumeClaim', 'blobs', { spec: { accessModes: ['ReadWriteMany'], resources } }),
    several({ image: standIn.first }),
  );
  await team.untilSettled();
});

/** Requests over kept connections, one after the other, while `change` runs: why each that failed did. */
async function failuresWhile(url: string, change: () => Promise<void>): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const failures: string[] = [];
  const over = new AbortController();
  const ask = () =>
    new Promise<void>((resolve) => {
      const failed = (why: string) => {
        failures.push(why);
        resolve();
      };
      get(url, { agent }, (answer) => {
        answer.resume();
        answer.on('end', resolve);
        answer.on('error', ({ message }) => failed(message));
        if (answer.statusCode !== 200) failures.push(String(answer.statusCode));
      }).on('error', ({ message }) => failed(message));
    });
  const clients = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) {
      await ask();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  try {
    await change();
  } finally {
    over.abort();
    await Promise.all(clients);
    agent.destroy();
  }
  return failures;
}

describe('three servers', () => {
  it('get a new image one after the other, without a failed request', async () => {
    const before = await team.podUids(server);
    const url = `${await team.answeringEndpoint()}/`;
    const probe = watchDowntime(url);
    let fewest = 0;
    const failures = await failuresWhile(url, async () => {
      fewest = await fewestReadyWhile(team, server, async () => {
        await kubectl.apply(several({ image: standIn.second }));
        await team.untilReplaced(server, before);
      });
    });
    const { outages } = await probe.stop();
    console.log(`three servers rolled: ${failures.length} failed requests, outages ${outages.join(' + ') || 'none'}`);
    expect([failures, outages, fewest]).toEqual([[], [], 2]);
    expect((await team.events()).join('\n')).toContain('ImageChanged');
  });

  it('are evicted one at a time: a disruption budget refuses the second', async () => {
    const [first, second] = [await evict(team, `${server}-0`), await evict(team, `${server}-1`)];
    expect(first.code).toBe(0);
    expect(second.stderr).toContain('disruption budget');
    await team.untilSettled();
  });
});
