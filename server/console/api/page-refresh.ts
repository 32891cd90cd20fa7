import type { IncomingHttpHeaders } from 'node:http';

/**
 * The reads that a page sends by itself: again and again while it is open, or with any page. They show the state of the service and of the
 * session. A caller that marks its own read as one of these hides no more than that from a search that leaves them out.
 */
const refreshed: ReadonlySet<string> = new Set([
  '/api/session',
  '/api/sign-in-options',
  '/api/transfers',
  '/api/status',
  '/api/health',
  '/api/metrics',
  '/api/usage-history',
  '/api/work',
  '/api/identity-providers',
  '/api/admin/coffer/scrub',
  '/api/admin/coffer/batch-jobs',
  '/api/admin/coffer/notifications',
  '/api/admin/coffer/kms/key/rotate',
  '/api/admin/kms/status',
  '/api/admin/list-remote-targets',
]);

/** Reports if an open page of the console repeats this read. Its header says so, and it must be one that pages repeat. */
export function isPageRefresh(method: string, path: string, headers: IncomingHttpHeaders): boolean {
  return (
    method === 'GET' && headers['x-coffer-refresh'] === '1' && refreshed.has(path.toLowerCase().replace(/\/$/, ''))
  );
}
