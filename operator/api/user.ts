import { z } from 'zod';
import { accessKeyName, credentialsSecret, deletionPolicy, tenantRef } from './fields.ts';
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
