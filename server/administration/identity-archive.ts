import { z } from 'zod';
import { attachmentTarget, subjectSchema } from '../auth/identities/subject.ts';
import { AdminError } from './admin-error.ts';
import { readZip, ZipError, type ZipEntry } from './zip.ts';

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

const archiveSchemas = {
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

type ArchivePart = keyof typeof archiveFiles;

export type Archive = { readonly [Part in ArchivePart]?: z.infer<(typeof archiveSchemas)[Part]> };

/** Rejects what is no archive of identities before anything is changed. Files that it does not know it leaves alone. */
export function readIdentityArchive(bytes: Buffer): Archive {
  const entries = unpacked(bytes);
  const found: Record<string, unknown> = {};
  for (const [part, name] of Object.entries(archiveFiles)) {
    const entry = entries.find((one) => one.name === name);
    // The parts and their schemas have the same names, which `Object.entries` forgets.
    if (entry !== undefined) found[part] = checked(entry, archiveSchemas[part as keyof typeof archiveFiles]);
  }
  if (Object.keys(found).length === 0) {
    throw refused(`it holds none of the files of identities, such as ${archiveFiles.users}`);
  }
  return found;
}

function unpacked(bytes: Buffer): ZipEntry[] {
  try {
    return readZip(bytes, archiveLimits);
  } catch (error) {
    if (error instanceof ZipError) throw refused(error.message, error);
    throw error;
  }
}

function checked(entry: ZipEntry, schema: z.ZodType): unknown {
  let json: unknown;
  try {
    json = JSON.parse(entry.content.toString());
  } catch {
    // What the parser says may repeat a secret.
    throw refused(`${entry.name} is no JSON`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw refused(`${entry.name} is not as expected: ${z.prettifyError(parsed.error)}`);
}

function refused(why: string, cause?: unknown): AdminError {
  return new AdminError('XCofferInvalidRequest', `The archive cannot be imported: ${why}.`, { cause });
}

type Named = 'policies' | 'users' | 'groups' | 'serviceAccounts';
type Mapped = 'userPolicies' | 'groupPolicies' | 'stsPolicies';

/** Names, and for attachments what each is to have. */
type Entities = Partial<Record<Named, string[]>> & Partial<Record<Mapped, Record<string, readonly string[]>[]>>;

interface Failure {
  readonly name: string;
  readonly policies?: readonly string[];
  readonly reason: string;
}

/** What became of each entry of an archive, in the form that MinIO's clients print. */
export class ImportReport {
  readonly #added: Entities = {};
  readonly #skipped: Entities = {};
  readonly #failed: Partial<Record<Named | Mapped, Failure[]>> = {};
  readonly #reasons: string[] = [];

  added(kind: Named | Mapped, name: string, policies?: readonly string[]): void {
    note(this.#added, kind, name, policies);
  }

  /** Something that it needs is not there. */
  skipped(kind: Named | Mapped, name: string, policies: readonly string[] | undefined, reason: Error): void {
    note(this.#skipped, kind, name, policies);
    this.#reasons.push(`${name}: ${reason.message}`);
  }

  failed(kind: Named | Mapped, name: string, policies: readonly string[] | undefined, { message }: Error): void {
    (this.#failed[kind] ??= []).push({ name, ...(policies === undefined ? {} : { policies }), reason: message });
    this.#reasons.push(`${name}: ${message}`);
  }

  /** Why not everything could be taken. */
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
