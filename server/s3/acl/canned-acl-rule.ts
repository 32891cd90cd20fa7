import type { CannedAcl } from '../../../protocol/s3/acl.ts';

/** A canned ACL that a request asked for, and that nothing was made of. */
export interface IgnoredAcl {
  readonly bucket: string;
  readonly acl: CannedAcl;
  readonly userAgent: string | undefined;
}

/** The rule for canned ACLs of new objects and buckets where ACLs do not count. */
export type CannedAclRule =
  { readonly kind: 'refuse' } | { readonly kind: 'ignore'; report(this: void, ignored: IgnoredAcl): void };

export const ignoreCannedAcls: CannedAclRule = { kind: 'ignore', report: () => undefined };

/** The pairs of bucket and program that a thread remembers. The oldest makes room for a new one, which may then be reported again. */
const maxReported = 1_000;

/** Returns a rule that ignores canned ACLs, and calls `report` once for each bucket and program, in this thread. */
export function ignoreAndReportOnce(
  report: (ignored: IgnoredAcl & { readonly program: string }) => void,
): CannedAclRule {
  const reported = new Set<string>();
  return {
    kind: 'ignore',
    report(ignored) {
      const program = programOf(ignored.userAgent);
      const key = `${ignored.bucket}/${program}`;
      if (reported.has(key)) return;
      const [oldest] = reported;
      if (oldest !== undefined && reported.size >= maxReported) reported.delete(oldest);
      reported.add(key);
      report({ ...ignored, program });
    },
  };
}

/** Returns the first product of a User-Agent without its version: `aws-sdk-js` of `aws-sdk-js/3.654.0 ua/2.0 os/linux`. */
function programOf(userAgent: string | undefined): string {
  const [product = ''] = (userAgent ?? '').trim().split(/[/\s]/, 1);
  return product === '' ? 'unknown' : product.slice(0, 100);
}
