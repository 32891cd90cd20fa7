import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

/** What is looked at here of OTLP's JSON. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const exported: Export[] = [];
const paths = new Set<string | undefined>();
let text = '';
let collector: Server;
let server: RunningServer;
beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      paths.add(request.url);
      text += body;
      exported.push(JSON.parse(body) as Export);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  server = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_SERVICE_NAME: 'store',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
  await untilReady(server, 60_000);
});
afterAll(async () => {
  await server?.stop();
  collector.closeAllConnections();
  collector.close();
});

const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

/** A client whose calls are part of a trace. */
function tracingClient(flags: '00' | '01', traceId = caller.traceId) {
  const s3 = s3Client(server);
  s3.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers['traceparent'] = `00-${traceId}-${caller.spanId}-${flags}`;
      return next(args);
    },
    { step: 'build' },
  );
  return s3;
}

const spans = () =>
  exported.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
  );
const valuesOf = ({ attributes }: Pick<Span, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

it(
  'sends the traces of requests, and of what is done for them, as the standard variables say',
  { timeout: 720_000 },
  async () => {
    const s3 = tracingClient('01');
    await s3.send(new CreateBucketCommand({ Bucket: 'traced' }));
    await s3.send(new PutObjectCommand({ Bucket: 'traced', Key: 'large', Body: Buffer.alloc(300_000, 1) }));
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'traced', Key: 'large' }));
    await Body?.transformToByteArray();
    await refusal(s3.send(new GetObjectCommand({ Bucket: 'traced', Key: 'none' })));
    const unsampled = 'a'.repeat(32);
    await refusal(tracingClient('00', unsampled).send(new GetObjectCommand({ Bucket: 'traced', Key: 'none' })));
    const named = (name: string) => spans().filter((span) => span.name === name).length;
    await expect
      .poll(() => [named('S3.PutObject'), named('S3.GetObject'), named('blob.read')], { timeout: 180_000 })
      .toEqual([1, 2, 1]);
    await server.stop();

    expect([...paths]).toEqual(['/v1/traces']);
    const resource = exported[0]?.resourceSpans[0]?.resource;
    expect(resource && valuesOf(resource)).toMatchObject({ 'service.name': 'store' });

    const put = spans().find(({ name }) => name === 'S3.PutObject');
    expect(put).toMatchObject({ traceId: caller.traceId, parentSpanId: caller.spanId, kind: 2 });
    expect(put && valuesOf(put)).toMatchObject({
      'http.request.method': 'PUT',
      'url.path': '/traced/large',
      'url.scheme': 'http',
      'client.address': '127.0.0.1',
      'http.response.status_code': 200,
      'aws.s3.bucket': 'traced',
      'aws.s3.key': 'large',
    });
    const childrenOf = (span: Span | undefined) =>
      spans()
        .filter(({ parentSpanId }) => parentSpanId === span?.spanId)
        .map(({ name }) => name);
    expect(childrenOf(put).toSorted()).toEqual(expect.arrayContaining(['blob.write', 'records.commit']));
    const gets = spans().filter(({ name }) => name === 'S3.GetObject');
    expect(gets).toHaveLength(2);
    expect(gets.flatMap(childrenOf)).toEqual(['blob.read']);
    const rejected = gets.map(valuesOf).find((values) => values['http.response.status_code'] === 404);
    expect(rejected).toMatchObject({ 'error.type': 'NoSuchKey' });
    expect(spans().filter(({ traceId }) => traceId === unsampled)).toEqual([]);
    expect(text).not.toMatch(/Signature|root-password/);
  },
);
