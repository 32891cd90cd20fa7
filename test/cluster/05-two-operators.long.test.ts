import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helm, installOperator, operatorNamespace, release } from '../support/cluster/operator.ts';
import { nextImage } from '../support/cluster/start-cluster.ts';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

// A second operator, which wants another image for what the first one runs: without the Lease of the namespace, each would replace the
// pods of the other for ever.

const team = new Team('team-two-operators');
const secondNamespace = 'second-operator';
const keys = 'keys-key-service';

const conditionOf = async (type: string) =>
  (await team.get('kmsconfig', 'keys'))?.status?.conditions?.find((each) => each.type === type);

async function scaleFirst(replicas: number): Promise<void> {
  const where = ['--namespace', operatorNamespace];
  await kubectl.run(['scale', 'deployment/coffer-operator', `--replicas=${replicas}`, ...where]);
  await kubectl.run(['rollout', 'status', 'deployment/coffer-operator', '--timeout=120s', ...where]);
}

const imageOf = async () => {
  const [pod] = await team.pods(keys);
  return (pod?.spec?.['containers'] as { image: string }[] | undefined)?.[0]?.image;
};

beforeAll(async () => {
  await team.createNamespace();
  await kubectl.apply(team.keyService());
  await team.untilSettled();
});

afterAll(async () => {
  await kubectl.run(['delete', 'kmsconfig/keys', '--namespace', team.namespace]);
  await kubectl.run(['delete', 'namespace', team.namespace, secondNamespace, '--timeout=120s']);
});

describe('a second operator for the same namespace', () => {
  it('touches nothing while the first one acts, and each of them says so', async () => {
    const before = await team.instances(keys);
    const values = ['scope=namespaces', `watchNamespaces[0]=${team.namespace}`, `operandImage=${nextImage}`];
    await installOperator(kubectl, values, { namespace: secondNamespace, isFirst: false });
    const taken = await until('the condition of the first one', () => conditionOf('OtherOperator'), {
      timeoutMs: 180_000,
      otherwise: () => team.describe(),
    });
    expect(taken).toMatchObject({ status: 'True', reason: 'NamespaceTaken' });
    expect(taken.message).toContain(`the operator ${secondNamespace}/`);
    const event = await until('the event of the second one', async () =>
      (await team.events()).find((line) => line.startsWith('KMSConfig/keys OtherOperator')),
    );
    expect(event).toContain(`which the operator ${operatorNamespace}/`);
    await kubectl.run(['annotate', 'kmsconfig/keys', 'example.com/note=1', '--namespace', team.namespace]);
    await team.untilSettled();
    expect(await team.instances(keys)).toEqual(before);
  });

  it('acts when the first one is gone', async () => {
    const before = await team.podUids(keys);
    await scaleFirst(0);
    await until('its image', async () => ((await imageOf()) === nextImage ? true : undefined), {
      timeoutMs: 240_000,
      otherwise: () => team.describe(),
    });
    await team.untilReplaced(keys, before);
  });

  it('keeps the namespace until it is removed, and then the first one acts again', async () => {
    await scaleFirst(2);
    await until('the condition of the second one', () => conditionOf('OtherOperator'), { timeoutMs: 180_000 });
    expect(await imageOf()).toBe(nextImage);
    await helm(kubectl, ['uninstall', release, '--namespace', secondNamespace, '--wait', '--timeout', '1m']);
    await until('the image of the first one', async () => ((await imageOf()) === nextImage ? undefined : true), {
      timeoutMs: 240_000,
      otherwise: () => team.describe(),
    });
    await team.untilSettled();
    await until('the end of the condition', async () =>
      (await conditionOf('OtherOperator')) === undefined ? true : undefined,
    );
  });
});
