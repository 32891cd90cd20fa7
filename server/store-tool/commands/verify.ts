import { counted } from '../../../platform/text/message-text.ts';
import { isLoss, type Issue } from '../../maintenance/verify/issue.ts';
import { compareStores } from '../../maintenance/verify/compare-stores.ts';
import { snapshotDifferences } from '../../maintenance/snapshot-files.ts';
import { verifyStores, type VerifyOptions, type VerifySummary } from '../../maintenance/verify/verify-stores.ts';
import { callServer, type ServerOptions } from '../admin-call.ts';
import { openNamedStores, type OpenedStores } from '../open-stores.ts';
import { type Io, Report, size } from '../report.ts';

export interface VerifyArguments extends Partial<ServerOptions> {
  readonly records?: string;
  readonly blobs?: string;
  /** Checks only that bodies exist with their sizes. */
  readonly quick?: boolean;
  /** The grace period of blobs without an owner, in seconds. */
  readonly grace?: number;
  readonly json?: boolean;
}

/** Returns 0 without issues, and 1 with issues. */
export async function verifyCommand(store: string | undefined, options: VerifyArguments, io: Io): Promise<number> {
  const report = new Report(io, { json: options.json === true });
  const { server } = options;
  if (server !== undefined) return verifyServer({ ...options, server }, io, report);
  const { records: recordsUrl, blobs: blobsUrl } = options;
  const stores = await openNamedStores(
    store,
    io.env,
    { ...(recordsUrl !== undefined && { records: recordsUrl }), ...(blobsUrl !== undefined && { blobs: blobsUrl }) },
    { reads: true, readOnlyWillDo: true },
  );
  try {
    const { records, blobs } = stores;
    const verification = verifyOpened(stores, {
      records,
      blobs,
      now: Date.now(),
      bodies: options.quick !== true,
      ...(options.grace !== undefined && { graceMs: options.grace * 1_000 }),
      signal: io.signal,
      onProgress: ({ objects, bytes }) => report.progress({ what: 'verified', objects, bytes }),
    });
    const { summary, losses, unread } = await reported(verification, report);
    return conclude(report, stores.description, summary, losses, unread);
  } finally {
    report.wipe();
    await stores.close();
  }
}

/** Verifies stores, and compares them with each other and with what a snapshot says about itself. */
export async function* verifyOpened(
  stores: OpenedStores,
  options: VerifyOptions,
): AsyncGenerator<Issue, VerifySummary> {
  let findings = 0;
  for await (const issue of compareOpened(stores)) {
    findings += 1;
    yield issue;
  }
  const summary = yield* verifyStores(options);
  return { ...summary, findings: summary.findings + findings };
}

/** Yields why the parts of a store do not belong together. */
export async function* compareOpened(stores: OpenedStores): AsyncGenerator<Issue> {
  yield* compareStores(stores);
  const [folder] = stores.places.dataFolders;
  for (const difference of (folder && (await snapshotDifferences(folder))) ?? []) {
    yield { kind: 'mismatched-stores', message: `the snapshot is not as it was taken: ${difference}` };
  }
}

/** Reports each issue as it arrives. */
export async function reported(
  verification: AsyncGenerator<Issue, VerifySummary>,
  report: Report,
): Promise<{ readonly summary: VerifySummary; readonly losses: number; readonly unread: number }> {
  let losses = 0;
  let unread = 0;
  for (;;) {
    const { done, value } = await verification.next();
    if (done === true) return { summary: value, losses, unread };
    if (isLoss(value)) losses += 1;
    if (value.kind === 'unreadable-body') unread += 1;
    report.issue(value);
  }
}

async function verifyServer(options: VerifyArguments & ServerOptions, io: Io, report: Report): Promise<number> {
  const query = { bodies: String(options.quick !== true) };
  report.note('The server verifies its stores; this takes as long as reading them does.');
  const answer = await callServer(options, io.env, { method: 'POST', path: 'verify', query }, io.signal);
  const { findings, summary } = answer as { readonly findings: readonly Issue[]; readonly summary: VerifySummary };
  for (const issue of findings) report.issue(issue);
  const unread = findings.filter(({ kind }) => kind === 'unreadable-body').length;
  return conclude(report, options.server, summary, findings.filter((issue) => isLoss(issue)).length, unread);
}

/** Returns the verdict where a record that is gone would leave no trace. */
function untold(reason = 'these records have no counts'): string {
  return `what the records name is there; whether records are missing cannot be told, since ${reason}`;
}

export function conclude(
  report: Report,
  where: string,
  summary: VerifySummary,
  losses: number,
  /** Bodies that could not be read. */
  unread = 0,
): number {
  const { objects, versions, uploads, blobs, bytes, findings: issues } = summary;
  const noncurrent = counted(versions, 'noncurrent version or delete marker', 'noncurrent versions and delete markers');
  const looked = [
    counted(objects, 'object'),
    ...(versions > 0 ? [noncurrent] : []),
    counted(uploads, 'upload'),
    counted(blobs, 'blob'),
    `${size(bytes)} read`,
  ].join(', ');
  const lost = counted(
    losses,
    'of them means that data is lost: restore it from a backup',
    'of them mean that data is lost: restore it from a backup',
  );
  // The server of before has no such field.
  const found = summary.counted ? 'no data is lost' : untold(summary.uncounted);
  const unreadable = `${counted(unread, 'body', 'bodies')} could not be read: make them readable, and verify again`;
  const clean = summary.counted ? 'nothing is wrong' : untold(summary.uncounted);
  const verdict =
    issues === 0
      ? clean
      : `${counted(issues, 'finding')}, ${losses === 0 ? (unread === 0 ? found : unreadable) : lost}`;
  report.line(`${where}: ${looked}: ${verdict}`, { type: 'summary', ...summary, losses });
  return issues === 0 ? 0 : 1;
}
