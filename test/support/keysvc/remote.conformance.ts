import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyError, type KeyStore } from '../../../keysvc/keystores/keystore.ts';
import { keyStoreConformance } from './keystore.conformance.ts';
import { makeKey } from '../../../keysvc/keys/key.ts';
import { Keyring } from '../../../keysvc/keys/keyring.ts';
import { first, type DoubleRequest, type Fault, type HttpDouble, type VirtualClock } from './http-double.ts';
import type { RemoteOptions } from '../../../keysvc/keystores/remote/remote.ts';

const callNames = ['create', 'get', 'delete', 'list'] as const;
type CallName = (typeof callNames)[number];

/** The empty double of a vault, and stores that open it. */
interface RemoteHarness {
  readonly http: HttpDouble;
  readonly clock: VirtualClock;
  open(options?: RemoteOptions): KeyStore;
  /** Invalidates tokens and other credentials; absent where each request has its own proof. */
  revokeTokens?(): void | Promise<void>;
  /** Revokes a permission, by the vendor's name. */
  deny(permission: string): unknown;
  /** Makes the policy one for the secret of a key alone; absent where a test of its own does so. */
  allowOnly?(key: string): void;
  /** Deletes a key in a way that the administrator can revert, and recovers it; absent where the vault does not keep deleted keys. */
  readonly trash?: { delete(name: string): void | Promise<void>; recover(name: string): void | Promise<void> };
  close(): Promise<void>;
}

interface RemoteEngine {
  readonly name: string;
  start(): Promise<RemoteHarness>;
  /** Valid names. */
  readonly names?: readonly string[];
  /** Whether the request is for keys and not a login. */
  isForKeys(request: DoubleRequest): boolean;
  /** Whether the request writes a key. */
  isWrite(request: DoubleRequest): boolean;
  /** Texts that no error may contain. */
  readonly secrets: readonly string[];
  /** The permission of each call by the vendor's name, and the words of an error that names it. */
  readonly permissions: readonly (readonly [call: CallName, permission: string, words: string])[];
}

/** Attempts that only a test without answers lets time out. */
const patient = { attemptMs: 60_000 };
const record = Buffer.from('{"bytes":"record-of-a-key"}');

