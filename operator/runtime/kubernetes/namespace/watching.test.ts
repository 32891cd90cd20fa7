import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { isContentChange, ownerOf, ownersToNotify } from './watching.ts';

const secret = (labels: Record<string, string>, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'red', labels },
  ...more,
});
const owned = { 'coffer.dev/owner-kind': 'Tenant', 'coffer.dev/owner': 'demo' };

describe('ownerOf', () => {
  it.each([
    ['both labels', owned, { kind: 'Tenant', name: 'demo' }],
    ['no label', {}, undefined],
    ['another kind', { ...owned, 'coffer.dev/owner-kind': 'Pod' }, undefined],
  ])('reads %s', (_, labels, owner) => {
    expect(ownerOf(secret(labels))).toEqual(owner);
  });
});

describe('ownersToTell', () => {
  it('tells the owner of a deleted Secret', () => {
    expect(ownersToNotify(secret(owned), undefined)).toEqual([{ kind: 'Tenant', name: 'demo' }]);
  });
  it('tells the owner whose labels were taken off', () => {
    expect(ownersToNotify(secret(owned), secret({}))).toEqual([{ kind: 'Tenant', name: 'demo' }]);
  });
  it('leaves parts of workloads to the runtime', () => {
    expect(ownersToNotify(undefined, secret({ ...owned, 'coffer.dev/workload': 'demo' }))).toEqual([]);
  });
});

describe('isContentChange', () => {
  it.each([
    ['a value', { data: { a: 'x' } }, { data: { a: 'y' } }, true],
    ['a new object', undefined, { data: { a: 'x' } }, true],
    ['a label', { data: { a: 'x' } }, { data: { a: 'x' } }, false],
  ])('sees the change of %s', (_, before, after, changed) => {
    expect(isContentChange(before && secret({}, before), after && secret({ now: 'other' }, after))).toBe(changed);
  });

  it('sees that a Secret may be used for something', () => {
    const data = { data: { a: 'x' } };
    const allowed = secret({ 'coffer.dev/use-keystore': 'true' }, data);
    expect(isContentChange(secret({}, data), allowed)).toBe(true);
    expect(isContentChange(allowed, allowed)).toBe(false);
  });
});
