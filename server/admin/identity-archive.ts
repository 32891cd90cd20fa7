import { z } from 'zod';
import { attachmentTarget } from '../identities/attachment-target.ts';
import { subjectSchema } from '../identities/subject.ts';

/** The files of an archive of identities: MinIO's, by name and shape, and one of our own that MinIO leaves alone. */
export const archiveFiles = {
  policies: 'iam-assets/policies.json',
  users: 'iam-assets/users.json',
  groups: 'iam-assets/groups.json',
  serviceAccounts: 'iam-assets/svcaccts.json',
  userMappings: 'iam-assets/user_mappings.json',
  groupMappings: 'iam-assets/group_mappings.json',
  /** Of people whom a directory knows, by distinguished name. */
  directoryMappings: 'iam-assets/stsuser_mappings.json',
  /** What is attached to names of directories and to claims. */
  attachments: 'iam-assets/coffer_attachments.json',
} as const;

/** Names whose secret keys the caller of the export could not know. It is there only where there are any; an import leaves it alone. */
export const withheldFile = 'iam-assets/coffer_withheld.json';

/** Bytes unpacked; a hundred thousand users are some 10 MiB. */
export const archiveLimits = { entries: 64, size: 64 * 1024 * 1024 } as const;

const status = z.enum(['on', 'off', 'enabled', 'disabled']);
const mapping = z.record(z.string(), z.object({ policy: z.string() }));

export const archiveSchemas = {
  policies: z.record(z.string(), z.unknown()),
  users: z.record(z.string(), z.object({ secretKey: z.string().optional(), status: status.optional() })),
  groups: z.record(z.string(), z.object({ status: status.optional(), members: z.array(z.string()).nullish() })),
  serviceAccounts: z.record(
    z.string(),
    z.object({
      parent: z.string(),
      groups: z.array(z.string()).nullish(),
      claims: z.record(z.string(), z.unknown()).nullish(),
      secretKey: z.string().optional(),
      sessionPolicy: z.unknown().optional(),
      status: status.optional(),
      name: z.string().nullish(),
      description: z.string().nullish(),
      expiration: z.string().nullish(),
      /** Ours alone: what the provider said of a federated owner. */
      cofferSubject: subjectSchema.optional(),
    }),
  ),
  userMappings: mapping,
  groupMappings: mapping,
  directoryMappings: mapping,
  attachments: z.array(z.object({ target: attachmentTarget, policies: z.array(z.string()) })),
} as const;

export type ArchivePart = keyof typeof archiveFiles;

export type Archive = { readonly [Part in ArchivePart]?: z.infer<(typeof archiveSchemas)[Part]> };
