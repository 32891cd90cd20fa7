import { z } from 'zod';
import { accessKeyName, credentialsSecret, deletionPolicy, tenantRef, dateTime, policyDocument } from './fields.ts';
import type { Rules } from './rule.ts';

/** A user of a tenant, with the Secret that holds their keys. */
export const userSpec = z.strictObject({
  tenantRef: tenantRef.describe('Where the user is.'),
  accessKey: accessKeyName
    .optional()
    .describe('Access key, which is the name of the user; that of this resource without it.'),
  disabled: z.boolean().default(false).describe('Whether the keys of the user, and those made by them, rest.'),
  groups: z
    .array(z.string().min(1).max(128))
    .max(64)
    .optional()
    .describe('The groups of the user, exactly; left as they are without it. One that does not exist is made.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  credentialsSecret: credentialsSecret.optional(),
  deletionPolicy: deletionPolicy('Delete').describe(
    'What becomes of the user, with their access keys, when this resource is deleted.',
  ),
});
export type UserSpec = z.output<typeof userSpec>;

export const userRules: Rules<UserSpec> = {
  always: [],
  onChange: [
    {
      field: 'spec.accessKey',
      message: 'accessKey may not change: a user cannot be renamed',
      cel: 'has(self.accessKey) == has(oldSelf.accessKey) && (!has(self.accessKey) || self.accessKey == oldSelf.accessKey)',
      holds: (spec, old) => spec.accessKey === old.accessKey,
    },
    {
      field: 'spec.tenantRef',
      message: 'tenantRef may not change: the user would stay behind',
      cel: 'self.tenantRef.name == oldSelf.tenantRef.name',
      holds: (spec, old) => spec.tenantRef.name === old.tenantRef.name,
    },
  ],
};

/** An access key for a program. It has the rights of its user, limited by its own policy. */
export const accessKeySpec = z.strictObject({
  tenantRef: tenantRef.describe('Where the key is good.'),
  user: accessKeyName.optional().describe('The user who owns it, by access key; the root user without it.'),
  accessKey: accessKeyName.optional().describe('The access key; the name of this resource without it.'),
  policy: policyDocument
    .optional()
    .describe('Policy document that narrows what the owner may do; needed where the root user owns it.'),
  description: z.string().max(256).optional(),
  expiration: dateTime.optional().describe('When it ends, such as 2030-01-31T00:00:00Z; never without it.'),
  disabled: z.boolean().default(false).describe('Whether the key rests.'),
  credentialsSecret: credentialsSecret.optional(),
  deletionPolicy: deletionPolicy('Delete').describe('What becomes of the key when this resource is deleted.'),
});
export type AccessKeySpec = z.output<typeof accessKeySpec>;

export const accessKeyRules: Rules<AccessKeySpec> = {
  always: [
    {
      field: 'spec.policy',
      message: 'a key of the root user needs a policy that narrows it: set user, or policy',
      cel: 'has(self.user) || has(self.policy)',
      holds: ({ user, policy }) => user !== undefined || policy !== undefined,
    },
  ],
  onChange: [
    {
      field: 'spec.user',
      message: 'user may not change: a key stays with its owner',
      cel: 'has(self.user) == has(oldSelf.user) && (!has(self.user) || self.user == oldSelf.user)',
      holds: (spec, old) => spec.user === old.user,
    },
    {
      field: 'spec.accessKey',
      message: 'accessKey may not change: a key cannot be renamed',
      cel: 'has(self.accessKey) == has(oldSelf.accessKey) && (!has(self.accessKey) || self.accessKey == oldSelf.accessKey)',
      holds: (spec, old) => spec.accessKey === old.accessKey,
    },
    {
      field: 'spec.tenantRef',
      message: 'tenantRef may not change: the key would stay behind',
      cel: 'self.tenantRef.name == oldSelf.tenantRef.name',
      holds: (spec, old) => spec.tenantRef.name === old.tenantRef.name,
    },
  ],
};
