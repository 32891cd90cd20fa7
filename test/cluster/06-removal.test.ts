import { beforeAll, describe, expect, it } from 'vitest';
import { helm, installOperator, operatorNamespace, operatorSelector, release } from '../support/cluster/operator.ts';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

const team = new Team('team-three');

async function scaleOperator(replicas: number): Promise<void> {
  await kubectl.run([
    'scale',
    'deployment/coffer-operator',
    `--replicas=${replicas}`,
    '--namespace',
    operatorNamespace,
  ]);
  await until(`${replicas} operators`, async () => {
    const pods = await kubectl.list('pods', operatorNamespace, operatorSelector);
    return pods.length === replicas ? true : undefined;
  });
}

function untilGone(kind: string, name: string, namespace?: string): Promise<true> {
  return until(`${kind}/${name} to be gone`, async () =>
    (await kubectl.get(kind, name, namespace)) === undefined ? true : undefined,
  );
}

async function giveKeysUp(namespace: string): Promise<void> {
  for (const { metadata } of await kubectl.list('kmsconfigs', namespace)) {
    const finalizers = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
    await kubectl.run(['patch', 'kmsconfig', metadata.name, '--namespace', namespace, ...finalizers]);
  }
}

beforeAll(async () => {
  await team.commitAll();
  await team.untilSettled();
});

describe('while the operator is down', () => {
  it('a Tenant is deleted without anything that hangs', async () => {
    await scaleOperator(0);
    await kubectl.run(['delete', 'tenant/demo', '--namespace', team.namespace, '--timeout=30s']);
    await untilGone('statefulset', 'demo-server', team.namespace);
    await until('its pods to be gone', async () => ((await team.pods('demo-server')).length === 0 ? true : undefined));
    // Its data stay: reclaimPolicy is Retain.
    const claims = await kubectl.list('persistentvolumeclaims', team.namespace, 'coffer.dev/owner=demo');
    expect(claims.length).toBe(1);
  });

  it('its namespace says that the keys of its tenant hold it', async () => {
    await kubectl.run(['delete', 'namespace', team.namespace, '--wait=false']);
    const waiting = await until('the namespace to tell what it waits for', async () => {
      const { status } = (await kubectl.get('namespace', team.namespace)) as unknown as {
        status: { conditions?: readonly { type: string; status: string; message: string }[] };
      };
      return status.conditions?.find(
        ({ type, status: is }) => type === 'NamespaceFinalizersRemaining' && is === 'True',
      );
    });
    expect(waiting.message).toContain('coffer.dev/kmsconfig');
  });
});

describe('an operator that comes back', () => {
  it('lets the keys of a namespace go that was deleted meanwhile', async () => {
    await scaleOperator(2);
    await untilGone('namespace', team.namespace);
  });

  it('makes a tenant again on the data that it finds', async () => {
    await installOperator(kubectl);
    await scaleOperator(2);
    await new Team('team-two').untilSettled();
  });
});

describe('at the end', () => {
  it('helm uninstall leaves the CRDs, and so the tenants, alone', async () => {
    await helm(kubectl, ['uninstall', release, '--namespace', operatorNamespace, '--wait', '--timeout', '1m']);
    expect(await kubectl.get('crd', 'tenants.coffer.dev')).toBeDefined();
    expect((await new Team('team-two').pods('demo-server')).length).toBe(1);
  });

  it('the CRDs can be removed, and take every resource along', async () => {
    // As the guide says where the operator is gone for good.
    const namespaces = ['team-one', 'team-two', 'team-lost'];
    for (const namespace of namespaces) await giveKeysUp(namespace);
    const managed = ['buckets', 'policies', 'policybindings', 'users', 'accesskeys'];
    const crds = [...managed, 'tenants', 'identityproviders', 'kmsconfigs'].map((kind) => `crd/${kind}.coffer.dev`);
    await kubectl.run(['delete', ...crds, '--timeout=60s']);
    await untilGone('statefulset', 'demo-server', 'team-two');
    await kubectl.run(['delete', 'namespace', ...namespaces, '--timeout=90s']);
  });
});
