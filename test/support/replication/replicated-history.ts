import { expect } from 'vitest';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ListedVersion, ReplicationState } from '../../../server/objects/contract/object-layer.ts';
import { put } from '../objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from './linked-servers.ts';

/** What a server keeps of the rules that replicate everything. */
export const ruleChanges = {
  all: {},
  tagged: { filter: { tags: { k: 'x' } } },
  prefix: { filter: { prefix: 'key-0' } },
  'without removals': { deletes: false },
  'without markers': { deleteMarkers: false },
  off: { enabled: false },
} as const;

/** One step of a history. `at` is a server, `to` another one, and `which` one of the versions that clients made. */
export type Step = {
  readonly at: number;
  readonly which: number;
  /** Milliseconds before the step. */
  readonly passes: number;
} & (
  | { readonly kind: 'put' | 'copy' | 'marker' | 'heal' | 'hour' | 'expire' | 'expire current' | 'lose' }
  | { readonly kind: 'cut' | 'resync'; readonly to: number }
  | { readonly kind: 'deliver'; readonly to: number; readonly max: number }
  | { readonly kind: 'remove' | 'lift'; readonly bypass: boolean }
  | { readonly kind: 'tag'; readonly value: string }
  | { readonly kind: 'hold'; readonly on: boolean }
  | { readonly kind: 'comply'; readonly hours: number }
  | { readonly kind: 'govern'; readonly hours: number; readonly bypass: boolean }
  | { readonly kind: 'rules'; readonly change: keyof typeof ruleChanges }
);

/** A change of a client before the versioning, which makes a null version or a null delete marker. */
export interface NullStep {
  readonly at: number;
  readonly which: number;
  readonly kind: 'put' | 'marker';
}

interface Version {
  readonly key: string;
  readonly versionId: string;
  readonly isMarker: boolean;
  readonly holds: { readonly at: number; readonly on: boolean }[];
  /** The ends of GOVERNANCE that clients have set; 0 where one has lifted it. */
  readonly governs: { readonly at: number; readonly until: number }[];
  /** The latest end of COMPLIANCE that a client has set. */
  until: number;
  /** The servers where a client, or a lifecycle rule, has removed it. */
  readonly removed: Set<LinkedServer>;
  readonly expired: Set<LinkedServer>;
  /** The servers that have lost it with all else, until a resync. */
  readonly lost: Set<LinkedServer>;
  /** It was changed under rules that do not replicate everything. */
  isLoose: boolean;
  /** A server has lost what it alone knew of it. */
  isForgotten: boolean;
}

/** Before the first version. What is asked of it is refused. */
const absent = newVersion('absent', '0'.repeat(32), false);

function newVersion(key: string, versionId: string, isMarker: boolean): Version {
  const sets = { removed: new Set<LinkedServer>(), expired: new Set<LinkedServer>(), lost: new Set<LinkedServer>() };
  return { key, versionId, isMarker, holds: [], governs: [], until: 0, ...sets, isLoose: false, isForgotten: false };
}

const hour = 3_600_000;

type Listing = ReadonlyMap<string, ListedVersion>;

/** Servers in this process that replicate a bucket to each other, the steps of clients and links, and what must hold after them. */
export class ReplicatedHistory {
  readonly #clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  readonly #servers: LinkedServer[] = [];
  readonly #versions: Version[] = [];
  readonly #narrow = new Set<LinkedServer>();

  async start(count: number, before: readonly NullStep[] = []): Promise<void> {
    for (const name of ['left', 'right', 'third'].slice(0, count)) {
      this.#servers.push(await LinkedServer.start(name, this.#clock, before.length === 0));
    }
    if (before.length > 0) await this.#makeNullVersions(before);
    for (const from of this.#servers) for (const to of this.#othersOf(from)) await from.replicateTo(to);
  }

  async #makeNullVersions(steps: readonly NullStep[]): Promise<void> {
    for (const { calls } of this.#servers) await calls.layer.putBucketVersioning(bucket, { status: 'Suspended' });
    for (const { at, which, kind } of steps) {
      const { layer } = this.#server(at).calls;
      this.#clock.now += 1;
      const key = `key-${which % 2}`;
      const isMarker = kind === 'marker';
      if (isMarker) await layer.deleteObject(bucket, key);
      else await layer.putObject(put(bucket, key, `null of ${at} at ${this.#clock.now}`));
      const known = this.#versions.findIndex((one) => one.key === key);
      if (known >= 0) this.#versions.splice(known, 1);
      // The sides may have different ones until a resync.
      this.#versions.push({ ...newVersion(key, 'null', isMarker), isLoose: true });
    }
    for (const { calls } of this.#servers) {
      await calls.layer.putBucketVersioning(bucket, { status: 'Enabled' });
      await calls.layer.putObjectLockConfiguration(bucket, {});
    }
    this.#clock.now += 1;
  }

  #server(at: number): LinkedServer {
    const server = this.#servers[at % this.#servers.length];
    if (server === undefined) throw new Error('no servers');
    return server;
  }

