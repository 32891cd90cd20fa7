import type { LineServer, Reply } from './client-side.ts';

/** Values that differ from run to run, whatever their text is. */
const volatileFields = new Set([
  // How far a copy is when it is announced.
  'totalCount',
  'totalSize',
  'src',
  'avgObjectsPerSec',
  'average',
  'avgSpeed',
  'duration',
  'elapsed',
  'max',
  'min',
  'roundtrip',
  'speed',
  'time',
  'timeLeft',
  'uptime',
  'pid',
  'RequestId',
  'RequestID',
  'HostId',
  'HostID',
  'requestId',
  'hostId',
  'deploymentID',
  'sqsArn',
]);

/** The documents of JSON that a client printed, without warnings, which mc prints on standard error alone, and without what differs from run to run, in an order that does not depend on time. */
export function comparable(
  reply: Reply,
  side: { readonly server: LineServer; readonly folder: string },
): readonly unknown[] {
  const mask = (text: string) => masked(text, side);
  return documentsOf(reply.stdout)
    .filter((document) => !isWarning(document))
    .map((document) => plain(JSON.parse(document), '', mask))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The text of a reply that is no JSON, such as that of `cat`, without warnings. */
export function plainText(reply: Reply, side: { readonly server: LineServer; readonly folder: string }): string {
  const lines = reply.stdout.split('\n').filter((line) => !isWarning(line));
  return masked(lines.join('\n'), side).trim();
}

/** Reports whether a document is a warning of `coffer --json`. Stock mc prints warnings on standard error. */
function isWarning(document: string): boolean {
  return document.startsWith('{"status":"warning"');
}

/** Documents follow each other, on one line each or on several. */
export function documentsOf(output: string): string[] {
  const documents: string[] = [];
  let [depth, begin, quoted] = [0, 0, false];
  for (let index = 0; index < output.length; index += 1) {
    const character = output[index];
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = depth > 0;
    else if (character === '{') {
      if (depth === 0) begin = index;
      depth += 1;
    } else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) documents.push(output.slice(begin, index + 1));
    }
  }
  return documents.filter((document) => isJson(document));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function plain(value: unknown, name: string, mask: (text: string) => string): unknown {
  if (volatileFields.has(name)) return '<volatile>';
  if (typeof value === 'string' && /^versionid$/i.test(name) && !['', 'null'].includes(value)) return '<version>';
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(item, name, mask));
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  // MinIO may list a bucket that is being removed with the zero time.
  const isFolder = 'type' in value && value.type === 'folder';
  const fields = Object.entries(value).map(([field, part]) => {
    const time = isFolder && field === 'lastModified';
    return [field, time ? '<time>' : plain(part, field, mask)] as const;
  });
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function masked(text: string, { server, folder }: { readonly server: LineServer; readonly folder: string }): string {
  const { host } = new URL(server.url);
  // The fields of a form come in the order of a hash map.
  const fields = text.startsWith('curl ') ? text.split(' -F ').toSorted().join(' -F ') : text;
  return fields
    .replaceAll(folder, '<folder>')
    .replaceAll(folder.replace(/^\//, ''), '<folder>')
    .replaceAll(host, '<host>')
    .replaceAll(host.replace(':', '%3A'), '<host>')
    .replaceAll(
      /(?<!0001-01-01T00:00:00.{0,0})\b(?!0001|1970)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d\d:?\d\d)?( UTC)?/g,
      '<time>',
    )
    .replaceAll(/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, '<time>')
    .replaceAll(/\b\d{8}T\d{6}Z(?!0)/g, '<time>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/(x-amz-signature=)[0-9a-f]{64}/gi, '$1<signature>')
    .replaceAll(/policy=[\w+/=]{40,}/g, 'policy=<policy>')
    .replaceAll(/X-Amz-Date=[^&"]*/g, 'X-Amz-Date=<time>')
    .replaceAll(/versionId=(?!null)[\w.-]+/g, 'versionId=<version>')
    .replaceAll(/\/\d{8}\//g, '/<day>/')
    .replaceAll(/%2F\d{8}%2F/g, '/<day>/')
    .replaceAll(/\b[0-9a-v]{20}\b/g, '<id>');
}
