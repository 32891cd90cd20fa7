import { missingPermissions } from '../../protocol/key-service/policy.ts';
import type { DescribeSelfAnswer } from '../../protocol/key-service/payloads.ts';
import {
  contextBytes,
  contextText,
  type DataKey,
  type EncryptionContext,
  type KeySource,
  type SealedDataKey,
} from './key-source.ts';
import type { KeyCalls, KeyProof } from './key-proof.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';

/** The calls of the key-service client that this file uses. Contexts are bytes; errors have a `code` of the protocol. */
export interface KeyServiceCalls {
  generateKey(
    name: string,
    context: Buffer,
  ): Promise<{ readonly plaintext: Buffer; readonly ciphertext: Buffer; readonly version?: string | undefined }>;
  decryptKey(name: string, ciphertext: Buffer, context: Buffer): Promise<Buffer>;
  /** Returns the identity of this server at the service. Called after a refusal, to name the permissions that the policy lacks. */
  describeSelf?(): Promise<DescribeSelfAnswer>;
}

interface KeyServiceKeysOptions {
  /** Calls for `check`, without retries while the service is unavailable. `client` by default. */
  readonly once?: KeyServiceCalls;
  readonly defaultKey: string;
  /** Proves each new data key before it seals. Without it, as in a tool that seals nothing, every key is taken. */
  readonly proof?: KeyProof;
  /** A clock in milliseconds. The default is monotonic: if a clock were set back, a disabled key would stay in the cache. */
  readonly clock?: () => number;
}

/**
 * The limits of a data key in the cache: a disabled key stops working within the lifetime, and a leaked data key opens at most `uses`
 * objects. See docs/decisions/0002-encryption.md.
 */
export const dataKeyLimits = { lifetimeMs: 5 * 60_000, uses: 1000, entries: 1000 } as const;
export const unsealedKeyLimits = { lifetimeMs: 5 * 60_000, uses: Infinity, entries: 10_000 } as const;

const monotonic = () => performance.now();

/** Data keys of the key service, cached by key name and context. Failures become `KeyServiceError`s. */
export function keyServiceKeys(client: KeyServiceCalls, options: KeyServiceKeysOptions): KeySource {
  const clock = options.clock ?? monotonic;
  const generated = new ExpiringCache<DataKey>(dataKeyLimits, clock);
  const unsealed = new ExpiringCache<Buffer>(unsealedKeyLimits, clock);

  async function ask<T>(keyName: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const failure = dataKeyError(keyName, error);
      // The service refuses the name as no name of a key, which says nothing about keys in use.
      if (codeOf(error) === 'invalid-request') throw failure;
      // The key is disabled, deleted or forbidden, so its cached data keys must go too.
      if (failure.code === 'not-permitted' || failure.code === 'key-not-found') {
        generated.dropGroup(keyName);
        unsealed.dropGroup(keyName);
      }
      throw failure;
    }
  }

  async function generateNow(keyName: string, context: Buffer, calls = client): Promise<DataKey> {
    const { plaintext, ciphertext, version } = await ask(keyName, () => calls.generateKey(keyName, context));
    return {
      plaintext: dataKeyBytes(keyName, plaintext),
      sealed: { keyName, keyVersion: version, ciphertext: ciphertext.toString('base64') },
    };
  }

  async function unsealNow(sealed: SealedDataKey, context: Buffer, calls = client): Promise<Buffer> {
    const plaintext = await ask(sealed.keyName, () =>
      calls.decryptKey(sealed.keyName, Buffer.from(sealed.ciphertext, 'base64'), context),
    );
    return dataKeyBytes(sealed.keyName, plaintext);
  }

  const fresh: KeyCalls = {
    generate: (keyName, context) => generateNow(keyName, contextBytes(context)),
    open: (sealed, context) => unsealNow(sealed, contextBytes(context)),
  };
  const { proof } = options;

  async function generateProven(keyName: string, context: Buffer): Promise<DataKey> {
    const dataKey = await generateNow(keyName, context);
    await proof?.admit(dataKey.sealed, fresh);
    return dataKey;
  }

  /** A data key that is not authentic was changed, unless the key itself is another one: that is the reason to report. */
  async function unsealProven(sealed: SealedDataKey, context: Buffer): Promise<Buffer> {
    try {
      return await unsealNow(sealed, context);
    } catch (error) {
      if (error instanceof KeyServiceError && error.code === 'not-authentic') await proof?.prove(sealed.keyName, fresh);
      throw error;
    }
  }

  /** Generates a data key under the default key and opens it again. */
  async function roundTrip(calls: KeyServiceCalls): Promise<void> {
    const context = contextBytes({ 'coffer:check': options.defaultKey });
    const { plaintext, sealed } = await generateNow(options.defaultKey, context, calls);
    const again = await unsealNow(sealed, context, calls);
    if (!timingSafeEqual(plaintext, again)) {
      throw new KeyServiceError(
        'unavailable',
        `the key service opened a data key of ${options.defaultKey} differently`,
      );
    }
  }

  return {
    defaultKey: options.defaultKey,

    async generate(keyName, context, { once = false, probe = false } = {}): Promise<DataKey> {
      const text = contextText(context);
      if (probe) return generateNow(keyName, Buffer.from(text));
      if (once) return generateProven(keyName, Buffer.from(text));
      return generated.get(`${keyName} ${text}`, keyName, async () => {
        const dataKey = await generateProven(keyName, Buffer.from(text));
        // New objects can be read without a call of the key service, also while it is unavailable.
        void unsealed.get(nameOf(dataKey.sealed, text), keyName, () => Promise.resolve(dataKey.plaintext));
        return dataKey;
      });
    },

    unseal(sealed: SealedDataKey, context: EncryptionContext): Buffer | Promise<Buffer> {
      const text = contextText(context);
      return unsealed.get(nameOf(sealed, text), sealed.keyName, () => unsealProven(sealed, Buffer.from(text)));
    },

    async checkKey(keyName: string): Promise<void> {
      await generateNow(keyName, contextBytes({ 'coffer:check': keyName }));
    },

    async check(): Promise<void> {
      const calls = options.once ?? client;
      const once: KeyCalls = {
        generate: (keyName, context) => generateNow(keyName, contextBytes(context), calls),
        open: (sealed, context) => unsealNow(sealed, contextBytes(context), calls),
      };
      try {
        await roundTrip(calls);
        await proof?.prove(options.defaultKey, once);
      } catch (error) {
        throw missingDefaultKey(error, options.defaultKey) ?? (await namingWhatLacks(error, calls, options.defaultKey));
      }
    },

    async proveKey(keyName: string): Promise<void> {
      await proof?.prove(keyName, fresh);
    },

    async adoptKey(keyName: string): Promise<void> {
      await proof?.adopt(keyName, fresh);
    },
  };
}

