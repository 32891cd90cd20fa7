import { beforeAll, describe, expect, inject, it } from 'vitest';
import { certificatesOf, renewCertificates, evict } from '../support/cluster/pods.ts';
import { setClientSecret, keycloak, kubectl, Team } from '../support/cluster/team.ts';
import { operatorNamespace, untilOperatorRolledOut } from '../support/cluster/operator.ts';
import { nextImage } from '../support/cluster/start-cluster.ts';
import { oneShortRestart, underLoad, type Seen } from '../support/cluster/under-load.ts';
import { until } from '../support/cluster/until.ts';

const team = new Team('team-two');
const [server, keys] = ['demo-server', 'keys-key-service'];
const bucket = 'load';

function expectNoFailure({ javaScript, boto3 }: Pick<Seen, 'javaScript' | 'boto3'>): void {
  expect([...javaScript.failures, ...boto3.failures]).toEqual([]);
  expect(javaScript.wrong + boto3.wrong).toBe(0);
}

beforeAll(async () => {
  await setClientSecret(inject('keycloakUrl'), keycloak.clientId, keycloak.clientSecret);
  await team.commitAll();
  await team.untilSettled();
  await team.createBucket(bucket);
});

describe('with clients that write and read without pause', () => {
  it('changes a client secret in its Secret by one restart', async () => {
    await oneShortRestart(team, bucket, 'client secret', async (attempt) => {
      const before = await team.podUids(server);
      await setClientSecret(inject('keycloakUrl'), keycloak.clientId, `client-secret-${attempt}`);
      await kubectl.apply(team.clientSecret(`client-secret-${attempt}`));
      await team.untilReplaced(server, before);
    });
    expect(await team.said('Tenant')).toContain('SecretChanged');
    await setClientSecret(inject('keycloakUrl'), keycloak.clientId, keycloak.clientSecret);
    const between = await team.podUids(server);
    await kubectl.apply(team.clientSecret(keycloak.clientSecret));
    await team.untilReplaced(server, between);
  });

  it('renews every certificate without a restart or an outage', async () => {
    const before = [await team.podUids(server), await team.podUids(keys)];
    expect((await certificatesOf(team)).length).toBeGreaterThanOrEqual(2);
    const seen = await underLoad('certificates', team, bucket, () => renewCertificates(team));
    expect(seen.downtime.longestMs).toBe(0);
    expectNoFailure(seen);
    expect([await team.podUids(server), await team.podUids(keys)]).toEqual(before);
  }, 420_000);

  it('scales the key service from one to three and back without an outage', async () => {
    const before = await team.podUids(server);
    const seen = await underLoad('key service 1, 3, 1', team, bucket, async () => {
      for (const replicas of [3, 1]) {
        await kubectl.apply(team.keyService({ replicas }));
        await until(`${replicas} key services`, async () =>
          (await team.pods(keys)).length === replicas ? true : undefined,
        );
        await team.untilSettled();
      }
    });
    expect(seen.downtime.longestMs).toBe(0);
    expectNoFailure(seen);
    expect(await team.podUids(server)).toEqual(before);
  });

  it('lets the pods of the node be evicted one by one, as a drain does', async () => {
    await oneShortRestart(team, bucket, 'evictions', async () => {
      for (const workload of [keys, server]) {
        const pods = await team.podUids(workload);
        // The one node there is takes the pod again.
        for (const { metadata } of await team.pods(workload))
          expect(await evict(team, metadata.name)).toMatchObject({ code: 0 });
        await team.untilReplaced(workload, pods);
      }
    });
  });

  it('lets kubectl drain the node', async () => {
    const drain = ['drain', 'node1', '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=90s'];
    await kubectl.run([...drain, '--pod-selector=coffer.dev/workload']);
    await kubectl.run(['uncordon', 'node1']);
    await team.untilSettled();
  });

  it('finishes a rollout that the operator is restarted in', async () => {
    await oneShortRestart(team, bucket, 'operator restarted', async (attempt) => {
      const before = await team.podUids(server);
      await kubectl.apply(team.server({ image: nextImage, podAnnotations: { 'example.com/round': `${attempt}` } }));
      await until('the rollout to begin', async () => {
        const now = await team.podUids(server);
        return now.some((uid) => before.includes(uid)) ? undefined : true;
      });
      // The one that acts; the other takes over.
      const lease = await kubectl.get('lease', 'coffer-operator', operatorNamespace);
      const leader = String(lease?.spec?.['holderIdentity']);
      await kubectl.run(['delete', 'pod', leader, '--namespace', operatorNamespace, '--wait=false']);
      await untilOperatorRolledOut(kubectl);
      await team.untilReplaced(server, before);
    });
  });
});
