import { describe, expect, it } from 'vitest';
import { authoritySecret, authorityStep, type AuthorityPhase, type Validity } from './authority.ts';
import { leafStep, type KeyPhase } from './leaf.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.parse('2030-01-01T00:00:00Z');
const at = (milliseconds: number) => new Date(start + milliseconds);
const valid = (from: number, to: number): Validity => ({ notBefore: at(from), notAfter: at(to) });
const times = { spreadMs: 5 * minute, graceMs: day };

describe('an authority', () => {
  const signing = valid(0, 30 * day);
  const next = valid(20 * day, 50 * day);
  it.each<[string, AuthorityPhase, number, boolean, string]>([
    ['stays for two thirds of its life', { kind: 'settled', signing }, 19 * day, false, 'stay'],
    ['gets a successor then', { kind: 'settled', signing }, 20 * day, false, 'introduce'],
    [
      'signs on while its successor spreads',
      { kind: 'introducing', signing, next, since: at(20 * day) },
      20 * day + 4 * minute,
      false,
      'stay',
    ],
    [
      'hands over when everybody had time to learn of its successor',
      { kind: 'introducing', signing, next, since: at(20 * day) },
      20 * day + 5 * minute,
      false,
      'switch',
    ],
    [
      'hands over at once when it expired while the operator was away',
      { kind: 'introducing', signing, next, since: at(30 * day) },
      30 * day,
      false,
      'switch',
    ],
    [
      'stays trusted for a while after that',
      { kind: 'retiring', signing: next, previous: signing, since: at(21 * day) },
      21 * day + hour,
      false,
      'stay',
    ],
    [
      'stays trusted while something signed by it is in use',
      { kind: 'retiring', signing: next, previous: signing, since: at(21 * day) },
      25 * day,
      true,
      'stay',
    ],
    [
      'is forgotten when nothing needs it',
      { kind: 'retiring', signing: next, previous: signing, since: at(21 * day) },
      22 * day,
      false,
      'retire',
    ],
    [
      'is forgotten when it has expired',
      { kind: 'retiring', signing: next, previous: signing, since: at(29.9 * day) },
      30 * day,
      true,
      'retire',
    ],
  ])('%s', (_, phase, now, used, expected) => {
    expect(authorityStep(phase, at(now), times, used).kind).toBe(expected);
  });
});

it('labels the Secret of an authority, which the operator finds and others recognize by it', () => {
  const signing = { certPem: 'certificate', keyPem: 'key', ...valid(0, day) };
  expect(authoritySecret('demo', 'tenants', { kind: 'settled', signing }, []).metadata.labels).toEqual({
    'app.kubernetes.io/managed-by': 'coffer-operator',
    'app.kubernetes.io/name': 'coffer',
    'coffer.dev/authority': 'demo',
  });
});

describe('a certificate', () => {
  const facts = { validity: valid(0, 9 * day), signed: true, fits: true, keyWanted: true };
  it.each<[string, Partial<typeof facts>, KeyPhase, number, string]>([
    ['stays for two thirds of its life', {}, { kind: 'settled' }, 5 * day, 'stay'],
    ['is renewed then', {}, { kind: 'settled' }, 6 * day, 'renew'],
    ['is renewed for a new name', { fits: false }, { kind: 'settled' }, hour, 'renew'],
    ['is renewed by a new authority', { signed: false }, { kind: 'settled' }, hour, 'renew'],
    ['gets another key on demand', { keyWanted: false }, { kind: 'settled' }, hour, 'announce'],
    ['keeps the old key until everybody knows the new one', {}, { kind: 'announced', since: at(0) }, minute, 'stay'],
    ['changes to the new key then', {}, { kind: 'announced', since: at(0) }, 5 * minute, 'switch'],
    ['is known by its old key for a while', {}, { kind: 'overlapping', since: at(0) }, minute, 'stay'],
    ['is known by its new key alone then', {}, { kind: 'overlapping', since: at(0) }, 5 * minute, 'forget'],
  ])('%s', (_, changes, phase, now, expected) => {
    expect(leafStep({ ...facts, ...changes }, phase, at(now), times).kind).toBe(expected);
  });
});

/** What a Secret says at a time: which authorities to trust, who signed the certificate to show, and until when it is valid. */
interface Published {
  readonly time: number;
  readonly trusted: readonly number[];
  readonly signer: number;
  readonly notAfter: number;
}

/** Everything that is published within `length`, by the steps of both machines; generations of authorities are numbered. */
function simulate(length: number, authorityLife: number, leafLife: number): readonly Published[] {
  const published: Published[] = [];
  let generation = 0;
  let phase: AuthorityPhase = { kind: 'settled', signing: valid(0, authorityLife) };
  let leaf = { signer: 0, validity: valid(0, leafLife) };
  for (let now = 0; now < length;) {
    const step = authorityStep(phase, at(now), times, phase.kind === 'retiring' && leaf.signer < generation);
    if (step.kind !== 'stay') {
      if (step.kind === 'switch') generation += 1;
      phase = advanced(phase, step.kind, now, authorityLife);
      continue;
    }
    const facts = { validity: leaf.validity, signed: leaf.signer === generation, fits: true, keyWanted: true };
    const due = leafStep(facts, { kind: 'settled' }, at(now), times);
    if (due.kind === 'renew') {
      const end = Math.min(now + leafLife, phase.signing.notAfter.getTime() - start);
      leaf = { signer: generation, validity: valid(now, end) };
      continue;
    }
    const other = phase.kind === 'introducing' ? [generation + 1] : phase.kind === 'retiring' ? [generation - 1] : [];
    const notAfter = leaf.validity.notAfter.getTime() - start;
    published.push({ time: now, trusted: [generation, ...other], signer: leaf.signer, notAfter });
    now = Math.min(step.until.getTime(), due.kind === 'stay' ? due.until.getTime() : Infinity) - start;
  }
  return published;
}

function advanced(
  phase: AuthorityPhase,
  step: 'introduce' | 'switch' | 'retire',
  now: number,
  life: number,
): AuthorityPhase {
  const { signing } = phase;
  if (step === 'introduce') return { kind: 'introducing', signing, next: valid(now, now + life), since: at(now) };
  if (phase.kind === 'introducing') return { kind: 'retiring', signing: phase.next, previous: signing, since: at(now) };
  return { kind: 'settled', signing };
}

/** What a pod has whose kubelet is late by `lag`. */
function seen(published: readonly Published[], time: number, lag: number): Published | undefined {
  return published.findLast((state) => state.time <= time - lag) ?? published[0];
}

describe('over a year', () => {
  const lags = [0, 90_000, 5 * minute - 1];
  const published = simulate(365 * day, 30 * day, 3 * day);
  const moments = published.flatMap(({ time }) => [time, ...lags.map((lag) => time + lag)]);

  it('authorities follow each other', () => {
    expect(published.at(-1)?.signer).toBeGreaterThan(15);
  });
  it('everybody trusts what anybody shows, however late each learns of a change', () => {
    for (const time of moments) {
      for (const [one, other] of lags.flatMap((a) => lags.map((b) => [a, b] as const))) {
        expect(seen(published, time, one)?.trusted).toContain(seen(published, time, other)?.signer);
      }
    }
  });
  it('nobody shows an expired certificate', () => {
    for (const time of moments) {
      for (const lag of lags) expect(seen(published, time, lag)?.notAfter).toBeGreaterThan(time);
    }
  });
});
