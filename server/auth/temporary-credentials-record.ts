import { readSealedJson } from '../encryption/sealed-json.ts';
import type { SealedEntry } from '../encryption/sealed-records.ts';
import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { subjectSchema } from './identities/subject.ts';
import type { StoredCredentials, TemporaryPrincipal } from './principal.ts';
import { SignJWT, errors, jwtVerify, type JWTPayload } from 'jose';
import { variableClaims } from './condition-keys.ts';

/** Milliseconds since 1970. */
const expiration = z.number();

/** The format of the previous release, which had OpenID users only. */
const first = z.object({
  version: z.literal(1),
  accessKey: z.string(),
  secretKey: z.string(),
  sessionToken: z.string(),
  parent: z.string(),
  provider: z.string(),
  displayName: z.string(),
  policies: z.array(z.string()),
  sessionPolicy: z.string().optional(),
  claims: nameRecord(z.string(), z.unknown()),
  expiration,
});

const second = z.object({
  version: z.literal(2),
  accessKey: z.string(),
  secretKey: z.string(),
  sessionToken: z.string(),
  subject: subjectSchema,
  /** JSON as the client sent it. Each release parses it anew. */
  sessionPolicy: z.string().optional(),
  /** The label by which credentials can be revoked together. */
  revokeType: z.string().optional(),
  createdAt: z.number(),
  expiration,
});

export type TemporaryCredentialsRecord = z.infer<typeof second>;

export type TemporaryCredentials = StoredCredentials & {
  readonly sessionToken: string;
  readonly principal: TemporaryPrincipal;
  readonly revokeType?: string;
};

export function encodeTemporaryCredentials(record: TemporaryCredentialsRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

const anyVersion = z.discriminatedUnion('version', [first, second]);

/** Throws if no release has written this value. Access then fails closed. */
export function decodeTemporaryCredentials(entry: Pick<SealedEntry, 'key' | 'value'>): TemporaryCredentials {
  const record = readSealedJson(anyVersion, entry);
  return temporaryCredentials(record.version === 1 ? fromFirst(record) : record);
}

function fromFirst(record: z.infer<typeof first>): TemporaryCredentialsRecord {
  const { parent, provider, displayName, policies, claims, ...rest } = record;
  const subject = { kind: 'federated' as const, source: 'openid' as const, provider, parent, displayName };
  return { ...rest, version: 2, createdAt: 0, subject: { ...subject, policies, targets: [], claims } };
}

export function temporaryCredentials(record: TemporaryCredentialsRecord): TemporaryCredentials {
  const sessionPolicy: PolicyDocument | undefined =
    record.sessionPolicy === undefined ? undefined : parsePolicyDocument(record.sessionPolicy);
  return {
    accessKey: record.accessKey,
    secretKey: record.secretKey,
    sessionToken: record.sessionToken,
    ...(record.revokeType === undefined ? {} : { revokeType: record.revokeType }),
    principal: {
      kind: 'temporary',
      accessKey: record.accessKey,
      subject: record.subject,
      ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
      expiration: new Date(record.expiration),
    },
  };
}

/** The content of a session token, for tools that read it. The server trusts its records only. */
interface SessionTokenContent {
  readonly accessKey: string;
  readonly parent: string;
  readonly policies: readonly string[];
  /** Present for a provider with a role policy. */
  readonly roleArn?: string;
  /** The session policy as the client sent it. */
  readonly sessionPolicy?: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiration: Date;
}

/** Bytes of the claims as JSON, and of the names of the policies. Clients send the token with every request, and headers have a maximum size. */
const maxPartBytes = 4_096;

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html */
export function signSessionToken(key: Uint8Array, content: SessionTokenContent): Promise<string> {
  const { roleArn, sessionPolicy } = content;
  return new SignJWT({
    ...boundedClaims(content.claims),
    accessKey: content.accessKey,
    parent: content.parent,
    ...(roleArn === undefined ? { policy: boundedNames(content.policies) } : { roleArn }),
    ...(sessionPolicy === undefined ? {} : { sessionPolicy: Buffer.from(sessionPolicy).toString('base64') }),
    exp: Math.floor(content.expiration.getTime() / 1000),
  })
    .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
    .sign(key);
}

type SessionTokenState =
  /** This store issued the token under the present root password. */
  { readonly kind: 'issued'; readonly accessKey: string; readonly expired: boolean } | { readonly kind: 'foreign' };

export async function readSessionToken(key: Uint8Array, token: string, now: Date): Promise<SessionTokenState> {
  try {
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS512'], currentDate: now });
    return issued(payload, false);
  } catch (error) {
    // jose checks the signature before the claims, so this server issued the expired token.
    return error instanceof errors.JWTExpired ? issued(error.payload, true) : { kind: 'foreign' };
  }
}

function issued(payload: JWTPayload, expired: boolean): SessionTokenState {
  const accessKey = payload['accessKey'];
  return typeof accessKey === 'string' ? { kind: 'issued', accessKey, expired } : { kind: 'foreign' };
}

/** Joins the first names that fit. */
function boundedNames(names: readonly string[]): string {
  let bytes = 0;
  const tooMany = names.findIndex((name) => (bytes += Buffer.byteLength(name) + 1) > maxPartBytes);
  return names.slice(0, tooMany < 0 ? undefined : tooMany).join(',');
}

/** Returns all claims or, where they are too long, the usual ones that are texts and fit. */
function boundedClaims(claims: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (Buffer.byteLength(JSON.stringify(claims)) <= maxPartBytes) return claims;
  let bytes = 0;
  const fitting = Object.entries(variableClaims(claims, { lists: false })).filter(([name, value]) => {
    const added = Buffer.byteLength(JSON.stringify({ [name]: value }));
    if (bytes + added > maxPartBytes) return false;
    bytes += added;
    return true;
  });
  return Object.fromEntries(fitting);
}
