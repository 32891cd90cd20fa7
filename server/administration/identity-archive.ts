import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { attachmentTarget, subjectSchema } from '../auth/identities/subject.ts';
import { invalidArchive, readZip, type ZipEntry } from './zip.ts';

/** The files of an identity archive: those of MinIO, and one of Coffer that MinIO ignores. */
export const archiveFiles = {
  policies: 'iam-assets/policies.json',
  users: 'iam-assets/users.json',
  groups: 'iam-assets/groups.json',
  serviceAccounts: 'iam-assets/svcaccts.json',
  userMappings: 'iam-assets/user_mappings.json',
  groupMappings: 'iam-assets/group_mappings.json',
  /** The policies of directory users, by DN. */
  directoryMappings: 'iam-assets/stsuser_mappings.json',
  /** Attachments to directory names and claims. */
  attachments: 'iam-assets/coffer_attachments.json',
} as const;

/** Names of users and access keys without their secret key, because the exporting caller had no right to it. Imports ignore the file. */
export const withheldFile = 'iam-assets/coffer_withheld.json';

/** Bytes of the uncompressed archive; a hundred thousand users take some 10 MiB. */
export const archiveLimits = { entries: 64, size: 64 * 1024 * 1024 } as const;

const status = z.enum(['on', 'off', 'enabled', 'disabled']);
const mapping = nameRecord(z.string(), z.object({ policy: z.string() }));

const archiveSchemas = {
  policies: nameRecord(z.string(), z.unknown()),
  users: nameRecord(z.string(), z.object({ secretKey: z.string().optional(), status: status.optional() })),
  groups: nameRecord(z.string(), z.object({ status: status.optional(), members: z.array(z.string()).nullish() })),
  serviceAccounts: nameRecord(
    z.string(),
    z.object({
      parent: z.string(),
      groups: z.array(z.string()).nullish(),
      claims: nameRecord(z.string(), z.unknown()).nullish(),
      secretKey: z.string().optional(),
      sessionPolicy: z.unknown().optional(),
      status: status.optional(),
      name: z.string().nullish(),
      description: z.string().nullish(),
      expiration: z.string().nullish(),
      /** Only in Coffer: the subject of an external owner. */
      cofferSubject: subjectSchema.optional(),
    }),
  ),
  userMappings: mapping,
  groupMappings: mapping,
  directoryMappings: mapping,
  attachments: z.array(z.object({ target: attachmentTarget, policies: z.array(z.string()) })),
} as const;

type ArchivePart = keyof typeof archiveFiles;

export type Archive = { readonly [Part in ArchivePart]?: z.infer<(typeof archiveSchemas)[Part]> };

/** Reads an archive; it rejects before any change if it is none. Unknown files are ignored. */
export async function readIdentityArchive(bytes: Buffer): Promise<Archive> {
  const entries = await readZip(bytes, archiveLimits);
  const found: Record<string, unknown> = {};
  for (const [part, name] of Object.entries(archiveFiles)) {
    const entry = entries.find((one) => one.name === name);
    // `Object.entries` loses the type of the keys.
    if (entry !== undefined) found[part] = checked(entry, archiveSchemas[part as keyof typeof archiveFiles]);
  }
  if (Object.keys(found).length === 0) {
    throw invalidArchive(`it holds none of the files of identities, such as ${archiveFiles.users}`);
  }
  return found;
}

function checked(entry: ZipEntry, schema: z.ZodType): unknown {
  let json: unknown;
  try {
    json = JSON.parse(entry.content.toString());
  } catch {
    // The parser's message may contain a secret.
    throw invalidArchive(`${entry.name} is no JSON`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalidArchive(`${entry.name} is not as expected: ${z.prettifyError(parsed.error)}`);
}

type Named = 'policies' | 'users' | 'groups' | 'serviceAccounts';
type Mapped = 'userPolicies' | 'groupPolicies' | 'stsPolicies';

/** Names, and for attachments their policies. */
type Entities = Partial<Record<Named, string[]>> & Partial<Record<Mapped, Record<string, readonly string[]>[]>>;

interface Failure {
  readonly name: string;
  readonly policies?: readonly string[];
  readonly reason: string;
}

/** The results of an import, in the format of MinIO's clients. */
export class ImportReport {
  readonly #added: Entities = {};
  readonly #skipped: Entities = {};
  readonly #failed: Partial<Record<Named | Mapped, Failure[]>> = {};
  readonly #reasons: string[] = [];

  added(kind: Named | Mapped, name: string, policies?: readonly string[]): void {
    note(this.#added, kind, name, policies);
  }

  /** An entry that refers to something missing. */
  skipped(kind: Named | Mapped, name: string, policies: readonly string[] | undefined, reason: Error): void {
    note(this.#skipped, kind, name, policies);
    this.#reasons.push(`${name}: ${reason.message}`);
  }

  /** A member of a group that is not a user here. Clients print the names of skipped users. */
  leftOut(group: string, member: string): void {
    const users = (this.#skipped.users ??= []);
    if (!users.includes(member)) users.push(member);
    this.#reasons.push(`${group}: ${JSON.stringify(member)} is no user here, and is left out of the group`);
  }

  failed(kind: Named | Mapped, name: string, policies: readonly string[] | undefined, { message }: Error): void {
    (this.#failed[kind] ??= []).push({ name, ...(policies === undefined ? {} : { policies }), reason: message });
    this.#reasons.push(`${name}: ${message}`);
  }

  /** The reasons of skipped and failed entries. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  toJSON(): object {
    return { skipped: this.#skipped, removed: {}, added: this.#added, failed: this.#failed, reasons: this.#reasons };
  }
}

function note(entities: Entities, kind: Named | Mapped, name: string, policies: readonly string[] = []): void {
  switch (kind) {
    case 'policies':
    case 'users':
    case 'groups':
    case 'serviceAccounts':
      (entities[kind] ??= []).push(name);
      return;
    case 'userPolicies':
    case 'groupPolicies':
    case 'stsPolicies':
      (entities[kind] ??= []).push({ [name]: policies });
      return;
    default:
      kind satisfies never;
  }
}
