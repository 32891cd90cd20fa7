import { describe, expect, it } from 'vitest';
import type { RestartInput } from '../../../contract/workload.ts';
import { readInputs, writeInputs } from './labels.ts';

const input = (index: number): RestartInput => ({
  reason: 'IdentityProviderChanged',
  field: `spec.field${index}`,
  of: { kind: 'IdentityProvider', name: `provider-${index}` },
  fingerprint: `fingerprint-${index}`,
});
const inputs = (count: number) => Array.from({ length: count }, (_, index) => input(index));

describe('restart inputs in an annotation', () => {
  it.each([0, 1, 1_000])('come back as they were written, %i of them', (count) => {
    expect(readInputs(writeInputs(inputs(count)))).toEqual(inputs(count));
  });
  it('stay far under the limit of 256 KiB, however many they are', () => {
    expect(writeInputs(inputs(2_000)).length).toBeLessThan(64 * 1024);
  });
  it.each([undefined, '', '{', '[{}]', 'gzip:AAAA'])('are unknown where the annotation is %j', (annotation) => {
    expect(readInputs(annotation)).toBeUndefined();
  });
});
