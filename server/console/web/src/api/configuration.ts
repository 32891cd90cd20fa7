import { readEditable } from '../../../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../../../protocol/s3/xml-reader.ts';
import { s3, unlessAbsent } from './s3.ts';

/** A configuration document of a bucket, whole, with the headers of the answer. */
interface Configuration {
  readonly root: XmlNode;
  readonly headers: Headers;
}

/**
 * Reads the document of a subresource, for example `lifecycle`. It is undefined if the bucket has none, which an error with the code
 * `absent` says. The reader is that of the server: the one of the browser refuses control characters, and shows a part of the document then.
 */
export async function configuration(
  bucket: string,
  subresource: string,
  absent?: string,
): Promise<Configuration | undefined> {
  const answer = await unlessAbsent(
    absent === undefined ? [] : [absent],
    s3('GET', bucket, { query: { [subresource]: '' } }),
  );
  return answer && { root: readEditable(await answer.text()), headers: answer.headers };
}

interface ConfigurationChange {
  /** Undefined removes the configuration. */
  readonly document: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function putConfiguration(
  bucket: string,
  subresource: string,
  { document, headers = {} }: ConfigurationChange,
): Promise<void> {
  const query = { [subresource]: '' };
  if (document === undefined) await s3('DELETE', bucket, { query });
  else await s3('PUT', bucket, { query, headers, body: document });
}
