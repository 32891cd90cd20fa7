import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { restartAnnotation } from '../../operator/api/tenant.ts';
import { mutatingPolicy, mutatingRules } from '../support/cluster/mutating-policies.ts';
import { kubectl, Team } from '../support/cluster/team.ts';

// Policies that change what is written, as those of Kyverno do: a mirror before the image, a variable, another group. Each changes the
// StatefulSet, or the pods alone. No pod is replaced for it.

const team = new Team('team-two');
const server = 'demo-server';
/** Milliseconds in which the operator deleted 26 pods before. */
const watchedMs = 60_000;

beforeAll(async () => {
  await team.commitAll();
  await team.untilSettled();
});

const cases = (['statefulsets', 'pods'] as const).flatMap((resource) =>
  (['image', 'variable', 'group'] as const).map((rule) => ({ resource, rule })),
);

describe('a policy that changes what is written', () => {
  let applied: string | undefined;
  afterEach(async () => {
    if (applied !== undefined) await kubectl.run(['delete', '--ignore-not-found', '-f', '-'], applied);
    applied = undefined;
  });

  it.each(cases)('of $resource ($rule) replaces no pod twice', async ({ resource, rule }) => {
    const name = `${rule}-of-${resource}`;
    const policy = mutatingPolicy(name, team.namespace, mutatingRules[rule](resource));
    applied = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: policy });
    await kubectl.run(['apply', '-f', '-'], applied);
    await sleep(5_000);
    const before = await team.podUids(server);
    // The one replacement that is asked for.
    const annotation = `${restartAnnotation}=${new Date().toISOString()}`;
    await kubectl.run(['annotate', 'tenant', 'demo', '--namespace', team.namespace, '--overwrite', annotation]);
    await team.untilReplaced(server, before);
    await team.untilSettled();
    const replaced = await team.podUids(server);
    await sleep(watchedMs);
    expect(await team.podUids(server)).toEqual(replaced);
    const conditions = (await team.get('tenant', 'demo'))?.status?.conditions;
    const told = conditions?.find(({ type }) => type === 'ChangedByCluster')?.message;
    if (resource === 'statefulsets') expect(told).toContain('StatefulSet demo-server');
    else expect(told).toBeUndefined();
  });
});
