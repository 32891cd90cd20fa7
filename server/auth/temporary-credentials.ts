import { randomBytes } from 'node:crypto';
import { sealedKey, sealedWithin, type SealedEntry, type SealedRecordStore } from '../encryption/sealed-records.ts';
import { newAccessKey, newSecretKey } from './identities/names.ts';
import { variableClaims } from './condition-keys.ts';
import { ownerOf, type FederatedSubject, type Subject } from './identities/subject.ts';
import { commitOnce } from '../store/commits.ts';
import { decodeKey } from '../store/keys.ts';
import type { Key } from '../store/record-store.ts';
import {
  readSessionToken,
  signSessionToken,
  decodeTemporaryCredentials,
  encodeTemporaryCredentials,
  temporaryCredentials,
  type TemporaryCredentials,
  type TemporaryCredentialsRecord,
} from './temporary-credentials-record.ts';

export interface NewTemporaryCredentials {
  readonly subject: Subject;
  /** The subject's name for MinIO clients. */
  readonly parentName: string;
  readonly roleArn?: string;
  /** JSON of a policy that the caller has validated. */
  readonly sessionPolicy?: string;
  /** The label by which credentials can be revoked together. */
  readonly revokeType?: string;
  readonly expiration: Date;
}

/** Temporary credentials, kept as sealed records. Every thread sees a revocation at once. */
export interface TemporaryCredentialsStore {
  create(request: NewTemporaryCredentials): Promise<TemporaryCredentials>;
  /** Resolves with undefined if there are none, they have expired, or the root password has changed since. */
  find(accessKey: string): Promise<TemporaryCredentials | undefined>;
  /** Reports whether this server issued the token for this access key and it has expired. */
  issuedButExpired(accessKey: string, sessionToken: string): Promise<boolean>;
  revoke(accessKey: string): Promise<void>;
  /** Revokes the credentials of an owner (`ownerOf`), or those with a label. Resolves with their number. */
  revokeAllOf(owner: string, revokeType?: string): Promise<number>;
  /** Lists the owner's credentials that have not expired. */
  ofOwner(owner: string): AsyncIterable<TemporaryCredentials>;
  /** Lists the owners of credentials, each once. */
  owners(): AsyncIterable<string>;
  /** Removes expired credentials and resolves with their number. The background thread calls it. */
  sweep(): Promise<number>;
}

interface TemporaryCredentialsOptions {
  readonly records: SealedRecordStore;
  /** Signs session tokens. */
  readonly tokenKey: Uint8Array;
  readonly clock: () => Date;
}

/** Parsed records in the cache; each takes some KiB. */
const cacheLimit = 5_000;

