import { describe, expect, it } from 'vitest';
import { Namespace, tenant } from '../reconcile/reconciler-harness.ts';
import { checkPodOptions } from './check-pod-options.ts';

const uses = { identityProviders: [{ name: 'staff' }] };

function optionsWith(...tenants: readonly ReturnType<typeof tenant>[]) {
  const space = new Namespace();
  space.objects = tenants;
  return checkPodOptions('staff', space.resources());
}

describe('the pod that checks a provider', () => {
  it('runs as servers of the first tenant by name that uses it', () => {
    const options = optionsWith(
      tenant({ ...uses, serviceAccountName: 'of-b' }, 'b'),
      tenant({ ...uses, serviceAccountName: 'of-a' }, 'a'),
      tenant({ serviceAccountName: 'of-none' }, '0'),
    );
    expect(options?.serviceAccountName).toBe('of-a');
  });
  it('runs plainly where no tenant uses it', () => {
    expect(optionsWith(tenant({}))).toBeUndefined();
  });
});
