import { describe, expect, it } from 'vitest';
import { parseLifecycle, writeLifecycle } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { bucketSpec } from '../../../api/bucket.ts';
import { comparableLifecycle, wantedLifecycle } from './lifecycle-rules.ts';

const rules = bucketSpec.parse({
  tenantRef: { name: 'demo' },
  lifecycle: [
    {
      prefix: 'logs/',
      tags: { b: '2', a: '1' },
      largerThan: '1Mi',
      smallerThan: '1.5Gi',
      expiration: { days: 30, allVersions: true },
      transition: { days: 3, tier: 'COLD' },
    },
    { expiration: { date: '2030-01-31' }, noncurrentTransition: { days: 1, keep: 2, tier: 'COLD' } },
    { prefix: 'tmp/', abortUploadsDays: 1, deleteMarkerDays: 2, noncurrentExpiration: { keep: 5 } },
    { prefix: 'old/', expiration: { loneDeleteMarkers: true }, noncurrentExpiration: { days: 7 } },
    { prefix: 'cold/', transition: { date: '2031-02-01', tier: 'COLD' } },
  ],
}).lifecycle;

describe('the lifecycle rules of a resource', () => {
  it('equal those that a server answers, whose ids and order do not count', () => {
    const wanted = wantedLifecycle(rules ?? []);
    const stored = writeLifecycle(wanted.toReversed().map((rule, at) => ({ ...rule, id: `by-hand-${at}` })));
    expect(comparableLifecycle(parseLifecycle(stored))).toEqual(wanted);
  });

  it('have bytes and midnights', () => {
    const [found] = wantedLifecycle((rules ?? []).slice(0, 1));
    expect(found).toEqual({
      enabled: true,
      filter: { prefix: 'logs/', tags: { b: '2', a: '1' }, greaterThan: 1_048_576, lessThan: 1_610_612_736 },
      expiration: { days: 30, allVersions: true },
      transition: { days: 3, tier: 'COLD' },
    });
    const [dated] = wantedLifecycle((rules ?? []).slice(1, 2));
    expect(dated?.expiration).toEqual({ date: Date.UTC(2030, 0, 31) });
  });

  it('differ from a rule that is disabled, and from one without its filter', () => {
    const [wanted] = wantedLifecycle([{ prefix: 'a/', abortUploadsDays: 1 }]);
    const [disabled] = comparableLifecycle([
      { id: 'x', enabled: false, filter: { prefix: 'a/' }, abortUploadsDays: 1 },
    ]);
    const [everything] = comparableLifecycle([
      { id: 'x', enabled: true, filter: { deprecated: true, prefix: '' }, abortUploadsDays: 1 },
    ]);
    expect(disabled).not.toEqual(wanted);
    expect(everything).toEqual({ enabled: true, filter: {}, abortUploadsDays: 1 });
  });
});