export function createTemporaryCredentials(options: TemporaryCredentialsOptions): TemporaryCredentialsStore {
  const { records, tokenKey, clock } = options;
  // Parsed records by revision. Each request reads the record; the cache saves only the parsing.
  const parsed = new Map<
    string,
    { readonly revision: number; readonly credentials: TemporaryCredentials | undefined }
  >();

  async function parse(entry: SealedEntry): Promise<TemporaryCredentials | undefined> {
    const credentials = decodeTemporaryCredentials(entry);
    const token = await readSessionToken(tokenKey, credentials.sessionToken, clock());
    return token.kind === 'issued' ? credentials : undefined;
  }

  async function read(accessKey: string): Promise<TemporaryCredentials | undefined> {
    const entry = await records.get(recordKey(accessKey));
    if (entry === undefined) {
      parsed.delete(accessKey);
      return undefined;
    }
    const known = parsed.get(accessKey);
    if (known?.revision === entry.revision) return known.credentials;
    const credentials = await parse(entry);
    for (const oldest of parsed.keys()) {
      if (parsed.size < cacheLimit) break;
      parsed.delete(oldest);
    }
    parsed.set(accessKey, { revision: entry.revision, credentials });
    return credentials;
  }

  async function accessKeysOf(owner: string): Promise<string[]> {
    const accessKeys: string[] = [];
    for await (const entry of records.scan(sealedWithin('sts-parent', owner))) {
      accessKeys.push(lastPart(entry.key).toString());
    }
    return accessKeys;
  }

  async function remove(accessKey: string): Promise<boolean> {
    const entry = await records.get(recordKey(accessKey));
    if (entry === undefined) return false;
    const { principal } = decodeTemporaryCredentials(entry);
    const keys = keysOf(accessKey, ownerOf(principal.subject), principal.expiration);
    await commitOnce(records, { delete: keys }, randomBytes);
    return true;
  }

  return {
    async create(request) {
      const accessKey = newAccessKey();
      const { subject, expiration, roleArn, sessionPolicy, revokeType } = request;
      const federated = subject.kind === 'federated' ? subject : undefined;
      const sessionToken = await signSessionToken(tokenKey, {
        accessKey,
        parent: request.parentName,
        policies: federated?.policies ?? [],
        claims: tokenClaims(federated),
        expiration,
        ...(roleArn === undefined ? {} : { roleArn }),
        ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
      });
      const record: TemporaryCredentialsRecord = {
        version: 2,
        accessKey,
        secretKey: newSecretKey(),
        sessionToken,
        subject,
        ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
        ...(revokeType === undefined ? {} : { revokeType }),
        createdAt: clock().getTime(),
        expiration: expiration.getTime(),
      };
      const owner = ownerOf(subject);
      const [main, ...indexes] = keysOf(accessKey, owner, expiration);
      const batch = {
        expect: [{ kind: 'absent' as const, key: main }],
        put: [
          { key: main, value: encodeTemporaryCredentials(record) },
          ...indexes.map((key) => ({ key, value: Buffer.from(owner) })),
        ],
      };
      const settled = await commitOnce(records, batch, randomBytes);
      if (settled.kind === 'conflict') throw new Error(`the random access key ${accessKey} exists already`);
      return temporaryCredentials(record);
    },

    async find(accessKey) {
      if (!accessKeyForm.test(accessKey)) return undefined;
      const credentials = await read(accessKey);
      return credentials !== undefined && credentials.principal.expiration > clock() ? credentials : undefined;
    },

    async issuedButExpired(accessKey, sessionToken) {
      const token = await readSessionToken(tokenKey, sessionToken, clock());
      return token.kind === 'issued' && token.expired && token.accessKey === accessKey;
    },

    async revoke(accessKey) {
      await remove(accessKey);
    },

    async revokeAllOf(owner, revokeType) {
      let removed = 0;
      for (const accessKey of await accessKeysOf(owner)) {
        if (revokeType !== undefined && (await read(accessKey))?.revokeType !== revokeType) continue;
        if (await remove(accessKey)) removed += 1;
      }
      return removed;
    },

    async *ofOwner(owner) {
      for (const accessKey of await accessKeysOf(owner)) {
        const credentials = await read(accessKey);
        if (credentials !== undefined && credentials.principal.expiration > clock()) yield credentials;
      }
    },

    async *owners() {
      let last: string | undefined;
      for await (const entry of records.scan(sealedWithin('sts-parent'))) {
        const owner = entry.value.toString();
        if (owner !== last) yield owner;
        last = owner;
      }
    },

    async sweep() {
      const { start } = sealedWithin('sts-expiry');
      const end = sealedKey('sts-expiry', time(clock()));
      let removed = 0;
      for (;;) {
        const page = await expiredKeys(records, { start, end, limit: 100 });
        if (page.length === 0) return removed;
        await commitOnce(records, { delete: page.flat() }, randomBytes);
        removed += page.length;
      }
    },
  };
}

const accessKeyForm = /^[0-9A-Z]{20}$/;

function recordKey(accessKey: string): Key {
  return sealedKey('sts', accessKey);
}

/** Returns the keys of the record and of its indexes by owner and by expiry. */
function keysOf(accessKey: string, owner: string, expiration: Date): [Key, Key, Key] {
  return [
    recordKey(accessKey),
    sealedKey('sts-parent', owner, accessKey),
    sealedKey('sts-expiry', time(expiration), accessKey),
  ];
}

/** Milliseconds as 8 bytes in big-endian order, which sort by time. */
function time(date: Date): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.max(0, date.getTime())));
  return bytes;
}

/** Returns the keys of expired credentials. The index has all that they need. */
async function expiredKeys(
  records: SealedRecordStore,
  range: { readonly start: Buffer; readonly end: Buffer; readonly limit: number },
): Promise<Key[][]> {
  const found: Key[][] = [];
  for await (const entry of records.scan(range)) {
    const accessKey = lastPart(entry.key).toString();
    found.push([recordKey(accessKey), sealedKey('sts-parent', entry.value, accessKey), entry.key]);
  }
  return found;
}

function lastPart(key: Key): Buffer {
  return decodeKey(key).at(-1) ?? Buffer.alloc(0);
}

/** Clients send the token with each request: it has the claims that many providers have. */
function tokenClaims(subject: FederatedSubject | undefined): Readonly<Record<string, unknown>> {
  if (subject === undefined) return {};
  return subject.source === 'ldap' ? subject.claims : variableClaims(subject.claims, { lists: true });
}
