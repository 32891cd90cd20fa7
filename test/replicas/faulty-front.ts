import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with one request to an S3. */
export type WrongAnswer =
  /** Something else answers, such as the page of a proxy; the request is not done. */
  | {
      readonly kind: 'instead';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** It is done, and one bit of the answer's body, or of its ETag where it has no body, is another one. */
  | { readonly kind: 'flipped' }
  /** It is done, and the connection ends within the answer. */
  | { readonly kind: 'cut' }
  /** The connection ends before the request is done. */
  | { readonly kind: 'reset' }
  /** It is done, and the connection ends without an answer. */
  | { readonly kind: 'lost' };

export interface FaultyFront {
  readonly url: string;
  /** The next requests of the operation suffer these, one each. */
  fault(operation: string, answers: readonly WrongAnswer[]): void;
  /** The number of those that no request has suffered yet. */
  left(operation: string): number;
  close(): Promise<void>;
}

/** Returns the operation of S3, as far as the blobs of a Coffer need them. */
function operationOf({ method = '', url = '' }: IncomingMessage): string {
  const { searchParams } = new URL(url, 'http://front');
  if (searchParams.has('list-type')) return 'List';
  if (searchParams.has('uploads')) return method === 'GET' ? 'ListUploads' : 'Create';
  if (searchParams.has('uploadId')) return { PUT: 'Part', POST: 'Complete', DELETE: 'Abort' }[method] ?? method;
  return method;
}

/** Passes an answer on with a wrong bit, or without its end. */
async function damaged(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  { kind }: Extract<WrongAnswer, { kind: 'flipped' | 'cut' }>,
): Promise<void> {
  const body = Buffer.concat((await answer.toArray()) as Buffer[]);
  const headers = { ...answer.headers };
  const middle = body.length >> 1;
  if (kind === 'flipped' && body.length > 0) body.writeUInt8((body[middle] ?? 0) ^ 1, middle);
  else if (kind === 'flipped' && headers.etag !== undefined)
    headers.etag = headers.etag.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0'));
  outgoing.writeHead(answer.statusCode ?? 502, headers);
  if (kind === 'flipped') return void outgoing.end(body);
  outgoing.flushHeaders();
  outgoing.write(body.subarray(0, middle), () => outgoing.destroy());
}

/** Starts a program in front of the S3 at `url`, which passes requests on, and answers some in a wrong way. */
export async function startFaultyFront(url: string): Promise<FaultyFront> {
  const { hostname, port } = new URL(url);
  const faults = new Map<string, WrongAnswer[]>();
  const pass = (
    incoming: IncomingMessage,
    body: Buffer,
    answered: (answer: IncomingMessage) => void,
    fail: () => void,
  ) => {
    const { method, url: path, rawHeaders: headers } = incoming;
    request({ hostname, port, method, path, headers }, answered).on('error', fail).end(body);
  };
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const fault = faults.get(operationOf(incoming))?.shift();
    const body = Buffer.concat((await incoming.toArray()) as Buffer[]);
    const cut = () => void outgoing.destroy();
    if (fault?.kind === 'reset') return cut();
    if (fault?.kind === 'lost') return pass(incoming, body, (answer) => answer.on('end', cut).resume(), cut);
    if (fault?.kind === 'instead') {
      outgoing.writeHead(fault.status, fault.headers);
      outgoing.end(incoming.method === 'HEAD' ? '' : fault.body);
      return;
    }
    const whole = fault === undefined;
    const answered = whole ? undefined : (answer: IncomingMessage) => void damaged(answer, outgoing, fault).catch(cut);
    const piped = (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.on('error', cut).pipe(outgoing);
    };
    pass(incoming, body, answered ?? piped, cut);
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: (operation, answers) => void faults.set(operation, [...answers]),
    left: (operation) => faults.get(operation)?.length ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
