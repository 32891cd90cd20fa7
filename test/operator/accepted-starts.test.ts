import { describe, expect, it } from 'vitest';
import type { IdentityProvider, KMSConfig, Tenant } from '../../operator/api/object.ts';
import { ResourceError } from '../../operator/api/resource-error.ts';
import { renderKeyService } from '../../operator/render/render-key-service.ts';
import { renderTenant } from '../../operator/render/render-tenant.ts';
import type { RenderContext } from '../../operator/render/render-context.ts';
import type { Workload } from '../../operator/contract/workload.ts';
import { inFullForm } from '../support/full-form.ts';
import {
  Random,
  randomContext,
  randomKeyService,
  randomProvider,
  randomTenant,
} from '../support/operator/random-resources.ts';
import { startRendered } from '../support/operator/rendered-server.ts';
import { seed } from '../support/seed.ts';

// Resources at random. What the operator accepts must start: else a change of a resource takes down what runs.

const starts = inFullForm(80, 6);
const kept = { name: 'accepted-primary-iam', key: 'client-secret' };

interface Accepted {
  readonly workload: Workload;
  readonly given: RenderContext;
}

/** Answers undefined where the operator says what is wrong. */
function accepted(render: () => Workload, given: RenderContext): Accepted | undefined {
  try {
    return { workload: render(), given };
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

function acceptedServer(random: Random): Accepted | undefined {
  const tenant = randomTenant(random);
  const provider = random.below(4) === 0 ? randomProvider(random) : undefined;
  if (tenant === undefined) return undefined;
  const given = randomContext(random);
  const providers = provider === undefined ? [] : [{ provider: provider as IdentityProvider, kept }];
  return accepted(
    () => renderTenant(tenant as Tenant, { providers, rootSecret: 'demo-root-credentials' }, given),
    given,
  );
}

function acceptedKeyService(random: Random): Accepted | undefined {
  const kms = randomKeyService(random);
  const given = randomContext(random);
  return kms === undefined ? undefined : accepted(() => renderKeyService(kms as KMSConfig, [], given), given);
}

/**
 * Reports whether a key service had read all of its settings and asked its key store, which is not here. A check asks it before a pod is touched. The
 * folder of a volume is always here.
 */
function isWithoutKeyStore({ program, mounts }: Workload, output: string): boolean {
  const hasVolume = mounts.some(({ kind }) => kind === 'volume');
  return program === 'keysvc' && !hasVolume && output.includes('listed under "keys" cannot be validated or created');
}

/** Starts what the operator accepts, two at a time, and returns what ended by itself: its environment and its files, and its last words. */
async function endedStarts(make: (random: Random) => Accepted | undefined): Promise<readonly string[]> {
  const random = new Random(seed);
  const ended: string[] = [];
  let left = starts;
  const next = async (): Promise<void> => {
    while (left > 0) {
      const found = make(random);
      if (found === undefined) continue;
      left -= 1;
      const { environment, mounts } = found.workload;
      const { kind, output } = await startRendered(found.workload, found.given.secrets);
      if (kind !== 'ended' || isWithoutKeyStore(found.workload, output)) continue;
      const set = environment.map(({ name, value }) => `${name}=${JSON.stringify(value.parts)}`);
      ended.push(`${set.join(' ')} ${JSON.stringify(mounts)}: ${output.slice(-600)}`);
    }
  };
  await Promise.all([next(), next()]);
  return ended;
}

describe(`what the operator accepts (seed ${seed})`, () => {
  it.each([
    ['server', acceptedServer],
    ['key service', acceptedKeyService],
  ] as const)(
    'ends the start of no %s',
    async (_program, make) => {
      expect(await endedStarts(make)).toEqual([]);
    },
    inFullForm(1_200_000, 240_000),
  );

  it('is tried on values of which some are refused, and some are not', () => {
    const random = new Random(seed);
    const found = Array.from({ length: 300 }, () => acceptedServer(random) !== undefined);
    expect([found.includes(true), found.includes(false)]).toEqual([true, true]);
    const services = Array.from({ length: 300 }, () => acceptedKeyService(random) !== undefined);
    expect([services.includes(true), services.includes(false)]).toEqual([true, true]);
  });
});
