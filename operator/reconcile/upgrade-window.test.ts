import { beforeEach, describe, expect, it } from 'vitest';
import type { CofferObject } from '../api/object.ts';
import { kms, Namespace, tenant } from '../../test/support/operator/reconciler-harness.ts';
import type { Reconciler } from './reconciler.ts';
import { RolloutLimit } from './rollout-limit.ts';
import { nextOpening, parseUpgradeWindow } from './upgrade-window.ts';

// 2026-11-23 is a Monday.
const at = (text: string) => new Date(`2026-11-${text}:00Z`);
const opening = (window: string, now: string) => nextOpening(parseUpgradeWindow(window), at(now))?.toISOString();

describe('an upgrade window', () => {
  it.each([
    ['Sat,Sun 02:00-05:00', '23T12:00', '2026-11-28T02:00:00.000Z'],
    ['Sat,Sun 02:00-05:00', '28T01:59', '2026-11-28T02:00:00.000Z'],
    ['Sat,Sun 02:00-05:00', '28T02:00', undefined],
    ['Sat,Sun 02:00-05:00', '28T04:59', undefined],
    ['Sat,Sun 02:00-05:00', '28T05:00', '2026-11-29T02:00:00.000Z'],
    ['Sat,Sun 02:00-05:00', '29T05:00', '2026-12-05T02:00:00.000Z'],
    ['22:00-02:00', '23T21:00', '2026-11-23T22:00:00.000Z'],
    ['22:00-02:00', '24T01:59', undefined],
    ['22:00-02:00', '24T02:00', '2026-11-24T22:00:00.000Z'],
    // Over the end of the week.
    ['Sat 22:00-02:00', '29T01:00', undefined],
    ['Sat 22:00-02:00', '29T02:00', '2026-12-05T22:00:00.000Z'],
    ['Mon 00:00-24:00', '23T23:59', undefined],
    ['Mon 00:00-24:00', '24T00:00', '2026-11-30T00:00:00.000Z'],
  ])('%s at %s opens next %s', (window, now, opens) => {
    expect(opening(window, now)).toBe(opens);
  });
  it.each([
    '',
    'Sat',
    '2:00-5:00',
    'Sat 02:00-25:00',
    'Sat 02:00-24:30',
    'Sam 02:00-05:00',
    'Sat 02:00-02:00',
    'Sat,,Sun 02:00-05:00',
  ])('cannot be "%s"', (text) =>
    expect(() => parseUpgradeWindow(text)).toThrow('is no window: write days and hours of UTC'),
  );
});

const hour = 3_600_000;
let scope: Namespace;
beforeEach(() => {
  scope = new Namespace();
  scope.clock.ms = at('23T12:00').getTime();
});

/** An operator that was upgraded, with a window that opens at 02:00 and closes at 05:00. */
async function upgraded(places = 5, ...resources: readonly CofferObject[]): Promise<Reconciler> {
  const before = scope.open({ operandImage: 'coffer:1' });
  scope.objects = resources;
  await before.start();
  await scope.settle(before);
  for (let turn = 0; turn < 2; turn++) await scope.allReady(before);
  scope.forget();
  scope.later.clear();
  const window = parseUpgradeWindow('02:00-05:00');
  scope.limit = new RolloutLimit({ now: () => new Date(scope.clock.ms), window, places });
  const operator = scope.open({ operandImage: 'coffer:2' });
  await operator.start();
  await scope.settle(operator);
  return operator;
}
const held = (key: string) => scope.statuses.get(key)?.conditions.find(({ type }) => type === 'UpgradeHeld');
const replaced = () => scope.runtime.told.filter((text) => text.startsWith('replace'));