  #othersOf(server: LinkedServer): readonly LinkedServer[] {
    return this.#servers.filter((one) => one !== server);
  }

  async take(one: Step): Promise<void> {
    this.#clock.now += one.passes;
    try {
      await this.#do(one);
    } catch (error) {
      // What is locked or gone is refused.
      if (!(error instanceof S3Error) || error.status >= 500) throw error;
    }
  }

  async #do(one: Step): Promise<void> {
    const here = this.#server(one.at);
    const { layer } = here.calls;
    const version = this.#versions[one.which % Math.max(1, this.#versions.length)] ?? absent;
    const { key, versionId } = version;
    const { now } = this.#clock;
    switch (one.kind) {
      case 'put': {
        const name = `key-${one.which % 2}`;
        const made = await layer.putObject(put(bucket, name, 'text'));
        return this.#add(here, name, made.versionId, false);
      }
      case 'copy': {
        const headers = {
          'x-amz-copy-source': `/${bucket}/${key}?versionId=${versionId}`,
          'x-amz-metadata-directive': 'REPLACE',
          'x-amz-meta-changed': String(now),
        };
        const { status, headers: answer } = await here.call('PUT', key, headers);
        if (status === 200) this.#add(here, key, answer['x-amz-version-id'], false);
        return;
      }
      case 'marker': {
        const name = `key-${one.which % 2}`;
        return this.#add(here, name, (await layer.deleteObject(bucket, name)).versionId, true);
      }
      case 'cut': {
        const there = this.#server(one.to);
        if (there !== here) here.cut.add(there.name);
        return;
      }
      case 'heal':
        return here.cut.clear();
      case 'hour':
        this.#clock.now += hour;
        return;
      case 'deliver': {
        const there = this.#server(one.to);
        const only = there === here ? undefined : there;
        return void (await here.deliver((count) => one.which % Math.max(1, count), { max: one.max, only }));
      }
      case 'resync': {
        const there = this.#server(one.to);
        if (there !== here) await here.resync(there, this.#clock);
        return;
      }
      case 'lose':
        return this.#lose(here);
      case 'rules':
        await here.changeRules(ruleChanges[one.change]);
        if (one.change === 'all') this.#narrow.delete(here);
        else this.#narrow.add(here);
        return;
      case 'remove':
        await layer.deleteObject(bucket, key, { versionId, bypassGovernance: one.bypass });
        version.removed.add(here);
        return this.#touch(here, version);
      case 'expire':
        await this.#expire(here, version);
        return this.#touch(here, version);
      case 'expire current':
        await layer.expireObject(bucket, `key-${one.which % 2}`, { isDue: () => true });
        return;
      case 'tag':
        await layer.putObjectTags(bucket, key, { k: one.value }, versionId);
        return this.#touch(here, version);
      case 'hold':
        await layer.putObjectLegalHold(bucket, key, { versionId, legalHold: one.on });
        version.holds.push({ at: now, on: one.on });
        return this.#touch(here, version);
      case 'comply': {
        const until = now + one.hours * hour;
        const retention = { mode: 'COMPLIANCE', until: new Date(until) } as const;
        await layer.putObjectRetention(bucket, key, { versionId, retention, bypassGovernance: false });
        version.until = Math.max(version.until, until);
        return this.#touch(here, version);
      }
      case 'govern': {
        const until = now + one.hours * hour;
        const retention = { mode: 'GOVERNANCE', until: new Date(until) } as const;
        await layer.putObjectRetention(bucket, key, { versionId, retention, bypassGovernance: one.bypass });
        version.governs.push({ at: now, until });
        return this.#touch(here, version);
      }
      case 'lift':
        await layer.putObjectRetention(bucket, key, {
          versionId,
          retention: undefined,
          bypassGovernance: one.bypass,
        });
        version.governs.push({ at: now, until: 0 });
        return this.#touch(here, version);
      default:
        return one satisfies never;
    }
  }

  #add(here: LinkedServer, key: string, versionId: string | undefined, isMarker: boolean): void {
    const version = newVersion(key, versionId ?? '', isMarker);
    this.#versions.push(version);
    this.#touch(here, version);
  }

  #touch(here: LinkedServer, version: Version): void {
    if (this.#narrow.has(here)) version.isLoose = true;
  }

  /** A lifecycle rule waits until each target that a rule names has the version, or has removed it. */
  async #expire(here: LinkedServer, version: Version): Promise<void> {
    const { key, versionId, isLoose } = version;
    const before = (await listed(here)).get(nameOf(version));
    if (!(await here.calls.layer.expireObject(bucket, key, { versionId, isDue: () => true }))) return;
    version.expired.add(here);
    if (isLoose || before?.replication?.status === 'REPLICA') return;
    for (const there of this.#othersOf(here)) {
      const isGone = [version.removed, version.expired, version.lost].some((servers) => servers.has(there));
      const has = (await listed(there)).has(nameOf(version));
      expect(has || isGone, `${there.name} has ${nameOf(version)}, which ${here.name} has removed by a rule`).toBe(
        true,
      );
    }
  }

  /** What the server alone knew is gone: that is nobody's mistake. */
  async #lose(here: LinkedServer): Promise<void> {
    const had = await listed(here);
    const elsewhere = await Promise.all(this.#othersOf(here).map((server) => listed(server)));
    for (const version of this.#versions) {
      const own = had.get(nameOf(version));
      const isElsewhere = elsewhere.every((listing) => listing.has(nameOf(version)));
      const isAlone = own === undefined || !isElsewhere || isWaiting(own.replication);
      if (isAlone || version.isLoose) version.isForgotten = true;
      version.lost.add(here);
    }
    const hasLock = (await here.calls.layer.getObjectLockConfiguration(bucket)) !== undefined;
    await here.lose();
    if (hasLock) await here.calls.layer.putObjectLockConfiguration(bucket, {});
  }

  /** Heals all links, and delivers until nothing more goes. */
  async end(): Promise<void> {
    for (const server of this.#servers) server.cut.clear();
    for (;;) {
      let delivered = 0;
      for (const server of this.#servers) delivered += await server.deliver();
      if (delivered === 0) return;
    }
  }

  /** Puts all rules back, and sends everything again in all directions. */
  async endWithResyncs(): Promise<void> {
    for (const server of this.#servers) await server.changeRules();
    this.#clock.now += 1;
    for (const from of this.#servers) for (const to of this.#othersOf(from)) await from.resync(to, this.#clock);
    await this.end();
    for (const version of this.#versions) version.lost.clear();
  }

  async check(): Promise<void> {
    const listings = await Promise.all(this.#servers.map(listed));
    for (const version of this.#versions) {
      const found = await Promise.all(this.#servers.map((server, at) => shown(server, version, listings[at])));
      this.#checkCompleted(version, found);
      const present = found.filter((one) => one !== undefined);
      // What another side refuses waits there: then a state says so.
      const waits = present.some(({ state }) => isWaiting(state));
      // Of three, a side may be lost when it has told one of the others of a change: a resync brings it to the third.
      const isHalfTold = version.isForgotten && version.lost.size > 0 && this.#servers.length > 2;
      if (!waits && !version.isLoose && !isHalfTold) {
        for (const { attributes } of present) expect(attributes, nameOf(version)).toEqual(present[0]?.attributes);
      }
      if (!version.isMarker && !version.isForgotten) this.#checkLocks(version, present, waits || version.isLoose);
    }
  }

  /** After resyncs, what no client and no rule has removed is everywhere, or a state says what is not. */
  async checkEverywhere(): Promise<void> {
    const listings = await Promise.all(this.#servers.map(listed));
    for (const version of this.#versions) {
      const found = await Promise.all(this.#servers.map((server, at) => shown(server, version, listings[at])));
      const present = found.filter((one) => one !== undefined);
      if (present.length === 0 || present.some(({ state }) => isWaiting(state))) continue;
      // What was removed on one side comes back, or not, by which side sends first.
      if (version.removed.size > 0 || version.expired.size > 0) continue;
      expect(present.length, nameOf(version)).toBe(this.#servers.length);
      for (const { attributes } of present) expect(attributes, nameOf(version)).toEqual(present[0]?.attributes);
    }
  }

  /** A side that says that another one has a version is right, but where that side has removed or lost it. */
  #checkCompleted(version: Version, found: readonly (Shown | undefined)[]): void {
    for (const [from, one] of found.entries()) {
      if (one === undefined) continue;
      for (const [to, other] of found.entries()) {
        const there = this.#server(to);
        if (from === to || other !== undefined) continue;
        // A third side learns of a removal by that, and not where it refuses it.
        const isRemoved = version.removed.has(there) && (this.#servers.length > 2 || version.isLoose);
        if (isRemoved || version.expired.has(there) || version.lost.has(there)) continue;
        const { status, waiting = [], targets = {} } = one.state ?? { status: undefined };
        const has = targets[there.targetId]?.has === 'whole' && !waiting.includes(there.targetId);
        const says = status === 'COMPLETED' && (this.#servers.length === 2 || has);
        expect(says, `${this.#server(from).name} says that ${there.name} has ${nameOf(version)}`).toBe(false);
      }
    }
  }

  #checkLocks(version: Version, present: readonly Shown[], isPartial: boolean): void {
    const { until, holds, governs, removed } = version;
    const { now } = this.#clock;
    // At least the side that has set a lock keeps the version.
    if (until > now) expect(present.length, nameOf(version)).toBeGreaterThan(0);
    if (present.length === 0) return;
    const locks = present.map(({ attributes }) => attributes.lock);
    const mustHold = (what: string, holdsFor: (lock: (typeof locks)[number]) => boolean) =>
      expect(isPartial ? locks.some(holdsFor) : locks.every(holdsFor), `${what} of ${nameOf(version)}`).toBe(true);
    if (until > now) {
      mustHold('COMPLIANCE', ({ retention }) => retention?.mode === 'COMPLIANCE' && retention.until.getTime() >= until);
    }
    const last = Math.max(...governs.map(({ at }) => at));
    const latest = governs.filter(({ at }) => at === last).map((one) => one.until);
    const end = Math.min(...latest);
    // Who may bypass it may remove the version, too.
    if (until === 0 && removed.size === 0 && latest.length > 0 && end > now) {
      mustHold('GOVERNANCE', ({ retention }) => (retention?.until.getTime() ?? 0) >= end);
    }
    const on = holds.filter((one) => one.on).map(({ at }) => at);
    const isLifted = holds.some((one) => !one.on && one.at >= Math.max(...on));
    if (on.length > 0 && !isLifted) mustHold('the legal hold', ({ legalHold }) => legalHold);
  }
}

function nameOf({ key, versionId }: Pick<Version, 'key' | 'versionId'>): string {
  return `${key} ${versionId}`;
}

/** Reports whether a state names a target that has not got all of a version. */
function isWaiting(state: ReplicationState | undefined): boolean {
  if (state === undefined) return false;
  return (
    (state.waiting ?? []).length > 0 || Object.values(state.targets ?? {}).some(({ refused }) => refused !== undefined)
  );
}

async function listed({ calls: { layer } }: LinkedServer): Promise<Listing> {
  const { versions } = await layer.listObjectVersions({
    bucket,
    prefix: '',
    delimiter: '',
    keyMarker: '',
    limit: 1_000,
    replication: true,
  });
  return new Map(versions.map((version) => [nameOf(version), version]));
}

type Shown = NonNullable<Awaited<ReturnType<typeof shown>>>;

/** Returns what a server has of a version; undefined where it has none. */
async function shown({ calls: { layer } }: LinkedServer, { key, versionId }: Version, listing: Listing | undefined) {
  const found = listing?.get(nameOf({ key, versionId }));
  if (found === undefined) return undefined;
  const state = found.replication;
  if (found.deleteMarker) return { state, attributes: { lock: { legalHold: false, retention: undefined } } };
  const { tags, lock, etag, metadata } = await layer.headObject(bucket, key, { versionId });
  const held = { retention: lock?.retention, legalHold: lock?.legalHold === true };
  return { state, attributes: { etag, tags, metadata, lock: held } };
}
