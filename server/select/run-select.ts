import { S3Error } from '../../protocol/s3/s3-error.ts';
import {
  continuationMessage,
  endMessage,
  errorMessage,
  progressMessage,
  recordsMessage,
  type SelectCounts,
  statsMessage,
} from './answer/event-stream.ts';
import { ResultWriter } from './answer/result-writer.ts';
import { columnsRead, QueryEvaluator } from './evaluate/query-evaluator.ts';
import type { ByteSource } from './read/byte-source.ts';
import type { QueryBudget } from './query-budget.ts';
import { readRecords } from './read/records.ts';
import type { SelectRequest } from './select-request.ts';
import { parseQuery } from './sql/parse-query.ts';

/** Milliseconds without a message after which one is sent. */
const keepAliveMs = 1_000;
/** Records between two looks at the clock. */
const recordsPerLook = 256;

/** The times of a query: at its start, and milliseconds since then. */
interface QueryClock {
  readonly now: Date;
  readonly elapsed: () => number;
  readonly processorMs: () => number;
}

/**
 * Runs a query, and yields the messages of its answer at the pace of the consumer. Memory does not depend on the size of the source.
 *
 * @throws S3Error before the first message; a later one ends the stream as a message. What `source` throws is not caught.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_SelectObjectContent.html
 */
export async function* runSelect(
  request: SelectRequest,
  source: ByteSource,
  clock: QueryClock,
  budget: QueryBudget,
): AsyncGenerator<Buffer> {
  const counts: SelectCounts = { scanned: 0, processed: 0, returned: 0 };
  let began = false;
  try {
    for await (const message of resultMessages(request, source, counts, clock, budget)) {
      began = true;
      yield message;
    }
    yield statsMessage(counts);
    yield endMessage();
  } catch (error) {
    const refusal = refusalOf(error);
    if (!began || refusal === undefined) throw refusal ?? error;
    yield errorMessage(refusal.wireCode, refusal.message);
  }
}

/** What has no room on the stack or in a text of Node is a RangeError. */
function refusalOf(error: unknown): S3Error | undefined {
  if (error instanceof S3Error) return error;
  return error instanceof RangeError
    ? new S3Error('OverMaxRecordSize', 'A record is nested too deeply or is too large.')
    : undefined;
}

async function* resultMessages(
  request: SelectRequest,
  source: ByteSource,
  counts: SelectCounts,
  clock: QueryClock,
  budget: QueryBudget,
): AsyncGenerator<Buffer> {
  const query = parseQuery(request.expression);
  const evaluator = new QueryEvaluator(query, { untyped: request.input.kind === 'csv', now: clock.now });
  const writer = new ResultWriter(request.output);
  const reading = readRecords(
    request,
    { path: query.from.path, columns: columnsRead(query) },
    counted(source, counts),
    counts,
    budget.decompressedBytes,
  );
  let last = clock.elapsed();
  let seen = 0;
  try {
    while (!evaluator.isDone) {
      requireWithin(budget, clock);
      const batch = await reading.next();
      if (batch.done === true) break;
      for (const record of batch.value) {
        evaluator.add(record, writer);
        if (writer.isFull) {
          yield taken(writer, counts);
          last = clock.elapsed();
        }
        seen += 1;
        if (evaluator.isDone) break;
        if (seen % recordsPerLook !== 0) continue;
        requireWithin(budget, clock);
        if (clock.elapsed() - last < keepAliveMs) continue;
        yield request.progress ? progressMessage(counts) : continuationMessage();
        last = clock.elapsed();
      }
      if (clock.elapsed() - last >= keepAliveMs) {
        yield request.progress ? progressMessage(counts) : continuationMessage();
        last = clock.elapsed();
      }
    }
  } finally {
    await reading.return(undefined);
  }
  evaluator.end(writer);
  if (!writer.isEmpty) yield taken(writer, counts);
  if (request.progress) yield progressMessage(counts);
}

function requireWithin({ processorMs }: QueryBudget, clock: QueryClock): void {
  if (clock.processorMs() <= processorMs) return;
  throw new S3Error(
    'OverMaxProcessorTime',
    `The query used ${processorMs / 1_000} s of processor time, which is as much as it may (SVC_API_SELECT_PROCESSOR_TIME). Select fewer columns, a ScanRange or a smaller object.`,
  );
}

function taken(writer: ResultWriter, counts: SelectCounts): Buffer {
  const payload = writer.take();
  counts.returned += payload.length;
  return recordsMessage(payload);
}

function counted(source: ByteSource, counts: SelectCounts): ByteSource {
  return {
    size: source.size,
    async *open(start, end) {
      for await (const chunk of source.open(start, end)) {
        counts.scanned += chunk.length;
        yield chunk;
      }
    },
  };
}