/** Returns undefined if the service does not answer. */
async function whoAmI(calls: KeyServiceCalls): Promise<DescribeSelfAnswer | undefined> {
  try {
    return await calls.describeSelf?.();
  } catch {
    return undefined;
  }
}

/**
 * Explains a missing default key. The server never creates it: sealing cannot be undone, so a typing error in the name would bind all
 * data to a key that the administrators do not know.
 */
function missingDefaultKey(failure: unknown, name: string): KeyServiceError | undefined {
  if (!(failure instanceof KeyServiceError) || failure.code !== 'key-not-found') return undefined;
  return explained(
    failure,
    failure.code,
    `the default key "${name}" does not exist at the key service: correct SVC_KMS_KEYSVC_KEY_NAME, or make the key ` +
      `("keysvc key create ${name}", or list it under "keys" in the configuration of the key service)`,
    failure.cause,
  );
}

/** Adds every permission that the policy lacks to a refusal, if the service reports them. Otherwise each restart would name only one. */
async function namingWhatLacks(failure: unknown, calls: KeyServiceCalls, defaultKey: string): Promise<unknown> {
  if (!(failure instanceof KeyServiceError) || failure.code !== 'not-permitted') return failure;
  const self = await whoAmI(calls);
  const lacking = self === undefined ? [] : missingPermissions(self, defaultKey);
  if (self === undefined || lacking.length === 0) return failure;
  const paths = lacking.join(', ');
  const what =
    self.policy_name === undefined
      ? `no policy of the key service is for this server (identity ${self.identity}); one must allow ${paths}`
      : `its policy "${self.policy_name}" for this server (identity ${self.identity}) does not allow ${paths}`;
  return explained(failure, failure.code, `${failure.message}; ${what}`, failure.cause);
}

function nameOf({ keyName, ciphertext }: SealedDataKey, context: string): string {
  return `${keyName} ${ciphertext} ${context}`;
}

function dataKeyBytes(keyName: string, plaintext: Buffer): Buffer {
  if (plaintext.length === 32) return plaintext;
  throw new KeyServiceError(
    'unavailable',
    `the key service gave a data key of ${plaintext.length} bytes for ${keyName}`,
    { status: 200 },
  );
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Explains a failure. The log shows the messages of all causes: where `failure` is an explanation itself, its cause is given instead of it. */
function explained(failure: unknown, code: KeyServiceError['code'], message: string, cause = failure): KeyServiceError {
  const { status, noAnswer, isOfStore, retryAfterMs } = failure instanceof KeyServiceError ? failure : {};
  return new KeyServiceError(code, message, { cause, status, noAnswer, isOfStore, retryAfterMs });
}

function dataKeyError(keyName: string, error: unknown): KeyServiceError {
  const reason = error instanceof Error ? error.message : String(error);
  switch (codeOf(error)) {
    case 'key-not-found':
      return explained(error, 'key-not-found', `the key ${keyName} does not exist at the key service`);
    case 'not-authentic':
      return explained(error, 'not-authentic', `a data key of ${keyName} is not authentic: ${reason}`);
    case 'not-permitted':
      return explained(error, 'not-permitted', `the key service does not allow using ${keyName}: ${reason}`);
    case 'invalid-request':
      // The name is not valid for a key.
      return explained(error, 'key-not-found', `the key service refuses the key ${keyName}: ${reason}`);
    case undefined:
    default:
      return explained(error, 'unavailable', `the key service cannot use ${keyName} now: ${reason}`);
  }
}
