/** Forms of an object's address for other programs. */
export interface CopyAs {
  readonly name: string;
  readonly text: string;
}

export function copyAs(bucket: string, key: string, endpoint: string | undefined): readonly CopyAs[] {
  const url = `s3://${bucket}/${key}`;
  const at = endpoint === undefined ? '' : ` --endpoint-url ${shellQuoted(endpoint)}`;
  return [
    { name: 'S3 address', text: url },
    { name: 'coffer cat', text: `coffer cat ${shellQuoted(`ALIAS/${bucket}/${key}`)}` },
    { name: 'aws s3 cp', text: `aws s3 cp${at} ${shellQuoted(url)} .` },
  ];
}

/** Quotes a text for a POSIX shell, where it needs it. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
