import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { SelectFormat } from '../../s3/select-object.ts';

/** The flags of `sql` that describe the data: `NAME=VALUE,NAME=VALUE`. */
export interface FormatOptions {
  readonly csvInput?: string;
  readonly jsonInput?: string;
  readonly compression?: string;
  readonly csvOutput?: string;
  readonly csvOutputHeader?: string;
  readonly jsonOutput?: string;
}

/** The names of settings and their short forms. */
const csvNames = { fd: 'FieldDelimiter', qc: 'QuoteCharacter', qec: 'QuoteEscapeCharacter', rd: 'RecordDelimiter' };
const csvInputNames = { ...csvNames, cc: 'Comments', fh: 'FileHeaderInfo', qrd: 'AllowQuotedRecordDelimiter' };
const csvOutputNames = { ...csvNames, qf: 'QuoteFields' };
/** Names that other clients use for the settings of the request. */
const otherNames: Readonly<Record<string, string>> = {
  quotechar: 'QuoteCharacter',
  quoteescchar: 'QuoteEscapeCharacter',
  fileheader: 'FileHeaderInfo',
  quotedrecorddelimiter: 'AllowQuotedRecordDelimiter',
};

/**
 * Returns the format of an object: of the flags, or by the end of its key. Undefined if neither says it.
 *
 * @throws ProgramError BadArgument
 */
export function inputFormat(key: string, { csvInput, jsonInput }: FormatOptions): SelectFormat | undefined {
  if (csvInput !== undefined && jsonInput !== undefined) {
    throw new ProgramError('BadArgument', 'Use --csv-input or --json-input, not both');
  }
  if (key.endsWith('.parquet') && (csvInput || jsonInput)) {
    throw new ProgramError('BadArgument', 'An object of Parquet needs neither --csv-input nor --json-input');
  }
  if (csvInput) {
    return {
      format: 'CSV',
      settings: { RecordDelimiter: '\n', ...settingsOf('--csv-input', csvInput, csvInputNames) },
    };
  }
  if (jsonInput) return { format: 'JSON', settings: settingsOf('--json-input', jsonInput, { type: 'Type' }) };
  const extension = /\.[^./]*$/.exec(key.replace(/\.(gz|bz2)$/, ''))?.[0] ?? '';
  if (extension.includes('csv')) {
    return { format: 'CSV', settings: { FileHeaderInfo: 'USE', RecordDelimiter: '\n', FieldDelimiter: ',' } };
  }
  if (key.includes('.parquet')) return { format: 'Parquet', settings: {} };
  if (extension.includes('json')) return { format: 'JSON', settings: { Type: 'LINES' } };
  return undefined;
}

/** @throws ProgramError BadArgument */
export function outputFormat(options: FormatOptions, input: SelectFormat | undefined, json: boolean): SelectFormat {
  const { csvOutput, csvOutputHeader, jsonOutput } = options;
  if (csvOutput !== undefined && jsonOutput !== undefined) {
    throw new ProgramError('BadArgument', 'Use --csv-output or --json-output, not both');
  }
  if (jsonOutput !== undefined && csvOutputHeader !== undefined) {
    throw new ProgramError('BadArgument', '--csv-output-header is for CSV: leave out --json-output');
  }
  if (csvOutput !== undefined) {
    const settings = settingsOf('--csv-output', csvOutput, csvOutputNames);
    return { format: 'CSV', settings: { RecordDelimiter: '\n', FieldDelimiter: ',', ...settings } };
  }
  if (jsonOutput !== undefined || json || input?.format === 'JSON') {
    const settings = settingsOf('--json-output', jsonOutput ?? '', { rd: 'RecordDelimiter' });
    return { format: 'JSON', settings: { RecordDelimiter: '\n', ...settings } };
  }
  return { format: 'CSV', settings: { RecordDelimiter: '\n', FieldDelimiter: ',' } };
}

/** Returns the flag, or the compression that the end of the key names. */
export function compressionOf(key: string, { compression }: FormatOptions): string {
  if (compression) return compression;
  if (key.includes('.parquet')) return 'NONE';
  if (key.endsWith('.gz')) return 'GZIP';
  return key.endsWith('.bz2') ? 'BZIP2' : 'NONE';
}

/**
 * Parses `NAME=VALUE,NAME=VALUE`. A value may be a comma, and `\n`, `\t`, `\r` in it are escapes. Names may be short, and their case does
 * not matter.
 */
function settingsOf(flag: string, text: string, names: Readonly<Record<string, string>>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [, name = '', value = ''] of matchesOf(flag, text)) {
    const lower = name.trim().toLowerCase();
    const known = Object.values(names);
    const full = names[lower] ?? known.find((one) => one.toLowerCase() === lower || one === otherNames[lower]);
    if (full === undefined || !known.includes(full)) {
      const list = Object.entries(names).map(([short, long]) => `${long} (${short})`);
      throw new ProgramError('BadArgument', `Unknown setting \`${name}\` of ${flag}: there are ${list.join(', ')}`);
    }
    if (settings[full] !== undefined) throw new ProgramError('BadArgument', `${flag} has \`${name}\` twice`);
    settings[full] = value.replaceAll(/\\[ntr]/g, (escape) => escapes[escape] ?? escape);
  }
  return settings;
}

const escapes: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\r': '\r' };

function matchesOf(flag: string, text: string): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  // A comma ends a value unless it is the value.
  const setting = /([^=,]+)=(,|[^,]*)(?:,|$)/y;
  while (setting.lastIndex < text.length) {
    const match = setting.exec(text);
    if (match === null)
      throw new ProgramError('BadArgument', `Invalid ${flag} \`${text}\`: write NAME=VALUE,NAME=VALUE`);
    matches.push(match);
  }
  return matches;
}
