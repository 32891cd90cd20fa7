import { SignJWT, errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import { variableClaims } from './claim-variables.ts';

/** What a session token says, for tools that look into it; the server itself believes only its records. */
export interface SessionTokenContent {
  readonly accessKey: string;
  readonly parent: string;
  readonly policies: readonly string[];
  /** Set for providers with a role policy. */
  readonly roleArn?: string;
  /** The session policy as it was given. */
  readonly sessionPolicy?: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiration: Date;
}

/** Clients send the token with every request, and headers are bounded. Bytes of JSON. */
const mostClaims = 4_096;

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html */
export function signSessionToken(key: Uint8Array, content: SessionTokenContent): Promise<string> {
  const { roleArn, sessionPolicy } = content;
  return new SignJWT({
    ...boundedClaims(content.claims),
    accessKey: content.accessKey,
    parent: content.parent,
    ...(roleArn === undefined ? { policy: content.policies.join(',') } : { roleArn }),
    ...(sessionPolicy === undefined ? {} : { sessionPolicy: Buffer.from(sessionPolicy).toString('base64') }),
    exp: Math.floor(content.expiration.getTime() / 1000),
  })
    .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
    .sign(key);
}

export type SessionTokenState =
  /** Issued by this store under its present root password. */
  { readonly kind: 'issued'; readonly accessKey: string; readonly expired: boolean } | { readonly kind: 'foreign' };

export async function readSessionToken(key: Uint8Array, token: string, now: Date): Promise<SessionTokenState> {
  try {
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS512'], currentDate: now });
    return issued(payload, false);
  } catch (error) {
    // jose checks the signature before the claims: an expired token was still issued here.
    return error instanceof errors.JWTExpired ? issued(error.payload, true) : { kind: 'foreign' };
  }
}

function issued(payload: JWTPayload, expired: boolean): SessionTokenState {
  const accessKey = payload['accessKey'];
  return typeof accessKey === 'string' ? { kind: 'issued', accessKey, expired } : { kind: 'foreign' };
}

function boundedClaims(claims: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.stringify(claims).length <= mostClaims ? claims : variableClaims(claims, { lists: false });
}
