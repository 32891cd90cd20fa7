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