describe('outside the window', () => {
  it('a new default image waits, and says until when', async () => {
    await upgraded(5, tenant());
    expect(scope.runtime.told).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=True Ready', 'UpgradeHeld=True OutsideUpgradeWindow']);
    expect(held('Tenant/demo')?.message).toBe(
      'runs coffer:1, and waits with coffer:2 until 2026-11-24T02:00:00Z, when the upgrade window opens; ' +
        'to upgrade it now, name the image in spec.image',
    );
    expect(scope.later.get('Tenant/demo')).toBe(14 * hour);
  });
  it('what a person changes is rolled out with the image that runs', async () => {
    const operator = await upgraded(5, tenant());
    await scope.change(operator, tenant({ podAnnotations: { a: 'b' } }));
    expect(scope.restarts()).toEqual(['PodTemplateChanged restarts for spec.podAnnotations of Tenant demo']);
    expect(scope.runtime.desired.get('demo-server')?.image).toBe('coffer:1');
    await scope.allReady(operator);
    expect(held('Tenant/demo')?.reason).toBe('OutsideUpgradeWindow');
  });
  it('a person upgrades one at once, and takes the image that they named away again', async () => {
    const operator = await upgraded(5, tenant());
    await scope.change(operator, tenant({ image: 'coffer:3' }));
    await scope.allReady(operator);
    await scope.change(operator, tenant());
    expect(scope.restarts()).toEqual([
      'ImageChanged restarts for spec.image of Tenant demo (coffer:1 to coffer:3)',
      'ImageChanged restarts for spec.image of Tenant demo (coffer:3 to coffer:2)',
    ]);
  });
  it('a new tenant, and one that rests, have the new image at once', async () => {
    const operator = await upgraded(5, tenant({ hibernated: true }));
    await scope.change(operator, tenant({ hibernated: true }), tenant({}, 'other'));
    for (const name of ['demo-server', 'other-server']) {
      expect(scope.runtime.desired.get(name)?.image).toBe('coffer:2');
    }
  });
  it('a key service waits too, and holds up none of what people change in its tenants', async () => {
    const ref = { kmsConfigRef: { name: 'keys' } };
    const operator = await upgraded(5, kms(), tenant(ref));
    expect(held('KMSConfig/keys')?.reason).toBe('OutsideUpgradeWindow');
    await scope.change(operator, kms(), tenant({ ...ref, podAnnotations: { a: 'b' } }));
    expect(replaced()).toEqual(['replace demo-server-0']);
  });
});

const open = async (operator: Reconciler, ...resources: readonly CofferObject[]) => {
  scope.clock.ms = at('24T02:00').getTime();
  await scope.change(operator, ...resources);
};

describe('within the window', () => {
  it('the upgrade begins for its own reason, and ends after it', async () => {
    const operator = await upgraded(5, tenant());
    await open(operator, tenant());
    expect(scope.restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo (coffer:1 to coffer:2)']);
    scope.clock.ms += 4 * hour;
    await scope.change(operator, tenant());
    expect(scope.runtime.desired.get('demo-server')?.image).toBe('coffer:2');
    await scope.allReady(operator);
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
  });
  it('a key service is upgraded before its tenants', async () => {
    const resources = [kms(), tenant({ kmsConfigRef: { name: 'keys' } })];
    const operator = await upgraded(5, ...resources);
    scope.clock.ms = at('24T02:00').getTime();
    await operator.reconcile({ kind: 'Tenant', name: 'demo' });
    expect(held('Tenant/demo')?.reason).toBe('KeyServiceUnavailable');
    await scope.change(operator, ...resources);
    expect(replaced()).toEqual(['replace keys-key-service-0']);
    await scope.allReady(operator);
    expect(replaced()).toEqual(['replace keys-key-service-0', 'replace demo-server-0']);
  });
  it('who finds no place among those that roll waits, and begins no more once it is closed', async () => {
    const both = [tenant(), tenant({}, 'other')];
    const operator = await upgraded(1, ...both);
    await open(operator, ...both);
    expect(replaced()).toEqual(['replace demo-server-0']);
    expect(held('Tenant/other')?.reason).toBe('RolloutInProgress');
    expect(scope.later.get('Tenant/other')).toBe(30_000);
    scope.clock.ms += 4 * hour;
    await scope.allReady(operator);
    await scope.change(operator, ...both);
    expect(replaced()).toEqual(['replace demo-server-0']);
    expect(held('Tenant/other')?.reason).toBe('OutsideUpgradeWindow');
  });
});
