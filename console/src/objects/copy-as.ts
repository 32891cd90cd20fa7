import { t } from '../texts/texts.ts';

/** Forms of an object's address for other programs. */
interface CopyAs {
  readonly name: string;
  readonly text: string;
}

export function copyAs(bucket: string, key: string, endpoint: string | undefined): readonly CopyAs[] {
  const url = `s3://${bucket}/${key}`;
  const at = endpoint === undefined ? '' : ` --endpoint-url ${shellQuoted(endpoint)}`;
  return [
    { name: t.objectDetails.s3Address, text: url },
    { name: 'coffer cat', text: `coffer cat ${shellQuoted(`ALIAS/${bucket}/${key}`)}` },
    { name: 'aws s3 cp', text: `aws s3 cp${at} ${shellQuoted(url)} .` },
  ];
}

/** The command that uses a link. It fails where the server refuses. */
export function curlOf(url: string, method: 'GET' | 'PUT'): string {
  // A part of the URL in braces or brackets would be a pattern of several.
  return `curl -gf${method === 'PUT' ? 'T FILE' : 'OJ'} ${shellQuoted(url)}`;
}

/** Quotes a text for a POSIX shell, where it needs it. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
