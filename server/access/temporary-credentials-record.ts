import { z } from 'zod';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import type { StoredCredentials, TemporaryPrincipal } from './principal.ts';

const schema = z.object({
  version: z.literal(1),
  accessKey: z.string(),
  secretKey: z.string(),
  sessionToken: z.string(),
  parent: z.string(),
  provider: z.string(),
  displayName: z.string(),
  policies: z.array(z.string()),
  /** As it was given: its meaning is that of the parser, not of an old record. */
  sessionPolicy: z.string().optional(),
  claims: z.record(z.string(), z.unknown()),
  /** Milliseconds since 1970. */
  expiration: z.number(),
});

export type TemporaryCredentialsRecord = z.infer<typeof schema>;

export type TemporaryCredentials = StoredCredentials & {
  readonly sessionToken: string;
  readonly principal: TemporaryPrincipal;
};

export function encodeTemporaryCredentials(record: TemporaryCredentialsRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/** Throws when the value is none that this release wrote: access then fails, it is never guessed. */
export function decodeTemporaryCredentials(value: Buffer): TemporaryCredentials {
  return temporaryCredentials(schema.parse(JSON.parse(value.toString())));
}

export function temporaryCredentials(record: TemporaryCredentialsRecord): TemporaryCredentials {
  const sessionPolicy: PolicyDocument | undefined =
    record.sessionPolicy === undefined ? undefined : parsePolicyDocument(record.sessionPolicy);
  return {
    accessKey: record.accessKey,
    secretKey: record.secretKey,
    sessionToken: record.sessionToken,
    principal: {
      kind: 'temporary',
      accessKey: record.accessKey,
      parent: record.parent,
      provider: record.provider,
      displayName: record.displayName,
      policies: record.policies,
      ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
      claims: record.claims,
      expiration: new Date(record.expiration),
    },
  };
}
