import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { driftOf, hasAll } from './drift.ts';

describe('a live object has all that was sent', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['with what others added', { a: 1, b: 2 }, { a: 1 }, true],
    ['with an empty object that the API server dropped', {}, { a: {} }, true],
    ['with an empty list that the API server dropped', {}, { a: [] }, true],
    ['but not with an item that somebody put into an empty list', { a: [1] }, { a: [] }, false],
    ['but not with another value', { a: 2 }, { a: 1 }, false],
    ['but not with fewer items', { a: [1] }, { a: [1, 2] }, false],
    ['but not without a field', {}, { a: 1 }, false],
  ])('%s', (_, live, sent, expected) => {
    expect(hasAll(live, sent)).toBe(expected);
  });
});

const object = (spec: object, foreign: readonly object[] = []) =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'demo', foreign }, spec }) as unknown as KubeObject;
const changed = (fields: object) => [{ manager: 'kube-vip', fields }];

describe('a Service that a controller of load balancers changes', () => {
  it('keeps the address that the controller gives it', () => {
    const live = object({ type: 'LoadBalancer', loadBalancerIP: '192.0.2.7' }, changed({ 'f:loadBalancerIP': {} }));
    expect(driftOf(live, object({ type: 'LoadBalancer' }))).toBeUndefined();
  });

  it('is put back in what the resource sets itself', () => {
    const live = object({ loadBalancerClass: 'other' }, changed({ 'f:loadBalancerClass': {} }));
    expect(driftOf(live, object({ loadBalancerClass: 'internal' }))?.paths).toEqual(['spec.loadBalancerClass']);
  });
});
