import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BlobId } from '../../store/blob-store.ts';
import { key } from '../../store/keys.ts';
import { newSegmentId, packedId } from '../../store/packed-id.ts';
import { placeOfKey } from '../../store/places.ts';
import type { Key } from '../../store/record-store.ts';
import { newSlottedId, slotOf } from '../../store/slot.ts';
import { newTieredId, newTierNumber } from '../../store/tiered-id.ts';
import { recordKeys } from '../records/record-format.ts';
import { namedPart, namelessPart, outboxKeys, uniquePart } from './outbox.ts';

const bucket = 'photos';
const now = Date.UTC(2026, 10, 30);
const id = newSlottedId(bucket, now, randomBytes);
const blob = id as BlobId;
const tiered = newTieredId(newTierNumber(randomBytes), bucket, randomBytes);
const segment = newSegmentId(randomBytes);
const packed = packedId({ segment, offset: 4096, length: 9 });
const order = Buffer.alloc(16, 7);
const unique = uniquePart({ time: now, bucket }, randomBytes);
const object = { bucket, key: 'cat.jpg' };

type Keys<Builders> = Readonly<Record<keyof Builders, readonly Key[]>>;

/** The keys of what belongs to the bucket `photos`, for each function that makes such keys. */
const ofBucket: Omit<Keys<typeof recordKeys>, 'accountBlock' | 'hold' | 'keyUse' | 'garbage'> = {
  bucket: [recordKeys.bucket(bucket)],
  object: [recordKeys.object(bucket, 'cat.jpg')],
  marker: [recordKeys.marker(bucket, 'cat.jpg')],
  version: [recordKeys.version(bucket, 'cat.jpg', order)],
  versionIndex: [recordKeys.versionIndex(bucket, 'cat.jpg', 'AWS/1')],
  inline: [recordKeys.inline(bucket, 'cat.jpg'), recordKeys.inline(bucket, 'cat.jpg', order)],
  manifest: [recordKeys.manifest(bucket, 'cat.jpg'), recordKeys.manifest(bucket, 'cat.jpg', order)],
  damage: [recordKeys.damage(bucket, 'cat.jpg'), recordKeys.damage(bucket, 'cat.jpg', order)],
  upload: [recordKeys.upload(bucket, 'cat.jpg', id)],
  part: [recordKeys.part(id, 1)],
  leftovers: [recordKeys.leftovers(id)],
  promotions: [recordKeys.promotions(bucket)],
  accessLog: [recordKeys.accessLog(bucket)],
  inventory: [recordKeys.inventory(bucket)],
  quotaBytes: [recordKeys.quotaBytes(bucket, 'counter')],
  quotaCount: [recordKeys.quotaCount(bucket, 'counter')],
  partCommits: [recordKeys.partCommits(id)],
  blockSums: [recordKeys.blockSums(blob), recordKeys.blockSums(tiered)],
  owner: [recordKeys.owner(blob), recordKeys.owner(tiered)],
  tombstone: [recordKeys.tombstone(blob), recordKeys.tombstone(tiered)],
  dueTransition: [recordKeys.dueTransition(unique)],
  askedRestore: [recordKeys.askedRestore(unique)],
  restored: [recordKeys.restored(unique)],
  removal: [recordKeys.removal(blob), recordKeys.removal(tiered)],
};

const ofDeployment: readonly Key[] = [
  recordKeys.accountBlock,
  recordKeys.hold('id'),
  recordKeys.keyUse('key'),
  recordKeys.garbage(segment),
  recordKeys.blockSums(packed),
  recordKeys.owner(packed),
  recordKeys.tombstone(packed),
  recordKeys.removal(packed),
  outboxKeys.state('target'),
  outboxKeys.dropped('target'),
  outboxKeys.heldCount('target', 'dropped'),
  outboxKeys.retry('target'),
  key('live', 'lease', 'maintenance', 'term'),
  key('s', 'identities', 'user', 'photos'),
  key('system', 'deployment'),
];

describe('the place of a record', () => {
  it.each(Object.entries(ofBucket))('is the slot of the bucket for %s', (_, keys) => {
    for (const one of keys) expect(placeOfKey(one)).toBe(slotOf(bucket));
  });

  it('is the slot of the bucket for an event, whatever its target', () => {
    expect(placeOfKey(outboxKeys.event('target', object, unique))).toBe(slotOf(bucket));
    expect(placeOfKey(outboxKeys.event('other', object, unique))).toBe(slotOf(bucket));
    const named = namedPart({ time: now, bucket }, 'name', randomBytes);
    expect(placeOfKey(outboxKeys.event('target', object, named))).toBe(slotOf(bucket));
    const nameless = namelessPart({ time: now, bucket }, randomBytes);
    expect(placeOfKey(outboxKeys.event('target', object, nameless))).toBe(slotOf(bucket));
    expect(placeOfKey(outboxKeys.held(outboxKeys.event('target', object, unique)))).toBe(slotOf(bucket));
  });

  it('is that of the deployment for what belongs to no bucket, bodies in segments included', () => {
    for (const one of ofDeployment) expect(placeOfKey(one)).toBe('deployment');
  });

  it('does not exist for an unknown kind', () => {
    expect(() => placeOfKey(key('unknown', bucket))).toThrow('the kind of records "unknown" has no place');
  });

  it('exists for each kind of record that the sources name', () => {
    const sources = globSync('server/**/*.ts', {
      exclude: (name) => name.endsWith('.test.ts') || name === 'node_modules',
    });
    const kinds = sources.flatMap((file) => kindsIn(file));
    expect(kinds.length).toBeGreaterThan(100);
    for (const { kind, file } of kinds) {
      expect(
        () => placeOfKey(key(kind, bucket, 'x'.repeat(32))),
        `${file} makes keys of the kind ${kind}`,
      ).not.toThrow();
    }
  });
});

/** Calls that make keys and prefixes, by their first argument. `ofVersion` is that of `record-format.ts`. */
const makesKey = /(?<![.#\w])(?:key|ofVersion)\(\s*([^,()]*)/g;
const makesPrefix = /(?<![.#\w])(?:prefixOf|partialPrefix|within)\(\s*('[^']*')/g;
/** These files pass on a `table`, which their callers name. */
const passingFiles = ['records/record-format.ts', 'tiers/tier-rounds.ts'];

function kindsIn(file: string): { readonly kind: string; readonly file: string }[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^ *(?:\*|\/\*|\/\/).*$/gm, '');
  if (!/from '.*\/keys\.ts'/.test(text)) return [];
  const passes = passingFiles.some((end) => file.endsWith(end));
  return [...text.matchAll(makesKey), ...text.matchAll(makesPrefix)].flatMap(([, argument = '']) => {
    const first = argument.trim();
    if (first === '' || (passes && first.startsWith('table'))) return [];
    const literal = first.startsWith("'") ? first : new RegExp(`const ${first} = ('[^']+');`).exec(text)?.[1];
    return [{ kind: literal?.slice(1, -1) ?? first, file }];
  });
}
