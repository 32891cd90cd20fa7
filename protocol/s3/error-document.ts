import type { S3Error } from './s3-error.ts';
import { readXml } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** The XML answer of an error. */
export function writeErrorDocument(
  error: S3Error,
  request: { readonly resource: string; readonly requestId: string; readonly hostId?: string },
): string {
  return xmlDocument(
    'Error',
    [
      element('Code', error.wireCode),
      element('Message', error.message),
      ...Object.entries(error.details).map(([name, value]) => element(name, value)),
      element('Resource', request.resource),
      element('RequestId', request.requestId),
      request.hostId === undefined ? undefined : element('HostId', request.hostId),
    ],
    '',
  );
}

/** What an error answer says, whatever server sent it. */
export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  /** All elements by name, Code and Message included. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Undefined when the body is no error document: proxies answer with pages of their own. */
export function readErrorDocument(body: string | Buffer): ErrorDocument | undefined {
  try {
    const root = readXml(body, { maxBytes: 65_536 });
    // STS puts the error into another element.
    const error = root.name === 'ErrorResponse' ? root.children.find(({ name }) => name === 'Error') : root;
    if (error?.name !== 'Error') return undefined;
    const fields = Object.fromEntries(error.children.map(({ name, text }) => [name, text]));
    return { code: fields['Code'] ?? '', message: fields['Message'] ?? '', fields };
  } catch {
    return undefined;
  }
}
