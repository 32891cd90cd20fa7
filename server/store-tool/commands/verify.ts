import { counted } from '../../../platform/message-text.ts';
import { isLoss, type Issue } from '../../maintenance/verify/issue.ts';
import { verifyStores, type VerifySummary } from '../../maintenance/verify/verify-stores.ts';
import { callServer, type ServerOptions } from '../admin-call.ts';
import { openNamedStores } from '../open-stores.ts';
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
    { readOnlyWillDo: true },
  );
  try {
    const { records, blobs } = stores;
    const verification = verifyStores({
      records,
      blobs,
      now: Date.now(),
      bodies: options.quick !== true,
      ...(options.grace !== undefined && { graceMs: options.grace * 1_000 }),
      signal: io.signal,
      onProgress: ({ objects, bytes }) => report.progress({ what: 'verified', objects, bytes }),
    });
    const { summary, losses } = await reported(verification, report);
    return conclude(report, stores.description, summary, losses);
  } finally {
    report.wipe();
    await stores.close();
  }
}

/** Reports each issue as it arrives. */
export async function reported(
  verification: AsyncGenerator<Issue, VerifySummary>,
  report: Report,
): Promise<{ readonly summary: VerifySummary; readonly losses: number }> {
  let losses = 0;
  for (;;) {
    const { done, value } = await verification.next();
    if (done === true) return { summary: value, losses };
    if (isLoss(value)) losses += 1;
    report.issue(value);
  }
}

async function verifyServer(options: VerifyArguments & ServerOptions, io: Io, report: Report): Promise<number> {
  const query = { bodies: String(options.quick !== true) };
  report.note('The server verifies its stores; this takes as long as reading them does.');
  const answer = await callServer(options, io.env, { method: 'POST', path: 'verify', query }, io.signal);
  const { findings, summary } = answer as { readonly findings: readonly Issue[]; readonly summary: VerifySummary };
  for (const issue of findings) report.issue(issue);
  return conclude(report, options.server, summary, findings.filter((issue) => isLoss(issue)).length);
}

/** The verdict where a record that is gone would leave no trace. */
const untold =
  'what the records name is there; whether records are missing cannot be told, since these records have no counts';

export function conclude(report: Report, where: string, summary: VerifySummary, losses: number): number {
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
  const clean = summary.counted === true ? 'nothing is wrong' : untold;
  const verdict = issues === 0 ? clean : `${counted(issues, 'finding')}, ${losses === 0 ? 'no data is lost' : lost}`;
  report.line(`${where}: ${looked}: ${verdict}`, { type: 'summary', ...summary, losses });
  return issues === 0 ? 0 : 1;
}
