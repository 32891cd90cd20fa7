import { describe, expect, it } from 'vitest';
import type { HealthCheck } from '../../../protocol/console/operations-answers.ts';
import { checkHealth, type HealthFacts } from './health-checks.ts';

const well: HealthFacts = {
  now: 0,
  servers: [{ endpoint: 'a:9000', version: '1' }],
  version: '1',
  readOnly: false,
  space: { free: 50, total: 100 },
  quarantined: 0,
  keyService: 'online',
  providers: [{ name: 'Keycloak' }],
  directory: 'disabled',
  notifications: [{ target: 'Q:webhook', events: 0, dropped: 0 }],
  replication: [{ bucket: 'photos', target: 'b:9000/photos', waiting: 0 }],
  tasks: [{ task: 'scrub' }],
  certificates: [{ name: 'the server', expires: 90 * 86_400_000 }],
  audit: { targets: [{ target: 'file', waiting: 0, dropped: 0 }] },
};

function stateOf(part: HealthCheck['part'], facts: Partial<HealthFacts>) {
  return checkHealth({ ...well, ...facts }).find((one) => one.part === part)?.state;
}

function wordsOf(part: HealthCheck['part'], facts: Partial<HealthFacts>) {
  return checkHealth({ ...well, ...facts }).find((one) => one.part === part)?.words;
}

describe('the health of the service', () => {
  it('tells of the targets that take no events, and of those that refuse some', () => {
    const held = { events: 2, since: 1, error: 'too large' };
    const failure = { since: 1, error: 'no route' };
    const notifications = [
      { target: 'A:webhook', events: 3, dropped: 0, failure },
      { target: 'B:kafka', events: 2, dropped: 0, held },
      { target: 'C:nats', events: 0, dropped: 1 },
    ];
    expect(wordsOf('targets', { notifications })).toBe(
      'The queue of C:nats is full or was: events were lost. A:webhook takes no events (3 wait): no route. B:kafka refuses 2 events: too large. `coffer admin events held` lists them.',
    );
    const replication = [
      { bucket: 'a', target: 'b/a', waiting: 3, failure },
      { bucket: 'c', target: 'd/c', waiting: 2, held },
    ];
    expect(wordsOf('replication', { replication })).toBe(
      'a is not replicated to b/a (3 versions wait): no route. d/c refuses 2 changes of c: too large. `coffer replicate backlog` lists them.',
    );
  });

  it('is good where nothing is wrong', () => {
    expect(checkHealth(well).map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'good'));
  });

  it.each<[HealthCheck['part'], string, Partial<HealthFacts>]>([
    ['servers', 'warning', { servers: [...well.servers, { endpoint: 'b:9000', version: '2' }] }],
    ['store', 'warning', { readOnly: true }],
    ['store', 'bad', { unpromoted: 'the store was restored' }],
    ['store', 'bad', { quarantined: 1 }],
    ['space', 'warning', { space: { free: 9, total: 100 } }],
    ['space', 'bad', { space: { free: 2, total: 100 } }],
    ['space', 'off', { space: undefined }],
    ['key-service', 'bad', { keyService: 'offline' }],
    ['key-service', 'off', { keyService: 'disabled' }],
    ['providers', 'bad', { providers: [{ name: 'Keycloak', issue: 'no answer' }] }],
    ['providers', 'bad', { directory: 'offline' }],
    ['providers', 'off', { providers: [] }],
    ['targets', 'off', { notifications: [] }],
    [
      'targets',
      'warning',
      { notifications: [{ target: 'Q:webhook', events: 3, dropped: 0, failure: { since: 1, error: 'refused' } }] },
    ],
    ['targets', 'bad', { notifications: [{ target: 'Q:webhook', events: 3, dropped: 1 }] }],
    [
      'targets',
      'warning',
      { notifications: [{ target: 'Q:webhook', events: 3, dropped: 0, held: { events: 1, error: 'too large' } }] },
    ],
    ['replication', 'warning', { replication: undefined }],
    ['replication', 'good', { replication: [{ bucket: 'a', target: 'b/a', waiting: 3, oldest: -60_000 }] }],
    ['replication', 'warning', { replication: [{ bucket: 'a', target: 'b/a', waiting: 3, oldest: -7_200_000 }] }],
    [
      'replication',
      'warning',
      { replication: [{ bucket: 'a', target: 'b/a', waiting: 3, held: { events: 1, since: 1, error: 'no' } }] },
    ],
    [
      'replication',
      'warning',
      { replication: [{ bucket: 'a', target: 'b/a', waiting: 3, failure: { since: 1, error: 'refused' } }] },
    ],
    ['tasks', 'bad', { tasks: [{ task: 'scrub', failure: { since: 1, error: 'no disk' } }] }],
    ['certificates', 'warning', { certificates: [{ name: 'x', expires: 20 * 86_400_000 }, ...well.certificates] }],
    ['certificates', 'bad', { certificates: [{ name: 'x', expires: 3 * 86_400_000 }] }],
    ['certificates', 'bad', { certificates: [{ name: 'x', expires: -1 }] }],
    ['audit', 'bad', { audit: { targets: [{ target: 'file', waiting: 0, dropped: 2 }] } }],
  ])('of %s is %s with %j', (part, state, facts) => expect(stateOf(part, facts)).toBe(state));

  it('names one event that waits in the singular', () => {
    const target = { target: 'Q:webhook', events: 1, dropped: 0, failure: { since: 1, error: 'refused' } };
    const words = checkHealth({ ...well, notifications: [target] }).map((check) => check.words);
    expect(words).toContain('Q:webhook takes no events (1 waits): refused.');
  });

  it('has no line about certificates, replication and audit targets where there are none', () => {
    const parts = checkHealth({ ...well, certificates: [], replication: [], audit: { targets: [] } }).map(
      ({ part }) => part,
    );
    expect(parts).not.toContain('certificates');
    expect(parts).not.toContain('replication');
    expect(parts).not.toContain('audit');
  });
});
