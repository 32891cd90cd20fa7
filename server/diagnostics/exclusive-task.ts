import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commits.ts';
import { decodeKey, key, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { adminError } from '../administration/admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** A task that runs once at a time among all servers. Times are milliseconds since 1970. */
interface ExclusiveTask {
  readonly task: string;
  readonly id: string;
  /** `HOST:PORT` of the server that runs it. */
  readonly owner: string;
  readonly since: number;
  /** The task has ended by then, or its server was killed. */
  readonly until: number;
  /** The bucket that a killed server leaves behind, and the next task removes. */
  readonly leaves?: string;
}

interface ExclusiveTasksOptions {
  readonly records: RecordStore;
  readonly owner: () => string;
  readonly random: (size: number) => Buffer;
  readonly clock: () => number;
  /** The start of this process, where no other one uses the records: then an older task was killed. */
  readonly soleSince?: number | undefined;
}

const table = 'support-task';

/** Keeps two measurements from disturbing each other, on one server and on several. */
export class ExclusiveTasks {
  readonly #options: ExclusiveTasksOptions;

  constructor(options: ExclusiveTasksOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly ExclusiveTask[]> {
    const tasks: ExclusiveTask[] = [];
    for await (const item of this.#options.records.scan(within(table))) {
      if (item.kind === 'entry') tasks.push(decode(item.value, String(decodeKey(item.key)[1])));
    }
    return tasks;
  }

  /**
   * Begins a task. Resolves with the killed task whose place it takes, if there was one, and with a function that ends it. Throws `RequestError`
   * `XCofferRefused` while another server or another caller runs it.
   */
  async begin(
    task: string,
    maxMs: number,
    leaves?: string,
  ): Promise<{ readonly killed: ExclusiveTask | undefined; readonly end: () => Promise<void> }> {
    const { records, owner, random, clock, soleSince = -Infinity } = this.#options;
    const recordKey = key(table, task);
    const entry = await records.get(recordKey);
    const before = entry && decode(entry.value, task);
    const now = clock();
    if (before !== undefined && before.until > now && before.since >= soleSince) throw running(before);
    const id = random(8).toString('hex');
    const begun: ExclusiveTask = {
      task,
      id,
      owner: owner(),
      since: now,
      until: now + maxMs,
      ...(leaves !== undefined && { leaves }),
    };
    const expect = [
      entry === undefined
        ? { kind: 'absent' as const, key: recordKey }
        : { kind: 'revision' as const, key: recordKey, revision: entry.revision },
    ];
    const settled = await commitOnce(
      records,
      { expect, put: [{ key: recordKey, value: encodeRecord(begun) }] },
      random,
    );
    if (settled.kind === 'conflict') throw running(begun);
    const end = async () => {
      const present = await records.get(recordKey);
      if (present === undefined || decode(present.value, task).id !== id) return;
      const still = [{ kind: 'revision' as const, key: recordKey, revision: present.revision }];
      await commitOnce(records, { expect: still, delete: [recordKey] }, random);
    };
    return { killed: before, end };
  }
}

function running({ task, owner }: ExclusiveTask): RequestError {
  return adminError('XCofferRefused', `Another ${task} runs on ${owner}: wait until it has ended.`);
}

function decode(value: Buffer, task: string): ExclusiveTask {
  return decodeRecord(value, `the task ${task}`) as ExclusiveTask;
}