/** The contract of a remote key store: that of every key store, and the tests below. */
export function remoteKeyStoreConformance(engine: RemoteEngine): void {
  const started: RemoteHarness[] = [];
  const start = async () => {
    const harness = await engine.start();
    started.push(harness);
    return harness;
  };
  afterEach(async () => {
    for (const harness of started.splice(0)) await harness.close();
  });

  describe(`a key that the administrators of ${engine.name} deleted`, () => {
    const keyrings: Keyring[] = [];
    afterEach(async () => {
      for (const keyring of keyrings.splice(0)) await keyring.close();
    });
    const deleted = async () => {
      const harness = await start();
      const keyring = new Keyring(harness.open(patient), { any: 1, unused: 1, offline: 0 }, () => 0);
      keyrings.push(keyring);
      await keyring.create('my-key', makeKey(new Date(0)));
      await harness.trash?.delete('my-key');
      return { keyring, trash: harness.trash };
    };

    it('is removed for good, and its name can be used again', async () => {
      const { keyring, trash } = await deleted();
      if (trash !== undefined) {
        await expect(keyring.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
        await expect(keyring.create('my-key', makeKey(new Date(0)))).rejects.toMatchObject({ code: 'refused' });
      }
      await keyring.delete('my-key');
      await keyring.create('my-key', makeKey(new Date(0)));
      await keyring.get('my-key');
    });

    it('opens what it sealed once it is recovered', async () => {
      const { keyring, trash } = await deleted();
      await trash?.recover('my-key');
      await keyring.get('my-key');
      await expect(keyring.create('my-key', makeKey(new Date(0)))).rejects.toMatchObject({ code: 'exists' });
    });
  });

  keyStoreConformance(engine.name, async () => (await start()).open(patient), engine.names);

  describe(`the key store on ${engine.name}, when the network or the vault fails,`, () => {
    let harness: RemoteHarness;
    let store: KeyStore;
    const calls: Readonly<Record<CallName, () => Promise<unknown>>> = {
      create: () => store.create('new', record),
      get: () => store.get('kept'),
      delete: () => store.delete('kept'),
      list: () => Array.fromAsync(store.list()),
    };
    const forKeys = (count: number, fault: Fault) => first(count, fault, (request) => engine.isForKeys(request));

    beforeEach(async () => {
      harness = await start();
      store = harness.open(patient);
      await store.create('kept', record);
    });

    it.each([200, 204])('takes no page of a proxy with the status %i for a deletion', async (status) => {
      let answered = 0;
      harness.http.faultOf = (request) => {
        if (request.method !== 'DELETE') return undefined;
        answered += 1;
        return { status, ...(status === 200 && { body: 'Welcome' }) };
      };
      const outcome = await store.delete('kept').then(
        () => 'deleted',
        (error: unknown) => error,
      );
      harness.http.faultOf = () => undefined;
      // Some stores delete by another method.
      if (answered === 0) expect(outcome).toBe('deleted');
      else expect(outcome).toMatchObject({ name: 'KeyError', code: 'unavailable' });
    });

    it.each(callNames)('sits out throttling as long as it is asked to: %s', async (name) => {
      const { slept } = harness.clock;
      const throttled = forKeys(2, { status: 429, headers: { 'retry-after': '3' }, body: '{}' });
      const met: number[] = [];
      harness.http.faultOf = (request) => {
        const fault = throttled(request);
        if (fault !== undefined) met.push(slept.length);
        return fault;
      };
      await calls[name]();
      // The wait after each answer. Version 1 of Vault's engine has waits of its own, which may be as long.
      expect(met.map((count) => slept[count])).toEqual([3000, 3000]);
    });

    it('does not wait for longer than its caller would', async () => {
      harness.http.faultOf = forKeys(1, { status: 429, headers: { 'retry-after': '3600' }, body: '{}' });
      expect(await failureOf(() => store.get('kept'))).toMatchObject({ code: 'unavailable' });
      expect(harness.clock.slept).not.toContain(3_600_000);
    });

    it.each(callNames)('tries again after a failure of the moment: %s', async (name) => {
      harness.http.faultOf = forKeys(2, { status: 503, body: 'busy' });
      await calls[name]();
    });

    it.each(callNames)('tries again where the connection is cut: %s', async (name) => {
      harness.http.faultOf = forKeys(2, 'cut');
      await calls[name]();
    });

    it('calls a lasting failure one', async () => {
      harness.http.faultOf = forKeys(Infinity, { status: 503, body: 'down' });
      for (const call of ['get', 'create', 'list'] as const) {
        expect(await failureOf(calls[call])).toMatchObject({ code: 'unavailable' });
      }
      harness.http.faultOf = () => ({ status: 503, body: 'down' });
      await expect(store.probe()).rejects.toMatchObject({ code: 'unavailable' });
    });

    const page = '<html><body>not here</body></html>';
    it.each([
      ['a page', page],
      ['nothing', ''],
      ['JSON of another program', '{"statusCode":404,"message":"Resource not found"}'],
      ['an error of another program', '{"error":{"code":"ResourceNotFound","message":"no such resource"}}'],
      ['a list of errors of another program', '{"errors":["no handler for route"]}'],
    ])('takes no 404 that is not its own for a missing key: %s', async (_, body) => {
      for (const status of [404, 410]) {
        harness.http.faultOf = forKeys(Infinity, { status, body });
        for (const name of callNames) expect(await failureOf(calls[name])).toMatchObject({ code: 'unavailable' });
      }
      harness.http.faultOf = () => undefined;
      expect(await store.get('kept')).toEqual(record);
    });

    it.each([302, 307, 400, 401, 403, 405, 407, 413, 418, 421, 425, 451, 501, 520])(
      'takes the status %s in no words of its own for an outage',
      async (status) => {
        harness.http.faultOf = forKeys(Infinity, { status, body: page });
        for (const name of callNames) expect(await failureOf(calls[name])).toMatchObject({ code: 'unavailable' });
        harness.http.faultOf = () => undefined;
        expect(await store.get('kept')).toEqual(record);
      },
    );

    it('gives up on a vault that takes connections and never answers', async () => {
      harness.http.faultOf = () => 'silence';
      store = harness.open({ attemptMs: 100, budgetMs: 200 });
      expect(await failureOf(() => store.get('kept'))).toMatchObject({ code: 'unreachable' });
      await expect(store.probe()).rejects.toMatchObject({ code: 'unreachable' });
    });

    it('gives up on a vault that is not there', async () => {
      await harness.http.close();
      const error = await failureOf(() => store.get('kept'));
      expect(error.code).toBe('unreachable');
      expect(error.message).toContain('ECONNREFUSED');
    });

    it('has created a key whose creation was carried out, though the answer was lost', async () => {
      harness.http.faultOf = first(1, 'lost-answer', (request) => engine.isWrite(request));
      await store.create('new', record);
      expect(await store.get('new')).toEqual(record);
    });

    it('has not created a key that another creator made while its answer was lost', async () => {
      const other = harness.open(patient);
      await other.create('new', Buffer.from('other'));
      harness.http.faultOf = first(1, 'lost-answer', (request) => engine.isWrite(request));
      expect(await failureOf(() => store.create('new', record))).toMatchObject({ code: 'exists' });
      expect((await store.get('new')).toString()).toBe('other');
    });

    it('never acknowledges a key that does not read back', async () => {
      let written = false;
      harness.http.faultOf = (request) => {
        if (engine.isWrite(request)) written = true;
        else if (written && engine.isForKeys(request)) return { status: 503, body: 'down' };
        return undefined;
      };
      expect(await failureOf(() => store.create('new', record))).toMatchObject({ code: 'unavailable' });
    });

    it('lets one of many creators at several servers win, with throttling and lost answers between', async () => {
      let count = 0;
      harness.http.faultOf = (request) => {
        if (!engine.isForKeys(request)) return undefined;
        const turn = count++ % 7;
        if (turn === 2) return { status: 429, headers: { 'retry-after': '1' }, body: '{}' };
        return turn === 5 ? 'lost-answer' : undefined;
      };
      const servers = Array.from({ length: 4 }, () => harness.open({ ...patient, budgetMs: 600_000 }));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) => (servers[i % 4] ?? store).create('new', Buffer.from(`record ${i}`))),
      );
      const winners = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`record ${i}`] : []));
      const seen = await Promise.all(servers.map(async (server) => (await server.get('new')).toString()));
      expect(winners).toHaveLength(1);
      expect(new Set(seen)).toEqual(new Set(winners));
    });

    it('logs in again when its token is taken no more', async () => {
      await harness.revokeTokens?.();
      expect(await store.get('kept')).toEqual(record);
    });

    it.each(engine.permissions)('names what is lacking: %s needs %s', async (call, permission, words) => {
      await harness.deny(permission);
      const error = await failureOf(calls[call]);
      expect(error.code).toBe('refused');
      expect(error.message).toContain(words);
      if (call !== 'list') expect(error.message).toContain(call === 'create' ? '"new"' : '"kept"');
      expect(error.message).toContain(new URL(harness.http.url).host);
    });

    it('serves a key by a policy for its secret alone, and asks for a later version once', async () => {
      if (harness.allowOnly === undefined) return;
      let now = 0;
      const keyring = new Keyring(store, { any: 1, unused: 1, offline: 0 }, () => now);
      const askedForLater = () =>
        harness.http.requests.filter(({ url, body }) => `${url.pathname} ${body}`.includes('alone--2')).length;
      await keyring.create('alone', makeKey(new Date(0)));
      harness.allowOnly('alone');
      await keyring.get('alone');
      const once = askedForLater();
      now += 10;
      await keyring.get('alone');
      expect(askedForLater()).toBe(once);
      // A ciphertext may name a later version.
      await keyring.reread('alone');
      expect(askedForLater()).toBeGreaterThan(once);
      await keyring.close();
    });

    it('names no secret in an error', async () => {
      const errors = [];
      for (const fault of [
        { status: 500, body: 'down' },
        { status: 200, body: 'nonsense' },
        { status: 200, body: '{}' },
      ]) {
        harness.http.faultOf = () => fault;
        for (const call of Object.values(calls)) errors.push(await call().catch((error: unknown) => error));
        // Also for a store that has not logged in.
        errors.push(
          await harness
            .open(patient)
            .get('kept')
            .catch((error: unknown) => error),
        );
      }
      const told = inspect(errors, { depth: 10 });
      for (const secret of [...engine.secrets, 'record-of-a-key']) expect(told).not.toContain(secret);
    });
  });
}

async function failureOf(call: () => Promise<unknown>): Promise<KeyError> {
  const outcome = await call().catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(KeyError);
  return outcome as KeyError;
}
