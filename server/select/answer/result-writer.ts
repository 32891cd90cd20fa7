import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { maxRecord } from '../read/csv-reader.ts';
import type { SelectOutput } from '../select-request.ts';
import { jsonOfFields, textOf, type Value } from '../evaluate/values.ts';

/** Characters of the result that one message carries: some 128 KiB. */
const messageSize = 128 * 1_024;

/** Writes the records of a result, and gives them out in messages. */
export class ResultWriter {
  readonly #output: SelectOutput;
  #parts: string[] = [];
  #size = 0;

  constructor(output: SelectOutput) {
    this.#output = output;
  }

  /** @throws S3Error OverMaxRecordSize */
  write(names: readonly string[], values: readonly Value[]): void {
    const output = this.#output;
    const record =
      output.kind === 'csv'
        ? `${values.map((value) => this.#field(textOf(value), output)).join(output.fieldDelimiter)}${output.recordDelimiter}`
        : `${jsonOfFields(names, values)}${output.recordDelimiter}`;
    if (record.length > maxRecord + 2) throw new S3Error('OverMaxRecordSize');
    this.#parts.push(record);
    this.#size += record.length;
  }

  /** A message is full. */
  get isFull(): boolean {
    return this.#size >= messageSize;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Takes what was written. */
  take(): Buffer {
    const bytes = Buffer.from(this.#parts.join(''));
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }

  #field(text: string, output: Extract<SelectOutput, { kind: 'csv' }>): string {
    const { quote, escape, alwaysQuotes, fieldDelimiter, recordDelimiter } = output;
    if (quote === '') return text;
    const isNeeded =
      alwaysQuotes ||
      text.includes(quote) ||
      text.includes(fieldDelimiter) ||
      text.includes(recordDelimiter) ||
      text.includes('\n') ||
      text.includes('\r');
    if (!isNeeded) return text;
    const doubled = escape !== quote && escape !== '' ? text.replaceAll(escape, () => escape + escape) : text;
    return `${quote}${doubled.replaceAll(quote, () => (escape === '' ? quote : escape) + quote)}${quote}`;
  }
}
