import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AwsAnswer, AwsBucket, type AwsRequest, rejected } from './aws-bucket.ts';

export interface AwsDouble {
  readonly endpoint: string;
  readonly bucket: AwsBucket;
  /** `METHOD /path?query` of the requests so far. */
  readonly requests: readonly string[];
  /** Answers all requests with 503, as a server that is overloaded. */
  setAway(away: boolean): void;
  /** Refuses new versions. */
  refuseWrites(refuse: boolean): void;
  close(): Promise<void>;
}

/** The region of the bucket. Requests that are signed for another one are refused. */
export const awsRegion = 'eu-central-1';

/**
 * A strict double of AWS S3 with one bucket that keeps versions: it gives ids of its own, refuses a version id where a version is written,
 * names the region of the bucket, and ignores the headers of MinIO.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 */
export async function startAwsDouble({ objectLock = false } = {}): Promise<AwsDouble> {
  const bucket = new AwsBucket(objectLock);
  const requests: string[] = [];
  let isAway = false;
  let isClosed = false;
  const server = createServer((incoming, response) => {
    void (async () => {
      const request = await received(incoming);
      if (request === undefined) return;
      requests.push(`${request.method} ${incoming.url}`);
      const overloaded = rejected(503, 'SlowDown', 'Please reduce your request rate.');
      const closed = isClosed && request.method === 'PUT' ? rejected(403, 'AccessDenied', 'Access Denied') : undefined;
      answer(response, request, isAway ? overloaded : (closed ?? served(bucket, request)));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    requests,
    setAway: (away) => (isAway = away),
    refuseWrites: (refuse) => (isClosed = refuse),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function served(bucket: AwsBucket, request: AwsRequest): AwsAnswer {
  const region = /Credential=[^/]+\/\d{8}\/([^/]+)\/s3\/aws4_request/.exec(request.header('authorization') ?? '')?.[1];
  if (region === undefined) return rejected(403, 'AccessDenied', 'Access Denied');
  if (region !== awsRegion) {
    const text = `The authorization header is malformed; the region '${region}' is wrong; expecting '${awsRegion}'`;
    return rejected(400, 'AuthorizationHeaderMalformed', text, `<Region>${awsRegion}</Region>`);
  }
  return bucket.serve(request);
}

async function received(incoming: IncomingMessage): Promise<AwsRequest | undefined> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    return {
      method: incoming.method ?? '',
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      header: (name) => incoming.headers[name] as string | undefined,
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    };
  } catch {
    return undefined;
  }
}

function answer(
  response: ServerResponse,
  { method }: AwsRequest,
  { status, headers = {}, body = '' }: AwsAnswer,
): void {
  // S3 answers the length of an object to a HEAD too.
  const length = method === 'HEAD' && status === 200 && { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { server: 'AmazonS3', ...length, ...headers });
  response.end(method === 'HEAD' ? undefined : body);
}
